! Replaces the library when the example is built without it (-DWITH_EFFORT=OFF). It defines the procedures that this
! code calls; none of them does anything.
module effort
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_double, c_ptr, c_null_ptr
  use mpi_f08, only: MPI_Comm
  implicit none
  private
  public :: effort_init, effort_finalize, effort_region, effort_begin, effort_end, effort_work_unit, effort_work
  public :: progress_step, effort_on_rebalance, effort_rebalance_begin, effort_rebalance_end, effort_string

  integer, parameter, public :: effort_region_id = c_int32_t, effort_work_id = c_int32_t

  type, public :: effort_kind
    integer(c_int) :: code = 0
  end type effort_kind

  type(effort_kind), parameter, public :: EFFORT_COMPUTE = effort_kind(0), EFFORT_COMM = effort_kind(1)

  type, bind(C), public :: effort_hint
    integer(c_int64_t) :: step = 0, window_first = 0, window_last = 0
    integer(c_int32_t) :: n_ranks = 0
    integer(c_int32_t) :: rebalance = 0
    type(c_ptr) :: load = c_null_ptr, predicted = c_null_ptr
    integer(c_int32_t) :: n_units = 0
    type(c_ptr) :: unit_name = c_null_ptr, unit_cost = c_null_ptr
  end type effort_hint

  abstract interface
    integer(c_int) function effort_rebalance_fn(hint, user) bind(C)
      import :: c_int, c_ptr, effort_hint
      type(effort_hint), intent(in) :: hint
      type(c_ptr), value :: user
    end function effort_rebalance_fn
  end interface

contains

  subroutine effort_init(comm)
    type(MPI_Comm), intent(in) :: comm
    associate (unused => comm); end associate
  end subroutine effort_init

  subroutine effort_finalize()
  end subroutine effort_finalize

  subroutine effort_region(name, kind, id)
    character(len=*), intent(in) :: name
    type(effort_kind), intent(in) :: kind
    integer(effort_region_id), intent(out) :: id
    associate (unused => name, unused_too => kind); end associate
    id = 0
  end subroutine effort_region

  subroutine effort_begin(id)
    integer(effort_region_id), intent(in) :: id
    associate (unused => id); end associate
  end subroutine effort_begin

  subroutine effort_end(id)
    integer(effort_region_id), intent(in) :: id
    associate (unused => id); end associate
  end subroutine effort_end

  subroutine effort_work_unit(name, id)
    character(len=*), intent(in) :: name
    integer(effort_work_id), intent(out) :: id
    associate (unused => name); end associate
    id = 0
  end subroutine effort_work_unit

  subroutine effort_work(id, amount)
    integer(effort_work_id), intent(in) :: id
    real(c_double), intent(in) :: amount
    associate (unused => id, unused_too => amount); end associate
  end subroutine effort_work

  function effort_string(text) result(string)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: string
    associate (unused => text); end associate
    string = ''
  end function effort_string

  subroutine progress_step()
  end subroutine progress_step

  subroutine effort_on_rebalance(fn, user)
    procedure(effort_rebalance_fn) :: fn
    type(c_ptr), intent(in), optional :: user
    procedure(effort_rebalance_fn), pointer :: unused
    unused => fn
    associate (unused_too => user); end associate
  end subroutine effort_on_rebalance

  subroutine effort_rebalance_begin()
  end subroutine effort_rebalance_begin

  subroutine effort_rebalance_end()
  end subroutine effort_rebalance_end
end module effort
