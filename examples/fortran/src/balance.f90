! This code's own rebalancer: blocks in curve order, cut into contiguous ranges of equal measured cost.
module balance
  use mpi_f08, only: MPI_Allreduce, MPI_IN_PLACE, MPI_DOUBLE_PRECISION, MPI_SUM
  use clock, only: clock_switch, in_mpi
  use effort, only: effort_begin, effort_end
  use ghosts, only: ghosts_t, ghosts_prepare
  use mesh, only: mesh_t
  use migration, only: migrate
  use parameters, only: dp
  use partition, only: cut
  use regions, only: region_reduce
  implicit none
  private
  public :: balance_equal_counts, balance_by_cost, note_costs

  real(dp), parameter :: memory = 0.75_dp      ! of a block's cost, from step to step

contains

  ! The same number of blocks to every rank; for the start, when no cost is known. Collective.
  subroutine balance_equal_counts(mesh)
    type(mesh_t), intent(inout) :: mesh
    integer :: m, n
    n = size(mesh%tree%leaf)
    call migrate(mesh, [((m - 1) * mesh%n_ranks / n, m=1, n)])
  end subroutine balance_equal_counts

  ! Cuts by the cost of blocks and moves them. With `load`, the expected load of every rank as it owns blocks now, the costs
  ! only tell how that load spreads over the rank's blocks. `moved`: blocks that changed hands. Collective.
  subroutine balance_by_cost(mesh, ghosts, moved, load)
    type(mesh_t), intent(inout) :: mesh
    type(ghosts_t), intent(inout) :: ghosts
    integer, intent(out) :: moved
    real(dp), intent(in), optional :: load(0:)
    real(dp) :: weight(size(mesh%tree%leaf)), total
    integer :: owner(size(mesh%tree%leaf)), rank
    weight = all_costs(mesh)
    if (present(load)) then
      do rank = 0, mesh%n_ranks - 1
        total = sum(weight, mask=mesh%tree%leaf%owner == rank)
        if (total <= 0 .or. load(rank) <= 0) cycle
        where (mesh%tree%leaf%owner == rank) weight = weight * (load(rank) / total)
      end do
    end if
    owner = cut(weight, mesh%n_ranks)
    moved = count(owner /= mesh%tree%leaf%owner)
    if (moved == 0) return
    call migrate(mesh, owner)
    call ghosts_prepare(mesh, ghosts)
  end subroutine balance_by_cost

  ! Smooths the costs of this rank's blocks with those of a finished step, in which the rank computed for `seconds`. What was
  ! not measured block by block (ghost cells, changes of the mesh) falls to all blocks alike.
  subroutine note_costs(mesh, seconds)
    type(mesh_t), intent(inout) :: mesh
    real(dp), intent(in) :: seconds
    real(dp) :: share
    integer :: i
    if (size(mesh%mine) == 0) return
    share = max(seconds - sum(mesh%block(mesh%mine)%this_step), 0.0_dp) / size(mesh%mine)
    do i = 1, size(mesh%mine)
      associate (b => mesh%block(mesh%mine(i)))
        b%cost = memory * b%cost + (1 - memory) * (b%this_step + share)
        b%this_step = 0
      end associate
    end do
  end subroutine note_costs

  ! The costs of all leaves, bitwise the same on all ranks: to each only its owner adds.
  function all_costs(mesh) result(cost)
    type(mesh_t), intent(in) :: mesh
    real(dp) :: cost(size(mesh%tree%leaf))
    integer :: bucket
    cost = 0
    cost(mesh%mine) = mesh%block(mesh%mine)%cost
    call clock_switch(in_mpi, before=bucket)
    call effort_begin(region_reduce)
    call MPI_Allreduce(MPI_IN_PLACE, cost, size(cost), MPI_DOUBLE_PRECISION, MPI_SUM, mesh%comm)
    call effort_end(region_reduce)
    call clock_switch(bucket)
  end function all_costs
end module balance
