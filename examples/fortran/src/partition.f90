! Cuts a sequence of weights into contiguous parts.
module partition
  use parameters, only: dp
  implicit none
  private
  public :: cut

contains

  ! part(i), from 0, is the part of weight i. The heaviest contiguous part is as light as possible (to 1e-6), found by
  ! bisection over the weight that a part may have. Within that limit each part is brought close to the mean of the
  ! remaining weight.
  pure function cut(weight, n_parts) result(part)
    real(dp), intent(in) :: weight(:)
    integer, intent(in) :: n_parts
    integer :: part(size(weight)), spread(size(weight))
    real(dp) :: low, high, middle
    low = max(sum(weight) / n_parts, maxval(weight))
    high = sum(weight)
    do while (high - low > 1.0e-6_dp * high)
      middle = 0.5_dp * (low + high)
      if (maxval(fill(weight, n_parts, middle, .false.)) < n_parts) then
        high = middle
      else
        low = middle
      end if
    end do
    part = fill(weight, n_parts, high, .false.)
    spread = fill(weight, n_parts, high, .true.)
    if (maxval(spread) < n_parts) part = spread
  end function cut

  ! Fills part after part up to `limit`; if it needs more parts than there are, the limit is too tight. `evenly`: a part
  ! also ends where it is closest to the mean weight left for it and its successors.
  pure function fill(weight, n_parts, limit, evenly) result(part)
    real(dp), intent(in) :: weight(:), limit
    integer, intent(in) :: n_parts
    logical, intent(in) :: evenly
    integer :: part(size(weight)), i, p
    real(dp) :: filled, left, goal
    p = 0
    filled = 0
    left = sum(weight)
    goal = left / n_parts
    do i = 1, size(weight)
      if (filled + weight(i) > limit .or. (evenly .and. p < n_parts - 1 .and. filled + 0.5_dp * weight(i) > goal)) then
        p = p + 1
        left = left - filled
        goal = left / max(n_parts - p, 1)
        filled = 0
      end if
      filled = filled + weight(i)
      part(i) = p
    end do
  end function fill
end module partition
