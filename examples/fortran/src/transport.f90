! Advection and diffusion: second order upwind fluxes with limited slopes, two-stage Runge-Kutta that creates no new
! extrema.
module transport
  use mesh, only: block_t
  use parameters, only: dp, nb, ng, n_vars
  implicit none
  private
  public :: transport_stage

contains

  ! Stage 1 or 2 of a step of length dt on one block, whose ghosts must be filled; also adds up the outer fluxes of the
  ! step.
  subroutine transport_stage(b, stage, h, dt, diffusivity)
    type(block_t), intent(inout) :: b
    integer, intent(in) :: stage
    real(dp), intent(in) :: h, dt, diffusivity
    real(dp) :: fx(0:nb, nb), fy(nb, 0:nb), change(nb, nb)
    integer :: v
    if (stage == 1) then
      b%before = b%u(1:nb, 1:nb, :)
      b%flux = 0
    end if
    do v = 1, n_vars
      call fluxes_x(b%u(:, :, v), b%vx, diffusivity / h, fx)
      call fluxes_y(b%u(:, :, v), b%vy, diffusivity / h, fy)
      change = (dt / h) * ((fx(0:nb - 1, :) - fx(1:nb, :)) + (fy(:, 0:nb - 1) - fy(:, 1:nb)))
      if (stage == 1) then
        b%u(1:nb, 1:nb, v) = b%before(:, :, v) + change
      else
        b%u(1:nb, 1:nb, v) = 0.5_dp * (b%before(:, :, v) + (b%u(1:nb, 1:nb, v) + change))
      end if
      ! Each stage counts half.
      b%flux(:, v, 1) = b%flux(:, v, 1) + 0.5_dp * fx(0, :)
      b%flux(:, v, 2) = b%flux(:, v, 2) + 0.5_dp * fx(nb, :)
      b%flux(:, v, 3) = b%flux(:, v, 3) + 0.5_dp * fy(:, 0)
      b%flux(:, v, 4) = b%flux(:, v, 4) + 0.5_dp * fy(:, nb)
    end do
  end subroutine transport_stage

  pure subroutine fluxes_x(u, speed, conductance, flux)
    real(dp), intent(in) :: u(1 - ng:nb + ng, 1 - ng:nb + ng), speed(0:nb, nb), conductance
    real(dp), intent(out) :: flux(0:nb, nb)
    real(dp) :: s(0:nb + 1)
    integer :: i, j
    do j = 1, nb
      do i = 0, nb + 1
        s(i) = half_slope(u(i, j) - u(i - 1, j), u(i + 1, j) - u(i, j))
      end do
      do i = 0, nb
        flux(i, j) = upwind(speed(i, j), u(i, j) + s(i), u(i + 1, j) - s(i + 1)) - conductance * (u(i + 1, j) - u(i, j))
      end do
    end do
  end subroutine fluxes_x

  pure subroutine fluxes_y(u, speed, conductance, flux)
    real(dp), intent(in) :: u(1 - ng:nb + ng, 1 - ng:nb + ng), speed(nb, 0:nb), conductance
    real(dp), intent(out) :: flux(nb, 0:nb)
    real(dp) :: s(nb, 0:nb + 1)
    integer :: i, j
    do j = 0, nb + 1
      do i = 1, nb
        s(i, j) = half_slope(u(i, j) - u(i, j - 1), u(i, j + 1) - u(i, j))
      end do
    end do
    do j = 0, nb
      do i = 1, nb
        flux(i, j) = upwind(speed(i, j), u(i, j) + s(i, j), u(i, j + 1) - s(i, j + 1)) &
                     - conductance * (u(i, j + 1) - u(i, j))
      end do
    end do
  end subroutine fluxes_y

  ! Half of van Leer's harmonic mean of the slopes on both sides, zero at extrema.
  elemental real(dp) function half_slope(a, b)
    real(dp), intent(in) :: a, b
    half_slope = max(a * b, 0.0_dp) / (abs(a + b) + tiny(1.0_dp)) * sign(1.0_dp, a)
  end function half_slope

  elemental real(dp) function upwind(speed, left, right)
    real(dp), intent(in) :: speed, left, right
    upwind = max(speed, 0.0_dp) * left + min(speed, 0.0_dp) * right
  end function upwind
end module transport
