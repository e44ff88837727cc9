! Types and constants of the module effort: ids, kinds, statuses, the hint, and interfaces of callbacks.
module effort_types
  use, intrinsic :: iso_c_binding
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
    EFFORT_ADVICE_COLLINEAR_UNITS = 512, EFFORT_ADVICE_TRUNCATED = 1024, EFFORT_ADVICE_TRIAL = 2048, &
    EFFORT_ADVICE_TRANSFER = 4096

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
    real(c_double) :: parallel_efficiency, communication_efficiency, transfer_efficiency  ! < 0: unknown
    real(c_double) :: ideal_saving
    real(c_double) :: expected_saving
    type(c_ptr) :: speed                ! real(c_double) (n_ranks)
    type(c_ptr) :: delay                ! real(c_double) (n_ranks), or null without COMM_WAITS
    type(c_ptr) :: delay_region         ! integer(c_int32_t) (n_ranks), from 0, or null without COMM_WAITS
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
end module effort_types
