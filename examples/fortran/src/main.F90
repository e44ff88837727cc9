! A flame kernel in a rotating vessel, on a block-structured mesh that follows its front.
program flame
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  use clock
  use effort
  use hook, only: on_hint
  use options
  use parameters, only: dp
  use regions, only: regions_register
  use report
  use simulation
  implicit none

#ifdef WITH_EFFORT
  logical, parameter :: with_effort_library = .true.
#else
  logical, parameter :: with_effort_library = .false.
#endif
  type(options_t) :: opt
  type(simulation_t), target :: sim
  type(state_t) :: first
  real(dp) :: wall
  logical :: good

  call MPI_Init()
  call get_options()
  call effort_init(MPI_COMM_WORLD)
  call regions_register()
  call simulation_start(sim, opt, MPI_COMM_WORLD)
  first = measure_state(sim%mesh)

  ! All modes start balanced: once the flame has settled, blocks are distributed by measured cost.
  do while (sim%step < 0)
    call advance()
  end do
  call rebalance_now()
  call effort_on_rebalance(on_hint, c_loc(sim))

  call MPI_Barrier(MPI_COMM_WORLD)
  wall = MPI_Wtime()
  call clock_start()
  do while (sim%step < opt%steps)
    call advance()
    if (opt%balance == balance_own .and. mod(sim%step, opt%interval) == 0) call rebalance_now()
  end do
  call clock_switch(in_mpi)
  call MPI_Barrier(MPI_COMM_WORLD)
  call clock_switch(in_other)
  wall = MPI_Wtime() - wall

  call print_physics(sim, first, measure_state(sim%mesh), good)
  call print_timing(sim, wall)
  call effort_finalize()
  call MPI_Finalize()
  if (.not. good) stop 1

contains

  subroutine advance()
    call simulation_step(sim)
    call clock_switch(in_progress)
    call progress_step()
    call clock_switch(in_other)
  end subroutine advance

  ! Brackets rebalances outside the callback, so that effort knows about them.
  subroutine rebalance_now()
    call effort_rebalance_begin()
    call simulation_rebalance(sim)
    call effort_rebalance_end()
  end subroutine rebalance_now

  subroutine get_options()
    character(len=:), allocatable :: error
    integer :: rank
    call read_options(opt, error)
    if (error == '' .and. opt%balance == balance_hints .and. .not. with_effort_library) &
      error = '--balance hints needs the library, but this program was built without it (WITH_EFFORT=OFF)'
    if (error == '') return
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (rank == 0) then
      write (error_unit, '(2a)') 'flame: ', error
      call print_usage(error_unit)
    end if
    call MPI_Finalize()
    stop 2
  end subroutine get_options
end program flame
