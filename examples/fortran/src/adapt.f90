! Adapts the mesh so that the front stays in fine blocks.
module adapt
  use mpi_f08, only: MPI_Allreduce, MPI_IN_PLACE, MPI_INTEGER, MPI_SUM
  use clock, only: clock_switch, in_mpi
  use effort, only: effort_begin, effort_end
  use mesh, only: mesh_t, block_t, block_create, block_destroy, mesh_find_mine, prolong, restrict
  use migration, only: migrate
  use parameters, only: dp, nb, ng, i_temperature, heat_release
  use regions, only: region_reduce
  use tree, only: leaf_t, keep, refine, coarsen, tree_plan_change, tree_children, tree_parent, tree_index
  implicit none
  private
  public :: adapt_mesh

  ! A block is refined if the temperature jumps by more than the first from cell to cell, and may be coarsened below the
  ! second.
  real(dp), parameter :: refine_jump = 0.03_dp * heat_release, coarsen_jump = 0.006_dp * heat_release

contains

  ! Refines and coarsens blocks by their temperature jumps; ghosts must be filled. New blocks stay on the rank of the
  ! block they came from, so the load shifts with the front. `changed`: whether anything changed, the same on all ranks.
  ! Collective.
  subroutine adapt_mesh(mesh, changed)
    type(mesh_t), intent(inout) :: mesh
    logical, intent(out) :: changed
    integer :: wish(size(mesh%tree%leaf))
    integer :: i
    wish = 0
    do i = 1, size(mesh%mine)
      wish(mesh%mine(i)) = wish_of(mesh%block(mesh%mine(i)))
    end do
    call unite(mesh, wish)
    call tree_plan_change(mesh%tree, wish)
    changed = any(wish /= keep)
    if (.not. changed) return
    call gather_sisters(mesh, wish)
    call rebuild(mesh, wish)
  end subroutine adapt_mesh

  integer function wish_of(b) result(wish)
    type(block_t), intent(in) :: b
    real(dp) :: jump
    associate (t => b%u(:, :, i_temperature))
      ! Ghosts count: the front must not reach cells that are still coarse before the next change.
      jump = max(maxval(abs(t(2:, ng + 1:ng + nb) - t(:nb + 2 * ng - 1, ng + 1:ng + nb))), &
                 maxval(abs(t(ng + 1:ng + nb, 2:) - t(ng + 1:ng + nb, :nb + 2 * ng - 1))))
    end associate
    wish = keep
    if (jump > refine_jump) wish = refine
    if (jump < coarsen_jump) wish = coarsen
  end function wish_of

  ! Each rank sets the entries of its own leaves and has zeros elsewhere.
  subroutine unite(mesh, wish)
    type(mesh_t), intent(in) :: mesh
    integer, intent(inout) :: wish(:)
    integer :: bucket
    call clock_switch(in_mpi, before=bucket)
    call effort_begin(region_reduce)
    call MPI_Allreduce(MPI_IN_PLACE, wish, size(wish), MPI_INTEGER, MPI_SUM, mesh%comm)
    call effort_end(region_reduce)
    call clock_switch(bucket)
  end subroutine unite

  ! Brings four sisters that will merge to the rank of the first.
  subroutine gather_sisters(mesh, wish)
    type(mesh_t), intent(inout) :: mesh
    integer, intent(in) :: wish(:)
    integer :: owner(size(wish)), m
    owner = mesh%tree%leaf%owner
    m = 1
    do while (m <= size(wish))
      if (wish(m) == coarsen) then
        owner(m:m + 3) = owner(m)
        m = m + 4
      else
        m = m + 1
      end if
    end do
    if (any(owner /= mesh%tree%leaf%owner)) call migrate(mesh, owner)
  end subroutine gather_sisters

  ! Replaces leaves as `wish` says and fills the new blocks from the old.
  subroutine rebuild(mesh, wish)
    type(mesh_t), intent(inout) :: mesh
    integer, intent(in) :: wish(:)
    type(leaf_t), allocatable :: old_leaf(:)
    type(block_t), allocatable :: old_block(:)
    integer :: origin(4 * size(wish)), m, i
    call move_alloc(mesh%tree%leaf, old_leaf)
    call move_alloc(mesh%block, old_block)
    call new_leaves(old_leaf, wish, mesh%tree%finest, mesh%tree%leaf, origin)
    allocate (mesh%block(size(mesh%tree%leaf)))
    call tree_index(mesh%tree)
    call mesh_find_mine(mesh)
    do i = 1, size(mesh%mine)
      m = mesh%mine(i)
      select case (wish(origin(m)))
      case (refine);  call from_parent(mesh, m, old_block(origin(m)))
      case (coarsen); call from_children(mesh, m, old_leaf, old_block, origin(m))
      case default;   call move_block(old_block(origin(m)), mesh%block(m))
      end select
    end do
  end subroutine rebuild

  ! The new leaves and, for each, the old leaf it came from (of four merged ones the first).
  subroutine new_leaves(old, wish, finest, leaf, origin)
    type(leaf_t), intent(in) :: old(:)
    integer, intent(in) :: wish(:), finest
    type(leaf_t), allocatable, intent(out) :: leaf(:)
    integer, intent(out) :: origin(:)
    type(leaf_t) :: buffer(4 * size(old))
    integer :: m, n
    n = 0
    m = 1
    do while (m <= size(old))
      select case (wish(m))
      case (refine)
        buffer(n + 1:n + 4) = tree_children(old(m), finest)
        origin(n + 1:n + 4) = m
        n = n + 4
        m = m + 1
      case (coarsen)
        n = n + 1
        buffer(n) = tree_parent(old(m), finest)
        origin(n) = m
        m = m + 4
      case default
        n = n + 1
        buffer(n) = old(m)
        origin(n) = m
        m = m + 1
      end select
    end do
    leaf = buffer(:n)
  end subroutine new_leaves

  subroutine from_parent(mesh, m, parent)
    type(mesh_t), intent(inout) :: mesh
    integer, intent(in) :: m
    type(block_t), intent(in) :: parent
    call block_create(mesh, m)
    associate (leaf => mesh%tree%leaf(m))
      call prolong(parent%u, mod(leaf%ix, 2), mod(leaf%iy, 2), mesh%block(m)%u)
    end associate
    mesh%block(m)%cost = parent%cost       ! as many cells; measured soon
    mesh%block(m)%evaluations = parent%evaluations
  end subroutine from_parent

  subroutine from_children(mesh, m, leaf, block, first)
    type(mesh_t), intent(inout) :: mesh
    integer, intent(in) :: m, first
    type(leaf_t), intent(in) :: leaf(:)
    type(block_t), intent(in) :: block(:)
    integer :: c
    call block_create(mesh, m)
    do c = first, first + 3
      call restrict(block(c)%u, mod(leaf(c)%ix, 2), mod(leaf(c)%iy, 2), mesh%block(m)%u)
    end do
    mesh%block(m)%cost = 0.25_dp * sum(block(first:first + 3)%cost)
    mesh%block(m)%evaluations = 0.25_dp * sum(block(first:first + 3)%evaluations)
  end subroutine from_children

  subroutine move_block(from, to)
    type(block_t), intent(inout) :: from, to
    call move_alloc(from%u, to%u)
    call move_alloc(from%before, to%before)
    call move_alloc(from%vx, to%vx)
    call move_alloc(from%vy, to%vy)
    call move_alloc(from%flux, to%flux)
    call move_alloc(from%fine_flux, to%fine_flux)
    to%cost = from%cost
    to%this_step = from%this_step
    to%evaluations = from%evaluations
    to%trend = from%trend
    call block_destroy(from)
  end subroutine move_block
end module adapt
