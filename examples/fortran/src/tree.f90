! The quadtree of blocks: its leaves in the order of the Hilbert curve, the same on every rank.
!
! A leaf of level l is one of 2^l by 2^l squares that tile the vessel. Leaves that share a face differ by at most one
! level. The tree holds no field data and needs no communication: all ranks change it in the same way from the same
! flags.
module tree
  use, intrinsic :: iso_fortran_env, only: int64
  use parameters, only: n_faces
  implicit none
  private
  public :: tree_create, tree_neighbours, tree_plan_change, tree_children, tree_parent, tree_index, opposite

  integer, parameter, public :: keep = 0, refine = 1, coarsen = -1

  type, public :: leaf_t
    integer :: level, ix, iy            ! column and row among 2^level squares, from 0
    integer :: owner                    ! rank that holds its cells
    integer(int64) :: key               ! place on the Hilbert curve
  end type leaf_t

  type, public :: tree_t
    integer :: base, finest
    type(leaf_t), allocatable :: leaf(:)
    integer, allocatable :: at(:, :)    ! leaf that covers a square of the finest level
  end type tree_t

  integer, parameter :: step_x(n_faces) = [-1, 1, 0, 0], step_y(n_faces) = [0, 0, -1, 1]

contains

  ! All leaves of level `base`, owned by rank 0.
  subroutine tree_create(tree, base, finest)
    type(tree_t), intent(out) :: tree
    integer, intent(in) :: base, finest
    integer :: l
    tree%base = base
    tree%finest = finest
    allocate (tree%leaf(1), tree%at(0:2**finest - 1, 0:2**finest - 1))
    tree%leaf(1) = leaf_t(0, 0, 0, 0, 0_int64)
    do l = 1, base
      call refine_all(tree)
    end do
    call tree_index(tree)
  end subroutine tree_create

  ! Rebuilds the map from places to leaves. Must be called whenever the leaves have changed.
  subroutine tree_index(tree)
    type(tree_t), intent(inout) :: tree
    integer :: m, side, x, y
    do m = 1, size(tree%leaf)
      associate (leaf => tree%leaf(m))
        side = 2**(tree%finest - leaf%level)
        x = leaf%ix * side
        y = leaf%iy * side
        tree%at(x:x + side - 1, y:y + side - 1) = m
      end associate
    end do
  end subroutine tree_index

  ! The leaves across a face of leaf m: none at a wall, one of the same or a coarser level, or two finer ones in the
  ! order of the coordinate along the face.
  pure subroutine tree_neighbours(tree, m, face, n, list)
    type(tree_t), intent(in) :: tree
    integer, intent(in) :: m, face
    integer, intent(out) :: n, list(2)
    integer :: level, side, x, y, half
    level = tree%leaf(m)%level
    x = tree%leaf(m)%ix + step_x(face)
    y = tree%leaf(m)%iy + step_y(face)
    n = 0
    list = 0
    if (min(x, y) < 0 .or. max(x, y) >= 2**level) return
    ! The square of the finest level that touches the face, at its low end.
    side = 2**(tree%finest - level)
    half = side / 2
    x = x * side + merge(side - 1, 0, face == 1)
    y = y * side + merge(side - 1, 0, face == 3)
    n = 1
    list(1) = tree%at(x, y)
    if (tree%leaf(list(1))%level <= level) return
    n = 2
    list(2) = tree%at(x + half * abs(step_y(face)), y + half * abs(step_x(face)))
  end subroutine tree_neighbours

  pure integer function opposite(face)
    integer, intent(in) :: face
    opposite = ieor(face - 1, 1) + 1
  end function opposite

  ! Reduces wishes (keep, refine, coarsen per leaf) to changes that are possible: no level beyond the limits, at most
  ! one level between neighbours, and coarsening only if all four children want it.
  subroutine tree_plan_change(tree, wish)
    type(tree_t), intent(in) :: tree
    integer, intent(inout) :: wish(:)
    integer :: m
    where (tree%leaf%level >= tree%finest .and. wish == refine) wish = keep
    where (tree%leaf%level <= tree%base .and. wish == coarsen) wish = keep
    call refine_around(tree, wish)
    m = 1
    do while (m <= size(wish))
      if (wish(m) == coarsen) then
        if (can_merge(tree, wish, m)) then
          m = m + 4
          cycle
        end if
        wish(m) = keep
      end if
      m = m + 1
    end do
  end subroutine tree_plan_change

  ! The four children of a leaf, in curve order, owned by the owner of the leaf.
  pure function tree_children(leaf, finest) result(child)
    type(leaf_t), intent(in) :: leaf
    integer, intent(in) :: finest
    type(leaf_t) :: child(4), swap
    integer :: c, d
    do c = 1, 4
      child(c)%level = leaf%level + 1
      child(c)%ix = 2 * leaf%ix + mod(c - 1, 2)
      child(c)%iy = 2 * leaf%iy + (c - 1) / 2
      child(c)%owner = leaf%owner
      child(c)%key = hilbert_key(child(c)%level, child(c)%ix, child(c)%iy, finest)
      do d = c, 2, -1
        if (child(d - 1)%key < child(d)%key) exit
        swap = child(d)
        child(d) = child(d - 1)
        child(d - 1) = swap
      end do
    end do
  end function tree_children

  ! The parent of a leaf, owned by the owner of the leaf.
  pure type(leaf_t) function tree_parent(leaf, finest) result(parent)
    type(leaf_t), intent(in) :: leaf
    integer, intent(in) :: finest
    parent%level = leaf%level - 1
    parent%ix = leaf%ix / 2
    parent%iy = leaf%iy / 2
    parent%owner = leaf%owner
    parent%key = hilbert_key(parent%level, parent%ix, parent%iy, finest)
  end function tree_parent

  ! Refines the coarser neighbours of refined leaves, until neighbours differ by one level at most.
  subroutine refine_around(tree, wish)
    type(tree_t), intent(in) :: tree
    integer, intent(inout) :: wish(:)
    integer :: m, face, n, list(2)
    logical :: changed
    changed = .true.
    do while (changed)
      changed = .false.
      do m = 1, size(wish)
        if (wish(m) /= refine) cycle
        do face = 1, n_faces
          call tree_neighbours(tree, m, face, n, list)
          if (n /= 1) cycle
          if (tree%leaf(list(1))%level >= tree%leaf(m)%level .or. wish(list(1)) == refine) cycle
          wish(list(1)) = refine
          changed = .true.
        end do
      end do
    end do
  end subroutine refine_around

  ! Whether leaf m is the first of four sisters that all want to merge and whose neighbours allow it.
  logical function can_merge(tree, wish, m)
    type(tree_t), intent(in) :: tree
    integer, intent(in) :: wish(:), m
    integer :: c, face, n, i, list(2), level
    type(leaf_t) :: parent
    can_merge = .false.
    if (m + 3 > size(wish)) return
    if (any(wish(m:m + 3) /= coarsen)) return
    parent = tree_parent(tree%leaf(m), tree%finest)
    level = tree%leaf(m)%level
    do c = m, m + 3
      if (tree%leaf(c)%level /= level) return
      if (tree%leaf(c)%ix / 2 /= parent%ix .or. tree%leaf(c)%iy / 2 /= parent%iy) return
      do face = 1, n_faces
        call tree_neighbours(tree, c, face, n, list)
        do i = 1, n
          if (tree%leaf(list(i))%level + merge(1, 0, wish(list(i)) == refine) > level) return
        end do
      end do
    end do
    can_merge = .true.
  end function can_merge

  subroutine refine_all(tree)
    type(tree_t), intent(inout) :: tree
    type(leaf_t), allocatable :: finer(:)
    integer :: m
    allocate (finer(4 * size(tree%leaf)))
    do m = 1, size(tree%leaf)
      finer(4 * m - 3:4 * m) = tree_children(tree%leaf(m), tree%finest)
    end do
    call move_alloc(finer, tree%leaf)
  end subroutine refine_all

  ! Place of the square (ix, iy) of a level on the Hilbert curve through the squares of the finest level. It is made of
  ! the quadrant's number at each level from the coarsest on; the frame is turned so that the curve stays connected.
  pure integer(int64) function hilbert_key(level, ix, iy, finest)
    integer, intent(in) :: level, ix, iy, finest
    integer :: x, y, s, right, upper, swap
    x = ix
    y = iy
    hilbert_key = 0
    s = 2**level / 2
    do while (s > 0)
      right = merge(1, 0, iand(x, s) /= 0)
      upper = merge(1, 0, iand(y, s) /= 0)
      hilbert_key = 4 * hilbert_key + ieor(3 * right, upper)
      x = iand(x, s - 1)
      y = iand(y, s - 1)
      if (upper == 0) then
        if (right == 1) then
          x = s - 1 - x
          y = s - 1 - y
        end if
        swap = x
        x = y
        y = swap
      end if
      s = s / 2
    end do
    hilbert_key = hilbert_key * 4_int64**(finest - level)
  end function hilbert_key
end module tree
