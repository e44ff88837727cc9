! The source term: fuel burns to product and releases heat, at a rate that grows steeply with temperature. Each cell
! integrates it with as many substeps as its accuracy needs: none if it is cold or burnt, many in the flame.
module chemistry
  use parameters, only: dp, nb, ng, i_fuel, i_product, i_temperature, heat_release, activation, burnt
  implicit none
  private
  public :: react

  real(dp), parameter :: tolerance = 2.0e-7_dp      ! local error of a substep, in units of fuel
  real(dp), parameter :: negligible = 1.0e-10_dp    ! less fuel than this in a step is not worth computing
  integer, parameter :: max_newton = 30

contains

  ! Burns in all cells of a block for the time dt; `rate` is that of hot fuel. `evaluations`: number of evaluations of
  ! the rate.
  subroutine react(u, rate, dt, evaluations)
    real(dp), intent(inout) :: u(1 - ng:, 1 - ng:, :)
    real(dp), intent(in) :: rate, dt
    integer, intent(out) :: evaluations
    integer :: i, j
    real(dp) :: progress
    evaluations = nb * nb
    do j = 1, nb
      do i = 1, nb
        if (speed(rate, u(i, j, i_temperature)) * u(i, j, i_fuel) * dt < negligible) cycle
        call burn(u(i, j, i_fuel), u(i, j, i_temperature), rate, dt, progress, evaluations)
        u(i, j, i_fuel) = u(i, j, i_fuel) - progress
        u(i, j, i_product) = u(i, j, i_product) + progress
        u(i, j, i_temperature) = u(i, j, i_temperature) + heat_release * progress
      end do
    end do
  end subroutine react

  ! Fuel that burns within dt, by backward Euler with step doubling. The difference of two half steps and one whole step
  ! controls the substep, and extrapolation makes the result second order.
  pure subroutine burn(fuel, temperature, rate, dt, burnt_fuel, evaluations)
    real(dp), intent(in) :: fuel, temperature, rate, dt
    real(dp), intent(out) :: burnt_fuel
    integer, intent(inout) :: evaluations
    real(dp) :: h, left, f, t, whole, half, second, error
    burnt_fuel = 0
    left = dt
    h = dt
    do while (left > 0)
      h = min(h, left)
      f = fuel - burnt_fuel
      t = temperature + heat_release * burnt_fuel
      call backward_euler(f, t, rate, h, whole, evaluations)
      call backward_euler(f, t, rate, 0.5_dp * h, half, evaluations)
      call backward_euler(f - half, t + heat_release * half, rate, 0.5_dp * h, second, evaluations)
      half = half + second
      error = abs(half - whole)
      if (error <= tolerance .or. h < 1.0e-6_dp * dt) then
        burnt_fuel = burnt_fuel + min(2.0_dp * half - whole, f)
        left = left - h
        if (left < 1.0e-12_dp * dt) exit
      end if
      h = h * min(2.0_dp, max(0.2_dp, 0.9_dp * sqrt(tolerance / max(error, tiny(error)))))
    end do
  end subroutine burn

  ! The root s in [0, fuel] of s = h k(T + q s) (fuel - s), by Newton's method kept inside the interval.
  pure subroutine backward_euler(fuel, temperature, rate, h, s, evaluations)
    real(dp), intent(in) :: fuel, temperature, rate, h
    real(dp), intent(out) :: s
    integer, intent(inout) :: evaluations
    real(dp) :: t, k, residual, slope, change
    integer :: n
    s = h * speed(rate, temperature) * fuel
    s = min(s, 0.5_dp * fuel)
    do n = 1, max_newton
      t = temperature + heat_release * s
      k = h * speed(rate, t)
      residual = s - k * (fuel - s)
      slope = 1.0_dp + k - k * (activation * heat_release / t**2) * (fuel - s)
      if (slope < 0.1_dp) slope = 1.0_dp + k
      change = -residual / slope
      change = min(max(change, -0.9_dp * s), 0.9_dp * (fuel - s))
      s = s + change
      if (abs(change) <= 1.0e-14_dp * fuel) exit
    end do
    evaluations = evaluations + 1 + min(n, max_newton)
  end subroutine backward_euler

  ! Arrhenius rate per time; `rate` at the temperature of burnt gas.
  pure real(dp) function speed(rate, temperature)
    real(dp), intent(in) :: rate, temperature
    speed = rate * exp(activation * (1.0_dp / burnt - 1.0_dp / max(temperature, 0.05_dp)))
  end function speed
end module chemistry
