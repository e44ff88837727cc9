! The flame kernel in the rotating vessel: initial state and time step.
module simulation
  use mpi_f08, only: MPI_Comm, MPI_Comm_rank, MPI_Comm_size
  use adapt, only: adapt_mesh
  use balance, only: forecast_t, balance_equal_counts, balance_by_cost, note_costs
  use chemistry, only: react
  use clock, only: cpu_seconds, clock_switch, spent, in_compute, in_other, in_rebalance
  use effort
  use ghosts, only: ghosts_t, ghosts_prepare, ghosts_fill, ghosts_reflux
  use mesh, only: mesh_t, block_t, block_create, mesh_find_mine, cell_width, low_corner
  use options, only: options_t
  use parameters
  use regions
  use transport, only: transport_stage
  use tree, only: tree_create
  implicit none
  private
  public :: simulation_start, simulation_step, simulation_rebalance

  ! Steps before the first reported one. In them the flame takes its shape and the costs of blocks are measured.
  integer, parameter, public :: settling_steps = 15

  type, public :: simulation_t
    type(options_t) :: opt
    type(mesh_t) :: mesh
    type(ghosts_t) :: ghosts
    real(dp) :: dt = 0
    integer :: step = -settling_steps
    integer :: n_rebalances = 0, n_moved = 0
    real(dp), allocatable :: compute(:), rebalance(:)     ! CPU seconds of this rank in each step
    real(dp), allocatable :: work(:, :)                   ! its blocks and evaluations in each step, settling included
  end type simulation_t

contains

  ! The kernel on its first mesh, with blocks distributed by the cost of a trial. Collective.
  subroutine simulation_start(sim, opt, comm)
    type(simulation_t), intent(inout) :: sim
    type(options_t), intent(in) :: opt
    type(MPI_Comm), intent(in) :: comm
    integer :: moved
    sim%opt = opt
    allocate (sim%compute(opt%steps), sim%rebalance(opt%steps), source=0.0_dp)
    allocate (sim%work(2, 1 - settling_steps:opt%steps), source=0.0_dp)
    sim%mesh%comm = comm
    call MPI_Comm_rank(comm, sim%mesh%rank)
    call MPI_Comm_size(comm, sim%mesh%n_ranks)
    call set_time_step_and_flame(sim)
    call first_mesh(sim%mesh, opt)
    call balance_equal_counts(sim%mesh)
    call ghosts_prepare(sim%mesh, sim%ghosts)
    call ghosts_fill(sim%mesh, sim%ghosts)
    call try_costs(sim)
    call balance_by_cost(sim%mesh, sim%ghosts, moved)
  end subroutine simulation_start

  ! One time step. Collective.
  subroutine simulation_step(sim)
    type(simulation_t), intent(inout) :: sim
    real(dp) :: before
    integer :: stage
    sim%step = sim%step + 1
    call clock_switch(in_compute)
    before = spent(in_compute)
    do stage = 1, 2
      call fill(sim)
      call advance(sim, stage)
    end do
    call effort_begin(region_ghosts)
    call ghosts_reflux(sim%mesh, sim%ghosts, sim%dt)
    call effort_end(region_ghosts)
    call burn(sim)
    if (mod(sim%step, sim%opt%adapt_every) == 0) call follow_front(sim)
    call clock_switch(in_other)
    before = spent(in_compute) - before
    call note_costs(sim%mesh, before)
    if (sim%step > 0) sim%compute(sim%step) = before
  end subroutine simulation_step

  ! Redistributes the blocks by measured or predicted cost. Collective.
  subroutine simulation_rebalance(sim, forecast)
    type(simulation_t), intent(inout) :: sim
    type(forecast_t), intent(in), optional :: forecast
    real(dp) :: before
    integer :: bucket, moved
    call clock_switch(in_rebalance, before=bucket)
    before = spent(in_rebalance)
    call balance_by_cost(sim%mesh, sim%ghosts, moved, forecast)
    call clock_switch(bucket)
    if (sim%step < 1) return
    sim%rebalance(sim%step) = sim%rebalance(sim%step) + (spent(in_rebalance) - before)
    sim%n_rebalances = sim%n_rebalances + 1
    sim%n_moved = sim%n_moved + moved
  end subroutine simulation_rebalance

  subroutine fill(sim)
    type(simulation_t), intent(inout) :: sim
    call effort_begin(region_ghosts)
    call ghosts_fill(sim%mesh, sim%ghosts)
    call effort_end(region_ghosts)
  end subroutine fill

  subroutine advance(sim, stage)
    type(simulation_t), intent(inout) :: sim
    integer, intent(in) :: stage
    real(dp) :: last, now
    integer :: i, m
    call effort_begin(region_advance)
    last = cpu_seconds()
    do i = 1, size(sim%mesh%mine)
      m = sim%mesh%mine(i)
      call transport_stage(sim%mesh%block(m), stage, cell_width(sim%mesh, m), sim%dt, sim%mesh%diffusivity)
      now = cpu_seconds()
      sim%mesh%block(m)%this_step = sim%mesh%block(m)%this_step + (now - last)
      last = now
    end do
    call effort_end(region_advance)
  end subroutine advance

  subroutine burn(sim)
    type(simulation_t), intent(inout) :: sim
    real(dp) :: last, now
    real(dp), parameter :: memory = 0.75_dp    ! of a trend, from step to step
    integer :: i, m, evaluations
    call effort_begin(region_reaction)
    last = cpu_seconds()
    do i = 1, size(sim%mesh%mine)
      m = sim%mesh%mine(i)
      call react(sim%mesh%block(m)%u, sim%mesh%rate, sim%dt, evaluations)
      associate (b => sim%mesh%block(m))
        b%trend = memory * b%trend + (1 - memory) * (evaluations - b%evaluations)
        b%evaluations = evaluations
        now = cpu_seconds()
        b%this_step = b%this_step + (now - last)
        last = now
      end associate
    end do
    call effort_end(region_reaction)
    sim%work(:, sim%step) = [real(size(sim%mesh%mine), dp), sum(sim%mesh%block(sim%mesh%mine)%evaluations)]
    call effort_work(unit_blocks, sim%work(1, sim%step))
    call effort_work(unit_evaluations, sim%work(2, sim%step))
  end subroutine burn

  subroutine follow_front(sim)
    type(simulation_t), intent(inout) :: sim
    logical :: changed
    call fill(sim)
    call effort_begin(region_refine)
    call adapt_mesh(sim%mesh, changed)
    if (changed) call ghosts_prepare(sim%mesh, sim%ghosts)
    call effort_end(region_refine)
  end subroutine follow_front

  ! The flame is as thin as the finest cells resolve. A flat flame burns at sqrt(2 D k) / zeldovich, k the rate of hot
  ! fuel (Zeldovich and Frank-Kamenetskii, for equal diffusion of heat and fuel), and is D / speed thick. The time step
  ! keeps advection plus diffusion stable even for first-order upwind, to which the limiter may reduce the scheme.
  subroutine set_time_step_and_flame(sim)
    type(simulation_t), intent(inout) :: sim
    real(dp) :: h
    h = 1.0_dp / sim%opt%cells
    sim%mesh%diffusivity = flame_speed * flame_cells * h
    sim%dt = courant * h / (sqrt(2.0_dp) * omega * r_solid + 4.0_dp * sim%mesh%diffusivity / h)
    sim%mesh%rate = (flame_speed * zeldovich)**2 / (2.0_dp * sim%mesh%diffusivity)
  end subroutine set_time_step_and_flame

  ! Refines at the kernel's border until nothing changes, each time from the exact initial state.
  subroutine first_mesh(mesh, opt)
    type(mesh_t), intent(inout) :: mesh
    type(options_t), intent(in) :: opt
    logical :: changed
    integer :: i, m
    call tree_create(mesh%tree, opt%base, opt%finest)
    allocate (mesh%block(size(mesh%tree%leaf)))
    call mesh_find_mine(mesh)
    do i = 1, size(mesh%mine)
      call block_create(mesh, mesh%mine(i))
    end do
    changed = .true.
    do while (changed)
      do i = 1, size(mesh%mine)
        m = mesh%mine(i)
        call set_kernel(mesh%block(m), low_corner(mesh, m), cell_width(mesh, m), 1.0_dp / opt%cells)
      end do
      call adapt_mesh(mesh, changed)
    end do
  end subroutine first_mesh

  ! Burnt gas inside a wrinkled circle, fuel of varying richness outside, and a border as thick as the flame.
  subroutine set_kernel(b, corner, h, finest_h)
    type(block_t), intent(inout) :: b
    real(dp), intent(in) :: corner(2), h, finest_h
    real(dp) :: x, y, border, inside, mixture
    real(dp), parameter :: pi = acos(-1.0_dp)
    integer :: i, j
    do j = 1 - ng, nb + ng
      do i = 1 - ng, nb + ng
        x = corner(1) + (i - 0.5_dp) * h - kernel_x
        y = corner(2) + (j - 0.5_dp) * h - kernel_y
        border = kernel_radius * (1.0_dp + kernel_wrinkle * cos(5.0_dp * atan2(y, x)))
        inside = 0.5_dp * (1.0_dp - tanh((sqrt(x**2 + y**2) - border) / (flame_cells * finest_h)))
        mixture = 1.0_dp - lean * (sin(3.0_dp * pi * (x + kernel_x)) * cos(2.0_dp * pi * (y + kernel_y)))**2
        b%u(i, j, i_fuel) = mixture * (1.0_dp - inside)
        b%u(i, j, i_product) = mixture * inside
        b%u(i, j, i_temperature) = cold + heat_release * mixture * inside
      end do
    end do
  end subroutine set_kernel

  ! Measures first costs: each block is advanced a few times as a trial, then restored.
  subroutine try_costs(sim)
    type(simulation_t), intent(inout) :: sim
    integer, parameter :: n_trials = 3
    real(dp) :: start(1 - ng:nb + ng, 1 - ng:nb + ng, n_vars)
    real(dp) :: begun
    integer :: i, m, trial, evaluations
    do i = 1, size(sim%mesh%mine)
      m = sim%mesh%mine(i)
      associate (b => sim%mesh%block(m))
        start = b%u
        begun = cpu_seconds()
        do trial = 1, n_trials
          b%u = start
          call transport_stage(b, 1, cell_width(sim%mesh, m), sim%dt, sim%mesh%diffusivity)
          call transport_stage(b, 2, cell_width(sim%mesh, m), sim%dt, sim%mesh%diffusivity)
          call react(b%u, sim%mesh%rate, sim%dt, evaluations)
        end do
        b%cost = (cpu_seconds() - begun) / n_trials
        b%u = start
      end associate
    end do
  end subroutine try_costs
end module simulation
