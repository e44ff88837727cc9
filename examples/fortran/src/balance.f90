! This code's own rebalancer: blocks in curve order, cut into contiguous ranges of equal cost.
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

  ! Predicted costs, which replace the measured costs of the blocks.
  type, public :: forecast_t
    real(dp) :: per_block = -1, per_evaluation = -1    ! seconds per block and evaluation of the rate; < 0: unknown
    real(dp) :: ahead = 0                              ! steps ahead: middle of those to distribute for
    real(dp), allocatable :: load(:)                   ! of each rank with its present blocks, seconds per step; from 1
  end type forecast_t

  real(dp), parameter :: memory = 0.75_dp      ! of a block's cost, from step to step

contains

  ! Gives every rank the same number of blocks. Used at the start, when no cost is known. Collective.
  subroutine balance_equal_counts(mesh)
    type(mesh_t), intent(inout) :: mesh
    integer :: m, n
    n = size(mesh%tree%leaf)
    call migrate(mesh, [((m - 1) * mesh%n_ranks / n, m=1, n)])
  end subroutine balance_equal_counts

  ! Cuts by the measured or predicted cost of blocks and moves them. `moved`: number of blocks that changed owner.
  ! Collective.
  subroutine balance_by_cost(mesh, ghosts, moved, forecast)
    type(mesh_t), intent(inout) :: mesh
    type(ghosts_t), intent(inout) :: ghosts
    integer, intent(out) :: moved
    type(forecast_t), intent(in), optional :: forecast
    integer :: owner(size(mesh%tree%leaf))
    if (present(forecast)) then
      owner = cut(predicted_costs(mesh, forecast), mesh%n_ranks)
    else
      owner = cut(of_all(mesh, mesh%block(mesh%mine)%cost), mesh%n_ranks)
    end if
    moved = count(owner /= mesh%tree%leaf%owner)
    if (moved == 0) return
    call migrate(mesh, owner)
    call ghosts_prepare(mesh, ghosts)
  end subroutine balance_by_cost

  ! Smooths the costs of this rank's blocks with those of a finished step, in which the rank computed for `seconds`.
  ! Costs that are not measured per block (ghost cells, changes of the mesh) are shared equally by all blocks.
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

  ! A block costs its extrapolated evaluations times their unit cost, on any rank. Evaluations are extrapolated because
  ! the front moves; as counts they have no noise that a trend would magnify. If unit costs are not known, the predicted
  ! load of each rank is spread over its blocks in proportion to their measured costs.
  function predicted_costs(mesh, forecast) result(cost)
    type(mesh_t), intent(in) :: mesh
    type(forecast_t), intent(in) :: forecast
    real(dp) :: cost(size(mesh%tree%leaf)), coming(size(mesh%mine)), total
    integer :: rank
    if (forecast%per_block >= 0 .and. forecast%per_evaluation > 0) then
      ! No associate name for the blocks, because gfortran would copy them.
      coming = mesh%block(mesh%mine)%evaluations + forecast%ahead * mesh%block(mesh%mine)%trend
      cost = of_all(mesh, forecast%per_block + forecast%per_evaluation * max(coming, 0.0_dp))
      return
    end if
    cost = of_all(mesh, mesh%block(mesh%mine)%cost)
    do rank = 0, mesh%n_ranks - 1
      total = sum(cost, mask=mesh%tree%leaf%owner == rank)
      if (total <= 0 .or. forecast%load(rank + 1) <= 0) cycle
      where (mesh%tree%leaf%owner == rank) cost = cost * (forecast%load(rank + 1) / total)
    end do
  end function predicted_costs

  ! Gathers one number per leaf from the owners. Bitwise the same on all ranks, because only the owner of a leaf adds to
  ! its sum.
  function of_all(mesh, mine) result(all)
    type(mesh_t), intent(in) :: mesh
    real(dp), intent(in) :: mine(:)
    real(dp) :: all(size(mesh%tree%leaf))
    integer :: bucket
    all = 0
    all(mesh%mine) = mine
    call clock_switch(in_mpi, before=bucket)
    call effort_begin(region_reduce)
    call MPI_Allreduce(MPI_IN_PLACE, all, size(all), MPI_DOUBLE_PRECISION, MPI_SUM, mesh%comm)
    call effort_end(region_reduce)
    call clock_switch(bucket)
  end function of_all
end module balance
