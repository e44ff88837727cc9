! Rebalances on the hints of effort.
module hook
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_double, c_f_pointer
  use, intrinsic :: iso_fortran_env, only: int64
  use balance, only: forecast_t
  use effort, only: effort_hint, effort_string
  use options, only: balance_hints
  use parameters, only: dp
  use simulation, only: simulation_t, simulation_rebalance, settling_steps
  implicit none
  private
  public :: on_hint

contains

  ! Called inside progress_step, on all ranks at the same step with the same numbers. Rebalances by the costs in the
  ! hint when the hint says that it pays.
  integer(c_int) function on_hint(hint, user) bind(C)
    type(effort_hint), intent(in) :: hint
    type(c_ptr), value :: user
    type(simulation_t), pointer :: sim
    type(forecast_t) :: forecast
    real(c_double), pointer :: predicted(:)
    integer(int64), save :: last = 0    ! step of the previous hint
    real(dp) :: cost(2), ahead
    on_hint = 0
    call c_f_pointer(user, sim)
    ahead = 0.5_dp * real(hint%step - last, dp)    ! of the steps until the next hint
    last = hint%step
    if (sim%opt%balance /= balance_hints .or. hint%rebalance /= 1) return
    call c_f_pointer(hint%predicted, predicted, [hint%n_ranks])
    cost = [unit_cost(hint, 'blocks'), unit_cost(hint, 'evaluations')]
    if (all(cost >= 0)) cost = cost * pace(sim, hint, cost)
    forecast = forecast_t(cost(1), cost(2), ahead, predicted)
    call simulation_rebalance(sim, forecast)
    on_hint = 1
  end function on_hint

  ! This rank's time for its work, relative to the unit costs. Half of its excess in the window is expected again: its
  ! core may be slow, but part of the excess is noise.
  real(dp) function pace(sim, hint, cost)
    type(simulation_t), intent(in) :: sim
    type(effort_hint), intent(in) :: hint
    real(dp), intent(in) :: cost(2)
    real(c_double), pointer :: load(:)
    real(dp) :: modelled
    integer :: first, last    ! effort counts steps from 0
    first = int(hint%window_first) + 1 - settling_steps
    last = int(hint%window_last) + 1 - settling_steps
    modelled = dot_product(cost, sum(sim%work(:, first:last), dim=2)) / (last - first + 1)
    call c_f_pointer(hint%load, load, [hint%n_ranks])
    pace = 1
    if (modelled > 0) pace = 1 + 0.5_dp * (load(sim%mesh%rank + 1) / modelled - 1)
  end function pace

  ! Seconds; negative if effort could not fit it.
  real(dp) function unit_cost(hint, name)
    type(effort_hint), intent(in) :: hint
    character(len=*), intent(in) :: name
    type(c_ptr), pointer :: names(:)
    real(c_double), pointer :: costs(:)
    integer :: u
    unit_cost = -1
    if (hint%n_units == 0) return
    call c_f_pointer(hint%unit_name, names, [hint%n_units])
    call c_f_pointer(hint%unit_cost, costs, [hint%n_units])
    do u = 1, hint%n_units
      if (effort_string(names(u)) == name) unit_cost = costs(u)
    end do
  end function unit_cost
end module hook
