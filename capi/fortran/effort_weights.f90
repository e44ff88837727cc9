! Weights of work items for a partitioner (effort_weights_* of effort.h), with the shapes of the arrays checked.
module effort_weights
  use, intrinsic :: iso_c_binding
  use effort_types
  use effort_c_api
  implicit none
  private
  public :: effort_weights_items, effort_weights_share, effort_weights_integers, effort_weights_ranks

contains

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
    call set_ierr(status, ierr)
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
                  'effort_weights_share: estimate and weight differ in size:  '// &
                  'pass one of each per item', ierr)
      return
    end if
    status = c_weights_share(size(weight, kind=c_size_t), estimate, load, packed)
    if (status == EFFORT_OK) weight = packed
    call set_ierr(status, ierr)
  end subroutine

  !> Integers in proportion to the weights that add up to `sum`; every item gets at least `least` (default 0).
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
                  'effort_weights_integers: weight and cost differ in size:  '// &
                  'pass one of each per item', ierr)
      return
    end if
    at_least = 0
    if (present(least)) at_least = least
    status = c_weights_integers(size(weight, kind=c_size_t), weight, sum, at_least, packed)
    if (status == EFFORT_OK) cost = packed
    call set_ierr(status, ierr)
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
                  'effort_weights_ranks: load and factor differ in size:  '// &
                  'pass one of each per rank', ierr)
      return
    end if
    status = c_weights_ranks(size(load, kind=c_int32_t), load, packed)
    if (status == EFFORT_OK) factor = packed
    call set_ierr(status, ierr)
  end subroutine
end module effort_weights
