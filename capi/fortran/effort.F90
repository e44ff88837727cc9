! effort for Fortran: the names of the C API as generic procedures.
!
!   use effort
!   call effort_init(MPI_COMM_WORLD)                 ! integer or type(MPI_Comm); without argument: one process
!   call effort_region('solve', EFFORT_COMPUTE, id)
!   call effort_begin(id);  call effort_end(id)      ! or by name: effort_begin('halo', EFFORT_COMM)
!   call progress_step()
!   call effort_finalize()
!
! Every procedure takes ierr= by keyword; without it an error is only recorded (effort_last_error). Nothing stops the
! program.  Costs and thread rules are those of effort.h.
module effort
  use, intrinsic :: iso_c_binding
#ifdef EFFORT_HAVE_MPI
  use mpi_f08, only: MPI_Comm
#endif
  implicit none
  private

  integer, parameter, public :: effort_region_id = c_int32_t
  integer, parameter, public :: effort_work_id = c_int32_t
  integer, parameter, public :: effort_metric_id = c_int32_t

  ! A separate type, so that no other value is accepted as a kind.
  type, public, bind(C) :: effort_kind
    integer(c_int) :: value
  end type
  type(effort_kind), parameter, public :: EFFORT_COMPUTE = effort_kind(0), EFFORT_COMM = effort_kind(1), &
                                          EFFORT_WAIT = effort_kind(2), EFFORT_IO = effort_kind(3)

  integer(c_int), parameter, public :: EFFORT_OK = 0, EFFORT_ERR_INVALID_ARGUMENT = -1, &
    EFFORT_ERR_NOT_INITIALIZED = -2, EFFORT_ERR_ALREADY_INITIALIZED = -3, EFFORT_ERR_UNKNOWN_ID = -4, &
    EFFORT_ERR_NESTING = -5, EFFORT_ERR_LIMIT = -6, EFFORT_ERR_CONFLICT = -7, EFFORT_ERR_CONFIG = -8, &
    EFFORT_ERR_MPI = -9, EFFORT_ERR_MEMORY = -10, EFFORT_ERR_IO = -11, EFFORT_ERR_UNSUPPORTED = -12, &
    EFFORT_ERR_CALLBACK = -13, EFFORT_ERR_INTERNAL = -14, EFFORT_ERR_SWITCHED_OFF = -15, EFFORT_ERR_STATE = -16, &
    EFFORT_ERR_NO_HINT = -17

  integer(c_int), parameter, public :: EFFORT_ADVICE_STALE = 1, EFFORT_ADVICE_TREND = 2, EFFORT_ADVICE_JUMP = 4, &
    EFFORT_ADVICE_SLOW_NODE = 8, EFFORT_ADVICE_PERIODIC = 16, EFFORT_ADVICE_BALANCED = 32, &
    EFFORT_ADVICE_UNMARKED_COMM = 64, EFFORT_ADVICE_NO_PRICE = 128, EFFORT_ADVICE_TOO_EXPENSIVE = 256, &
    EFFORT_ADVICE_COLLINEAR_UNITS = 512, EFFORT_ADVICE_TRUNCATED = 1024, EFFORT_ADVICE_TRIAL = 2048

  ! The C struct of effort.h, component by component; arrays by c_f_pointer(hint%load, load, [hint%n_ranks]).
  type, public, bind(C) :: effort_hint
    integer(c_size_t) :: struct_size
    integer(c_int64_t) :: step
    integer(c_int64_t) :: window_first, window_last
    integer(c_int32_t) :: rank, n_ranks
    type(c_ptr) :: load                 ! real(c_double) (n_ranks)
    type(c_ptr) :: predicted            ! real(c_double) (n_ranks)
    integer(c_int32_t) :: n_regions
    type(c_ptr) :: region_name          ! type(c_ptr) (n_regions), each a C string: see effort_string
    type(c_ptr) :: region_load          ! real(c_double) (n_regions)
    type(c_ptr) :: stratum_region_load  ! real(c_double) (n_regions, n_strata)
    type(c_ptr) :: stratum              ! integer(c_int32_t) (n_ranks), from 0
    integer(c_int32_t) :: n_strata
    type(c_ptr) :: medoid_rank          ! integer(c_int32_t) (n_strata), from 0
    real(c_double) :: imbalance
    real(c_double) :: gain_per_step
    real(c_double) :: rebalance_cost
    integer(c_int32_t) :: rebalance
    integer(c_int32_t) :: advice
    integer(c_int32_t) :: n_units
    type(c_ptr) :: unit_name            ! type(c_ptr) (n_units)
    type(c_ptr) :: unit_cost            ! real(c_double) (n_units)
    type(c_ptr) :: unit_cost_error      ! real(c_double) (n_units)
    integer(c_int32_t) :: worst_region
    real(c_double) :: worst_region_share
    real(c_double) :: load_balance
    real(c_double) :: prediction_error
    real(c_double) :: parallel_efficiency, communication_efficiency, transfer_efficiency  ! < 0: not known
    real(c_double) :: ideal_saving
    real(c_double) :: expected_saving
    type(c_ptr) :: speed                ! real(c_double) (n_ranks)
  end type

  abstract interface
    !> The application's rebalancer returns 1 if it rebalanced now, 0 if not, < 0 if it failed.
    integer(c_int) function effort_rebalance_fn(hint, user) bind(C)
      import :: effort_hint, c_ptr, c_int
      type(effort_hint), intent(in) :: hint
      type(c_ptr), value :: user
    end function
  end interface
  public :: effort_rebalance_fn

  !> Called on a rank that enters (sampled = 1) or leaves (0) the sample; see effort_on_sampling in effort.h.
  abstract interface
    subroutine effort_sampling_fn(sampled, step, user) bind(C)
      import :: c_ptr, c_int, c_int64_t
      integer(c_int), value :: sampled
      integer(c_int64_t), value :: step
      type(c_ptr), value :: user
    end subroutine
  end interface
  public :: effort_sampling_fn

  !> A configuration.  Make it with effort_config_new, pass it to effort_init, and free it.
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
  public :: effort_weights_items, effort_weights_share, effort_weights_integers, effort_weights_ranks
  public :: effort_status_string, effort_last_error, effort_version, effort_string

  !> Without argument for one process, or for the ranks of a communicator: integer (use mpi, mpif.h) or type(MPI_Comm).
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

  interface
    integer(c_int) function c_init(cfg) bind(C, name='effort_init')
      import; type(c_ptr), value :: cfg
    end function
    integer(c_int) function c_finalize() bind(C, name='effort_finalize')
      import
    end function
    integer(c_int) function c_config_new(out) bind(C, name='effort_config_new')
      import; type(c_ptr), intent(out) :: out
    end function
    integer(c_int) function c_config_set(c, key, value) bind(C, name='effort_config_set')
      import; type(c_ptr), value :: c; character(kind=c_char), intent(in) :: key(*), value(*)
    end function
    integer(c_int) function c_config_free(c) bind(C, name='effort_config_free')
      import; type(c_ptr), value :: c
    end function
    integer(c_int) function c_region(name, kind, out) bind(C, name='effort_region')
      import; character(kind=c_char), intent(in) :: name(*); integer(c_int), value :: kind
      integer(c_int32_t), intent(out) :: out
    end function
    integer(c_int) function c_begin(r) bind(C, name='effort_begin')
      import; integer(c_int32_t), value :: r
    end function
    integer(c_int) function c_end(r) bind(C, name='effort_end')
      import; integer(c_int32_t), value :: r
    end function
    integer(c_int) function c_add(r, seconds) bind(C, name='effort_add')
      import; integer(c_int32_t), value :: r; real(c_double), value :: seconds
    end function
    integer(c_int) function c_phase(name) bind(C, name='effort_phase')
      import; character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_work_unit(name, out) bind(C, name='effort_work_unit')
      import; character(kind=c_char), intent(in) :: name(*); integer(c_int32_t), intent(out) :: out
    end function
    integer(c_int) function c_work(w, amount) bind(C, name='effort_work')
      import; integer(c_int32_t), value :: w; real(c_double), value :: amount
    end function
    integer(c_int) function c_metric_define(name, unit, out) bind(C, name='effort_metric_define')
      import; character(kind=c_char), intent(in) :: name(*), unit(*); integer(c_int32_t), intent(out) :: out
    end function
    integer(c_int) function c_metric(m, value) bind(C, name='effort_metric')
      import; integer(c_int32_t), value :: m; real(c_double), value :: value
    end function
    integer(c_int) function c_progress_step() bind(C, name='effort_progress_step')
      import
    end function
    integer(c_int) function c_on_rebalance(fn, user) bind(C, name='effort_on_rebalance')
      import; type(c_funptr), value :: fn; type(c_ptr), value :: user
    end function
    integer(c_int) function c_on_sampling(fn, user) bind(C, name='effort_on_sampling')
      import; type(c_funptr), value :: fn; type(c_ptr), value :: user
    end function
    integer(c_int) function c_sampled() bind(C, name='effort_sampled')
      import
    end function
    integer(c_int) function c_rebalance_begin() bind(C, name='effort_rebalance_begin')
      import
    end function
    integer(c_int) function c_rebalance_end() bind(C, name='effort_rebalance_end')
      import
    end function
    integer(c_int) function c_hint_copy(out, bytes) bind(C, name='effort_hint_copy')
      import; type(effort_hint), intent(inout) :: out; integer(c_size_t), value :: bytes
    end function
    integer(c_int) function c_snapshot(path) bind(C, name='effort_snapshot')
      import; type(c_ptr), value :: path
    end function
    integer(c_int) function c_weights_items(n_items, n_units, amount, unit_cost, weight) &
        bind(C, name='effort_weights_items')
      import; integer(c_size_t), value :: n_items; integer(c_int32_t), value :: n_units
      real(c_double), intent(in) :: amount(*), unit_cost(*); real(c_double), intent(inout) :: weight(*)
    end function
    integer(c_int) function c_weights_share(n_items, estimate, load, weight) bind(C, name='effort_weights_share')
      import; integer(c_size_t), value :: n_items; real(c_double), intent(in) :: estimate(*)
      real(c_double), value :: load; real(c_double), intent(inout) :: weight(*)
    end function
    integer(c_int) function c_weights_integers(n_items, weight, sum, least, cost) &
        bind(C, name='effort_weights_integers')
      import; integer(c_size_t), value :: n_items; real(c_double), intent(in) :: weight(*)
      integer(c_int64_t), value :: sum, least; integer(c_int64_t), intent(inout) :: cost(*)
    end function
    integer(c_int) function c_weights_ranks(n_ranks, load, factor) bind(C, name='effort_weights_ranks')
      import; integer(c_int32_t), value :: n_ranks; real(c_double), intent(in) :: load(*)
      real(c_double), intent(inout) :: factor(*)
    end function
    type(c_ptr) function c_status_string(s) bind(C, name='effort_status_string')
      import; integer(c_int), value :: s
    end function
    type(c_ptr) function c_last_error() bind(C, name='effort_last_error')
      import
    end function
    integer(c_int) function c_version() bind(C, name='effort_version')
      import
    end function
#ifdef EFFORT_HAVE_MPI
    integer(c_int) function c_init_mpi(comm, cfg) bind(C, name='effort_init_mpi_fortran')
      import; integer(c_int), value :: comm; type(c_ptr), value :: cfg
    end function
#endif
    integer(c_int) function c_region_find(name, out) bind(C, name='effort_region_find')
      import; character(kind=c_char), intent(in) :: name(*); integer(c_int32_t), intent(out) :: out
    end function
    integer(c_int) function c_fail(status, message) bind(C, name='effort_fail')
      import; integer(c_int), value :: status; character(kind=c_char), intent(in) :: message(*)
    end function
    integer(c_size_t) function c_strlen(s) bind(C, name='strlen')
      import; type(c_ptr), value :: s
    end function
  end interface
contains

  subroutine give(status, ierr)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: ierr
    if (present(ierr)) ierr = int(status)
  end subroutine

  !> Reports an error found in this module and not in the C API, with its message for effort_last_error.
  subroutine refuse(status, message, ierr)
    integer(c_int), intent(in) :: status
    character(*), intent(in) :: message
    integer, intent(out), optional :: ierr
    call give(c_fail(status, message//c_null_char), ierr)
  end subroutine

  !> `text` without trailing blanks, as a C string.
  pure function c_text(text) result(out)
    character(*), intent(in) :: text
    character(kind=c_char, len=:), allocatable :: out
    out = trim(text)//c_null_char
  end function

  !> Converts a C string (hint%region_name, ...) to a Fortran string; empty for a null pointer.
  function effort_string(text) result(out)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: out
    character(kind=c_char), pointer :: chars(:)
    integer(c_size_t) :: i, n
    n = 0
    if (c_associated(text)) n = c_strlen(text)
    allocate (character(n) :: out)
    if (n == 0) return
    call c_f_pointer(text, chars, [n])
    do i = 1, n
      out(i:i) = chars(i)
    end do
  end function

  !> Without `comm`: one process.  With it: collective over its ranks (use mpi, mpif.h).
  subroutine init_integer(comm, config, ierr)
    integer, intent(in), optional :: comm
    type(effort_config), intent(in), optional :: config
    integer, intent(out), optional :: ierr
    if (.not. present(comm)) then
      call give(c_init(handle_of(config)), ierr)
    else
#ifdef EFFORT_HAVE_MPI
      call give(c_init_mpi(int(comm, c_int), handle_of(config)), ierr)
#else
      call refuse(EFFORT_ERR_UNSUPPORTED, 'effort_init: this build of the Fortran module is without MPI: leave the '// &
                  'communicator out, or build with EFFORT_ENABLE_MPI', ierr)
#endif
    end if
  end subroutine

#ifdef EFFORT_HAVE_MPI
  subroutine init_f08(comm, config, ierr)
    type(MPI_Comm), intent(in) :: comm
    type(effort_config), intent(in), optional :: config
    integer, intent(out), optional :: ierr
    call give(c_init_mpi(int(comm%MPI_VAL, c_int), handle_of(config)), ierr)
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
    call give(c_finalize(), ierr)
  end subroutine

  subroutine effort_config_new(config, ierr)
    type(effort_config), intent(out) :: config
    integer, intent(out), optional :: ierr
    call give(c_config_new(config%handle), ierr)
  end subroutine

  subroutine effort_config_set(config, key, value, ierr)
    type(effort_config), intent(in) :: config
    character(*), intent(in) :: key, value
    integer, intent(out), optional :: ierr
    call give(c_config_set(config%handle, c_text(key), c_text(value)), ierr)
  end subroutine

  subroutine effort_config_free(config, ierr)
    type(effort_config), intent(inout) :: config
    integer, intent(out), optional :: ierr
    call give(c_config_free(config%handle), ierr)
    config%handle = c_null_ptr
  end subroutine

  subroutine effort_region(name, kind, id, ierr)
    character(*), intent(in) :: name
    type(effort_kind), intent(in) :: kind
    integer(effort_region_id), intent(out) :: id
    integer, intent(out), optional :: ierr
    call give(c_region(c_text(name), kind%value, id), ierr)
  end subroutine

  subroutine begin_id(id, ierr)
    integer(effort_region_id), intent(in) :: id
    integer, intent(out), optional :: ierr
    integer(c_int) :: status
    status = c_begin(id)
    if (present(ierr)) ierr = int(status)
  end subroutine

  !> By name: a look-up each time (some 50 ns more than by id).  Without `kind`, a known region keeps its own and a
  !> new one is EFFORT_COMPUTE; with it, a region of another kind is begun all the same and the conflict reported.
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
    call give(merge(registered, begun, registered /= EFFORT_OK), ierr)
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
    call give(status, ierr)
  end subroutine

  subroutine effort_add(id, seconds, ierr)
    integer(effort_region_id), intent(in) :: id
    real(c_double), intent(in) :: seconds
    integer, intent(out), optional :: ierr
    call give(c_add(id, seconds), ierr)
  end subroutine

  subroutine effort_phase(name, ierr)
    character(*), intent(in) :: name
    integer, intent(out), optional :: ierr
    call give(c_phase(c_text(name)), ierr)
  end subroutine

  subroutine effort_work_unit(name, id, ierr)
    character(*), intent(in) :: name
    integer(effort_work_id), intent(out) :: id
    integer, intent(out), optional :: ierr
    call give(c_work_unit(c_text(name), id), ierr)
  end subroutine

  subroutine effort_work(id, amount, ierr)
    integer(effort_work_id), intent(in) :: id
    real(c_double), intent(in) :: amount
    integer, intent(out), optional :: ierr
    call give(c_work(id, amount), ierr)
  end subroutine

  subroutine effort_metric_define(name, unit, id, ierr)
    character(*), intent(in) :: name, unit
    integer(effort_metric_id), intent(out) :: id
    integer, intent(out), optional :: ierr
    call give(c_metric_define(c_text(name), c_text(unit), id), ierr)
  end subroutine

  subroutine effort_metric(id, value, ierr)
    integer(effort_metric_id), intent(in) :: id
    real(c_double), intent(in) :: value
    integer, intent(out), optional :: ierr
    call give(c_metric(id, value), ierr)
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
    call give(c_on_rebalance(c_funloc(fn), u), ierr)
  end subroutine

  !> Before the first progress step.  `user` as in effort_on_rebalance.
  subroutine effort_on_sampling(fn, user, ierr)
    procedure(effort_sampling_fn) :: fn
    type(c_ptr), intent(in), optional :: user
    integer, intent(out), optional :: ierr
    type(c_ptr) :: u
    u = c_null_ptr
    if (present(user)) u = user
    call give(c_on_sampling(c_funloc(fn), u), ierr)
  end subroutine

  !> Whether this rank is in the sample of the current step.
  logical function effort_sampled()
    effort_sampled = c_sampled() /= 0
  end function

  subroutine effort_rebalance_begin(ierr)
    integer, intent(out), optional :: ierr
    call give(c_rebalance_begin(), ierr)
  end subroutine

  subroutine effort_rebalance_end(ierr)
    integer, intent(out), optional :: ierr
    call give(c_rebalance_end(), ierr)
  end subroutine

  subroutine effort_hint_latest(hint, ierr)
    type(effort_hint), intent(inout) :: hint
    integer, intent(out), optional :: ierr
    call give(c_hint_copy(hint, c_sizeof(hint)), ierr)
  end subroutine

  !> Without `path`: a new file in SNAPSHOT_DIR.
  subroutine effort_snapshot(path, ierr)
    character(*), intent(in), optional :: path
    integer, intent(out), optional :: ierr
    character(kind=c_char, len=:), allocatable, target :: text
    if (present(path)) then
      text = c_text(path)
      call give(c_snapshot(c_loc(text)), ierr)
    else
      call give(c_snapshot(c_null_ptr), ierr)
    end if
  end subroutine

  !> Seconds per item: amount(unit, item) times unit_cost(unit), summed.  The shapes must fit together.
  subroutine effort_weights_items(amount, unit_cost, weight, ierr)
    real(c_double), intent(in) :: amount(:, :), unit_cost(:)
    real(c_double), intent(inout) :: weight(:)
    integer, intent(out), optional :: ierr
    real(c_double) :: packed(size(weight))
    integer(c_int) :: status
    if (size(amount, 1) /= size(unit_cost) .or. size(amount, 2) /= size(weight)) then
      call refuse(EFFORT_ERR_INVALID_ARGUMENT, &
                  'effort_weights_items: the shapes do not fit together: '// &
                  'pass amount(units, items), unit_cost(units) and weight(items)', ierr)
      return
    end if
    status = c_weights_items(size(weight, kind=c_size_t), size(unit_cost, kind=c_int32_t), amount, unit_cost, packed)
    if (status == EFFORT_OK) weight = packed
    call give(status, ierr)
  end subroutine

  !> Each item's share of its rank's load, in proportion to the estimates.
  subroutine effort_weights_share(estimate, load, weight, ierr)
    real(c_double), intent(in) :: estimate(:), load
    real(c_double), intent(inout) :: weight(:)
    integer, intent(out), optional :: ierr
    real(c_double) :: packed(size(weight))
    integer(c_int) :: status
    if (size(estimate) /= size(weight)) then
      call refuse(EFFORT_ERR_INVALID_ARGUMENT, &
                  'effort_weights_share: estimate and weight are not of one size: '// &
                  'pass one of each per item', ierr)
      return
    end if
    status = c_weights_share(size(weight, kind=c_size_t), estimate, load, packed)
    if (status == EFFORT_OK) weight = packed
    call give(status, ierr)
  end subroutine

  !> Integers in proportion to the weights that add up to `sum`; every item gets at least `least` (0 without it).
  subroutine effort_weights_integers(weight, sum, cost, least, ierr)
    real(c_double), intent(in) :: weight(:)
    integer(c_int64_t), intent(in) :: sum
    integer(c_int64_t), intent(inout) :: cost(:)
    integer(c_int64_t), intent(in), optional :: least
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: packed(size(weight)), at_least
    integer(c_int) :: status
    if (size(cost) /= size(weight)) then
      call refuse(EFFORT_ERR_INVALID_ARGUMENT, &
                  'effort_weights_integers: weight and cost are not of one size: '// &
                  'pass one of each per item', ierr)
      return
    end if
    at_least = 0
    if (present(least)) at_least = least
    status = c_weights_integers(size(weight, kind=c_size_t), weight, sum, at_least, packed)
    if (status == EFFORT_OK) cost = packed
    call give(status, ierr)
  end subroutine

  !> The factor by which each rank's items should count more than the mean rank's: 1 on average.
  subroutine effort_weights_ranks(load, factor, ierr)
    real(c_double), intent(in) :: load(:)
    real(c_double), intent(inout) :: factor(:)
    integer, intent(out), optional :: ierr
    real(c_double) :: packed(size(load))
    integer(c_int) :: status
    if (size(factor) /= size(load)) then
      call refuse(EFFORT_ERR_INVALID_ARGUMENT, &
                  'effort_weights_ranks: load and factor are not of one size: '// &
                  'pass one of each per rank', ierr)
      return
    end if
    status = c_weights_ranks(size(load, kind=c_int32_t), load, packed)
    if (status == EFFORT_OK) factor = packed
    call give(status, ierr)
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
end module effort
