! What this code does with a hint of effort.
module hook
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_double, c_f_pointer
  use effort, only: effort_hint
  use options, only: balance_hints
  use simulation, only: simulation_t, simulation_rebalance
  implicit none
  private
  public :: on_hint

contains

  ! Called inside progress_step, on all ranks at the same step with the same numbers. Rebalances when the hint says that it
  ! pays; the hint's prediction says what each rank will bear, this code's own measurement which of its blocks cause it.
  integer(c_int) function on_hint(hint, user) bind(C)
    type(effort_hint), intent(in) :: hint
    type(c_ptr), value :: user
    type(simulation_t), pointer :: sim
    real(c_double), pointer :: predicted(:)
    on_hint = 0
    call c_f_pointer(user, sim)
    if (sim%opt%balance /= balance_hints .or. hint%rebalance /= 1) return
    call c_f_pointer(hint%predicted, predicted, [hint%n_ranks])
    call simulation_rebalance(sim, predicted)
    on_hint = 1
  end function on_hint
end module hook
