! The procedures of the module effort, except those on weights.
module effort_calls
  use, intrinsic :: iso_c_binding
#ifdef EFFORT_HAVE_MPI
  use mpi_f08, only: MPI_Comm
#endif
  use effort_types
  use effort_c_api
  implicit none
  private

  !> A configuration: create it with effort_config_new, pass it to effort_init, and free it.
  type, public :: effort_config
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  public :: effort_init, effort_finalize, effort_config_new, effort_config_set, effort_config_free
  public :: effort_region, effort_begin, effort_end, effort_add, effort_phase
  public :: effort_work_unit, effort_work, effort_metric_define, effort_metric
  public :: effort_progress_step, progress_step
  public :: effort_on_rebalance, effort_rebalance_begin, effort_rebalance_end, effort_hint_latest, effort_snapshot
  public :: effort_on_sampling, effort_sampled
  public :: effort_status_string, effort_last_error, effort_version, effort_string

  !> Without a communicator: one process.  With one, integer (use mpi, mpif.h) or type(MPI_Comm): its ranks.
  interface effort_init
    module procedure init_integer
#ifdef EFFORT_HAVE_MPI
    module procedure init_f08
#endif
  end interface
  interface effort_begin
    module procedure begin_id, begin_name
  end interface
  interface effort_end
    module procedure end_id, end_name
  end interface
  interface progress_step
    module procedure effort_progress_step
  end interface

contains

  !> Without `comm`: one process.  With it (use mpi, mpif.h): collective over its ranks.
  subroutine init_integer(comm, config, ierr)
    integer, intent(in), optional :: comm
    type(effort_config), intent(in), optional :: config
    integer, intent(out), optional :: ierr
    if (.not. present(comm)) then
      call set_ierr(c_init(handle_of(config)), ierr)
    else
#ifdef EFFORT_HAVE_MPI
      call set_ierr(c_init_mpi(int(comm, c_int), handle_of(config)), ierr)
#else
      call refuse(EFFORT_ERR_UNSUPPORTED, 'effort_init: the Fortran module was built without MPI: leave the '// &
                  'communicator out, or build with EFFORT_ENABLE_MPI', ierr)
#endif
    end if
  end subroutine

#ifdef EFFORT_HAVE_MPI
  subroutine init_f08(comm, config, ierr)
    type(MPI_Comm), intent(in) :: comm
    type(effort_config), intent(in), optional :: config
    integer, intent(out), optional :: ierr
    call set_ierr(c_init_mpi(int(comm%MPI_VAL, c_int), handle_of(config)), ierr)
  end subroutine
#endif

  function handle_of(config) result(handle)
    type(effort_config), intent(in), optional :: config
    type(c_ptr) :: handle
    handle = c_null_ptr
    if (present(config)) handle = config%handle
  end function

  subroutine effort_finalize(ierr)
    integer, intent(out), optional :: ierr
    call set_ierr(c_finalize(), ierr)
  end subroutine

  subroutine effort_config_new(config, ierr)
    type(effort_config), intent(out) :: config
    integer, intent(out), optional :: ierr
    call set_ierr(c_config_new(config%handle), ierr)
  end subroutine

  subroutine effort_config_set(config, key, value, ierr)
    type(effort_config), intent(in) :: config
    character(*), intent(in) :: key, value
    integer, intent(out), optional :: ierr
    call set_ierr(c_config_set(config%handle, c_text(key), c_text(value)), ierr)
  end subroutine

  subroutine effort_config_free(config, ierr)
    type(effort_config), intent(inout) :: config
    integer, intent(out), optional :: ierr
    call set_ierr(c_config_free(config%handle), ierr)
    config%handle = c_null_ptr
  end subroutine

  subroutine effort_region(name, kind, id, ierr)
    character(*), intent(in) :: name
    type(effort_kind), intent(in) :: kind
    integer(effort_region_id), intent(out) :: id
    integer, intent(out), optional :: ierr
    call set_ierr(c_region(c_text(name), kind%value, id), ierr)
  end subroutine

  subroutine begin_id(id, ierr)
    integer(effort_region_id), intent(in) :: id
    integer, intent(out), optional :: ierr
    integer(c_int) :: status
    status = c_begin(id)
    if (present(ierr)) ierr = int(status)
  end subroutine

  !> By name: costs a look-up each time, some 50 ns more than by id.  Without `kind`, a known region keeps its kind and
  !> a new one is EFFORT_COMPUTE.  If the region is known with another kind than `kind`, it is begun all the same, and
  !> the conflict is reported.
  subroutine begin_name(name, kind, ierr)
    character(*), intent(in) :: name
    type(effort_kind), intent(in), optional :: kind
    integer, intent(out), optional :: ierr
    integer(effort_region_id) :: id
    integer(c_int) :: registered, begun
    if (present(kind)) then
      registered = c_region(c_text(name), kind%value, id)
    else
      registered = c_region_find(c_text(name), id)
      if (id < 1) registered = c_region(c_text(name), EFFORT_COMPUTE%value, id)
    end if
    begun = EFFORT_OK
    if (id > 0) begun = c_begin(id)
    call set_ierr(merge(registered, begun, registered /= EFFORT_OK), ierr)
  end subroutine

  subroutine end_id(id, ierr)
    integer(effort_region_id), intent(in) :: id
    integer, intent(out), optional :: ierr
    integer(c_int) :: status
    status = c_end(id)
    if (present(ierr)) ierr = int(status)
  end subroutine

  subroutine end_name(name, ierr)
    character(*), intent(in) :: name
    integer, intent(out), optional :: ierr
    integer(effort_region_id) :: id
    integer(c_int) :: status
    status = c_region_find(c_text(name), id)
    if (id > 0) status = c_end(id)
    call set_ierr(status, ierr)
  end subroutine

  subroutine effort_add(id, seconds, ierr)
    integer(effort_region_id), intent(in) :: id
    real(c_double), intent(in) :: seconds
    integer, intent(out), optional :: ierr
    call set_ierr(c_add(id, seconds), ierr)
  end subroutine

  subroutine effort_phase(name, ierr)
    character(*), intent(in) :: name
    integer, intent(out), optional :: ierr
    call set_ierr(c_phase(c_text(name)), ierr)
  end subroutine

  subroutine effort_work_unit(name, id, ierr)
    character(*), intent(in) :: name
    integer(effort_work_id), intent(out) :: id
    integer, intent(out), optional :: ierr
    call set_ierr(c_work_unit(c_text(name), id), ierr)
  end subroutine

  subroutine effort_work(id, amount, ierr)
    integer(effort_work_id), intent(in) :: id
    real(c_double), intent(in) :: amount
    integer, intent(out), optional :: ierr
    call set_ierr(c_work(id, amount), ierr)
  end subroutine

  subroutine effort_metric_define(name, unit, id, ierr)
    character(*), intent(in) :: name, unit
    integer(effort_metric_id), intent(out) :: id
    integer, intent(out), optional :: ierr
    call set_ierr(c_metric_define(c_text(name), c_text(unit), id), ierr)
  end subroutine

  subroutine effort_metric(id, value, ierr)
    integer(effort_metric_id), intent(in) :: id
    real(c_double), intent(in) :: value
    integer, intent(out), optional :: ierr
    call set_ierr(c_metric(id, value), ierr)
  end subroutine

  subroutine effort_progress_step(ierr)
    integer, intent(out), optional :: ierr
    integer(c_int) :: status
    status = c_progress_step()
    if (present(ierr)) ierr = int(status)
  end subroutine

  !> `user` is passed to the callback unchanged (c_loc of an object that lives long enough, or c_null_ptr).
  subroutine effort_on_rebalance(fn, user, ierr)
    procedure(effort_rebalance_fn) :: fn
    type(c_ptr), intent(in), optional :: user
    integer, intent(out), optional :: ierr
    type(c_ptr) :: u
    u = c_null_ptr
    if (present(user)) u = user
    call set_ierr(c_on_rebalance(c_funloc(fn), u), ierr)
  end subroutine

  !> Before the first progress step.  `user` as in effort_on_rebalance.
  subroutine effort_on_sampling(fn, user, ierr)
    procedure(effort_sampling_fn) :: fn
    type(c_ptr), intent(in), optional :: user
    integer, intent(out), optional :: ierr
    type(c_ptr) :: u
    u = c_null_ptr
    if (present(user)) u = user
    call set_ierr(c_on_sampling(c_funloc(fn), u), ierr)
  end subroutine

  !> Whether this rank is in the sample of the current step.
  logical function effort_sampled()
    effort_sampled = c_sampled() /= 0
  end function

  subroutine effort_rebalance_begin(ierr)
    integer, intent(out), optional :: ierr
    call set_ierr(c_rebalance_begin(), ierr)
  end subroutine

  subroutine effort_rebalance_end(ierr)
    integer, intent(out), optional :: ierr
    call set_ierr(c_rebalance_end(), ierr)
  end subroutine

  subroutine effort_hint_latest(hint, ierr)
    type(effort_hint), intent(inout) :: hint
    integer, intent(out), optional :: ierr
    call set_ierr(c_hint_copy(hint, c_sizeof(hint)), ierr)
  end subroutine

  !> Without `path`: a new file in SNAPSHOT_DIR.
  subroutine effort_snapshot(path, ierr)
    character(*), intent(in), optional :: path
    integer, intent(out), optional :: ierr
    character(kind=c_char, len=:), allocatable, target :: text
    if (present(path)) then
      text = c_text(path)
      call set_ierr(c_snapshot(c_loc(text)), ierr)
    else
      call set_ierr(c_snapshot(c_null_ptr), ierr)
    end if
  end subroutine

  function effort_status_string(status) result(text)
    integer, intent(in) :: status
    character(:), allocatable :: text
    text = effort_string(c_status_string(int(status, c_int)))
  end function

  function effort_last_error() result(text)
    character(:), allocatable :: text
    text = effort_string(c_last_error())
  end function

  integer function effort_version()
    effort_version = int(c_version())
  end function
end module effort_calls
