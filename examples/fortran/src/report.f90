! The output of a run: checks of the physics, and where the time went.
module report
  use, intrinsic :: iso_fortran_env, only: int64, output_unit
  use mpi_f08
  use clock, only: spent, in_other, in_compute, in_mpi, in_rebalance, in_progress, n_buckets
  use mesh, only: mesh_t, block_t, cell_width, low_corner
  use parameters
  use simulation, only: simulation_t, settling_steps
  implicit none
  private
  public :: measure_state, print_physics, print_timing

  ! Allowed relative drift of mass and energy, and allowed distance of the kernel from where rotation takes it.
  real(dp), parameter :: drift_allowed = 1.0e-11_dp, lag_allowed = 0.02_dp

  type, public :: state_t
    real(dp) :: mass = 0, energy = 0, l2 = 0          ! fuel + product, T + q fuel, norm of T
    real(dp) :: burnt_mass = 0, centre(2) = 0         ! product, and its centre
    real(dp) :: lowest = 0, highest = 0               ! of the temperature
    integer(int64) :: checksum = 0                    ! over the bits of all cells
    integer :: n_leaves = 0, n_finest = 0
  end type state_t

  integer, parameter :: n_sums = 6

contains

  ! Sums over all cells in curve order, so the result does not depend on the owners, to the last bit. Collective.
  function measure_state(mesh) result(state)
    type(mesh_t), intent(in) :: mesh
    type(state_t) :: state
    real(dp) :: sums(n_sums, size(mesh%tree%leaf)), extremes(2), total(n_sums)
    integer :: i, m
    sums = 0
    extremes = -huge(1.0_dp)
    do i = 1, size(mesh%mine)
      m = mesh%mine(i)
      sums(:, m) = block_sums(mesh%block(m), low_corner(mesh, m), cell_width(mesh, m))
      state%checksum = ieor(state%checksum, block_checksum(mesh%block(m), m))
      associate (t => mesh%block(m)%u(1:nb, 1:nb, i_temperature))
        extremes = max(extremes, [maxval(t), maxval(-t)])
      end associate
    end do
    call MPI_Allreduce(MPI_IN_PLACE, sums, size(sums), MPI_DOUBLE_PRECISION, MPI_SUM, mesh%comm)
    call MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_DOUBLE_PRECISION, MPI_MAX, mesh%comm)
    call MPI_Allreduce(MPI_IN_PLACE, state%checksum, 1, MPI_INTEGER8, MPI_BXOR, mesh%comm)
    total = sum(sums, dim=2)
    state%mass = total(1)
    state%energy = total(2)
    state%l2 = sqrt(total(3))
    state%burnt_mass = total(4)
    state%centre = total(5:6) / total(4)
    state%highest = extremes(1)
    state%lowest = -extremes(2)
    state%n_leaves = size(mesh%tree%leaf)
    state%n_finest = count(mesh%tree%leaf%level == mesh%tree%finest)
  end function measure_state

  ! Prints the final state beside the initial one on rank 0; `good`: whether the physics holds, on all ranks.
  subroutine print_physics(sim, first, last, good)
    type(simulation_t), intent(in) :: sim
    type(state_t), intent(in) :: first, last
    logical, intent(out) :: good
    real(dp) :: mass_drift, energy_drift, lag
    logical :: bounded
    mass_drift = abs(last%mass / first%mass - 1.0_dp)
    energy_drift = abs(last%energy / first%energy - 1.0_dp)
    lag = norm2(last%centre - turned(first%centre, omega * sim%dt * (settling_steps + sim%step)))
    bounded = last%lowest > 0.9_dp * cold .and. last%highest < 1.1_dp * burnt
    good = mass_drift <= drift_allowed .and. energy_drift <= drift_allowed .and. lag <= lag_allowed .and. bounded &
           .and. last%burnt_mass > first%burnt_mass
    if (sim%mesh%rank /= 0) return
    print '(a, es22.15, a, es9.2, a, es8.1)', 'mass            ', last%mass, '   drift', mass_drift, &
      ', allowed', drift_allowed
    print '(a, es22.15, a, es9.2, a, es8.1)', 'energy          ', last%energy, '   drift', energy_drift, &
      ', allowed', drift_allowed
    print '(a, es22.15)', 'temperature L2  ', last%l2
    print '(a, z16.16)', 'field checksum  ', last%checksum
    print '(a, 2f8.4, a, f8.5)', 'kernel at       ', last%centre, ', off the rotation by', lag
    print '(a, 2f9.5)', 'temperature     ', last%lowest, last%highest
    print '(a, 2es11.3)', 'burnt           ', first%burnt_mass, last%burnt_mass
    print '(a, i0, a, i0, a)', 'blocks          ', last%n_leaves, ', ', last%n_finest, ' of them finest'
    print '(2a)', 'physics         ', trim(merge('good', 'BAD ', good))
  end subroutine print_physics

  ! Prints the balance and times of the run on rank 0. Collective.
  subroutine print_timing(sim, wall)
    type(simulation_t), intent(in) :: sim
    real(dp), intent(in) :: wall
    real(dp) :: slowest(sim%opt%steps), price(sim%opt%steps), totals(n_buckets), first, last
    integer :: n
    n = sim%opt%average
    first = imbalance(sim%mesh, sum(sim%compute(:n)))
    last = imbalance(sim%mesh, sum(sim%compute(sim%opt%steps - n + 1:)))
    call MPI_Reduce(sim%compute, slowest, size(slowest), MPI_DOUBLE_PRECISION, MPI_MAX, 0, sim%mesh%comm)
    call MPI_Reduce(sim%rebalance, price, size(price), MPI_DOUBLE_PRECISION, MPI_MAX, 0, sim%mesh%comm)
    call MPI_Reduce(spent, totals, n_buckets, MPI_DOUBLE_PRECISION, MPI_SUM, 0, sim%mesh%comm)
    if (sim%mesh%rank /= 0) return
    print '(a, f7.3, a, i0, a)', 'imbalance start ', first, '   max/mean - 1 of compute CPU, first ', n, ' steps'
    print '(a, f7.3, a, i0, a)', 'imbalance end   ', last, '   last ', n, ' steps'
    print '(a, i0, a, i0)', 'rebalances      ', sim%n_rebalances, ', blocks moved ', sim%n_moved
    print '(a, f9.3, a)', 'critical path   ', sum(slowest), ' s   sum over steps of the largest compute CPU'
    print '(a, f9.3, a)', 'rebalancing     ', sum(price), ' s   sum over rebalances of the largest CPU outside MPI'
    print '(a, f9.3, a)', 'compute CPU     ', totals(in_compute), ' s   all ranks'
    print '(a, f9.3, a)', 'CPU outside MPI ', sum(totals) - totals(in_mpi), ' s   all ranks'
    print '(a, f9.3, a)', '  progress_step ', totals(in_progress), ' s   of that'
    print '(a, f9.3, a)', 'wall time       ', wall, ' s'
  end subroutine print_timing

  ! max / mean - 1 over ranks. Collective.
  real(dp) function imbalance(mesh, load)
    type(mesh_t), intent(in) :: mesh
    real(dp), intent(in) :: load
    real(dp) :: largest, total
    call MPI_Allreduce(load, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, mesh%comm)
    call MPI_Allreduce(load, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, mesh%comm)
    imbalance = largest * mesh%n_ranks / max(total, tiny(total)) - 1.0_dp
  end function imbalance

  pure function block_sums(b, corner, h) result(sums)
    type(block_t), intent(in) :: b
    real(dp), intent(in) :: corner(2), h
    real(dp) :: sums(n_sums)
    integer :: i, j
    sums = 0
    do j = 1, nb
      do i = 1, nb
        associate (fuel => b%u(i, j, i_fuel), made => b%u(i, j, i_product), t => b%u(i, j, i_temperature))
          sums = sums + [fuel + made, t + heat_release * fuel, t**2, made, &
                         made * (corner(1) + (i - 0.5_dp) * h), made * (corner(2) + (j - 0.5_dp) * h)]
        end associate
      end do
    end do
    sums = sums * h**2
  end function block_sums

  ! A hash of every bit of every cell and of its position.
  integer(int64) function block_checksum(b, m) result(checksum)
    type(block_t), intent(in) :: b
    integer, intent(in) :: m
    integer :: i, j, v
    checksum = m
    do v = 1, n_vars
      do j = 1, nb
        do i = 1, nb
          checksum = ieor(ishftc(checksum, 5), transfer(b%u(i, j, v), checksum))
        end do
      end do
    end do
  end function block_checksum

  ! A point rotated by `angle` about the middle of the vessel.
  pure function turned(point, angle)
    real(dp), intent(in) :: point(2), angle
    real(dp) :: turned(2), arm(2)
    arm = point - 0.5_dp
    turned = 0.5_dp + [cos(angle) * arm(1) - sin(angle) * arm(2), sin(angle) * arm(1) + cos(angle) * arm(2)]
  end function turned
end module report
