! The mesh as one rank holds it: the tree, which all ranks know, and the cells of the blocks that this rank owns.
module mesh
  use mpi_f08, only: MPI_Comm
  use parameters, only: dp, nb, ng, n_vars, n_faces, omega, r_solid, r_rest
  use tree, only: tree_t
  implicit none
  private
  public :: block_create, block_destroy, mesh_find_mine, cell_width, low_corner, face_cell, minmod, prolong, restrict

  type, public :: block_t
    real(dp), allocatable :: u(:, :, :)           ! fields with ghost layers
    real(dp), allocatable :: before(:, :, :)      ! fields at the start of the step
    real(dp), allocatable :: vx(:, :), vy(:, :)   ! speed normal to each cell face
    real(dp), allocatable :: flux(:, :, :)        ! outer fluxes of the step: along the face, field, face
    real(dp), allocatable :: fine_flux(:, :, :)   ! the same as computed by finer neighbours
    logical :: finer(n_faces) = .false.           ! faces with finer neighbours
    logical :: wall(n_faces) = .false.            ! faces at the wall of the vessel
    real(dp) :: cost = 0                          ! CPU seconds per step, smoothed
    real(dp) :: this_step = 0                     ! CPU seconds in the current step so far
    real(dp) :: evaluations = 0                   ! of the burning rate, in the last step
    real(dp) :: trend = 0                         ! their change per step, smoothed
  end type block_t

  type, public :: mesh_t
    type(MPI_Comm) :: comm
    integer :: rank = 0, n_ranks = 1
    type(tree_t) :: tree
    type(block_t), allocatable :: block(:)        ! one per leaf; only those of `mine` hold cells
    integer, allocatable :: mine(:)               ! leaves of this rank
    real(dp) :: diffusivity = 0, rate = 0         ! of the flame, set for the finest cells
  end type mesh_t

contains

  ! Makes room for the cells of leaf m and sets the speeds on their faces.
  subroutine block_create(mesh, m)
    type(mesh_t), intent(inout) :: mesh
    integer, intent(in) :: m
    associate (b => mesh%block(m))
      allocate (b%u(1 - ng:nb + ng, 1 - ng:nb + ng, n_vars), source=0.0_dp)
      allocate (b%before(nb, nb, n_vars))
      allocate (b%vx(0:nb, nb), b%vy(nb, 0:nb))
      allocate (b%flux(nb, n_vars, n_faces), b%fine_flux(nb, n_vars, n_faces))
      call set_speeds(b, low_corner(mesh, m), cell_width(mesh, m))
    end associate
  end subroutine block_create

  subroutine block_destroy(block)
    type(block_t), intent(inout) :: block
    type(block_t) :: empty
    block = empty
  end subroutine block_destroy

  ! Lists the leaves of this rank. Must be called whenever owners or leaves have changed.
  subroutine mesh_find_mine(mesh)
    type(mesh_t), intent(inout) :: mesh
    integer :: m
    mesh%mine = pack([(m, m=1, size(mesh%tree%leaf))], mesh%tree%leaf%owner == mesh%rank)
  end subroutine mesh_find_mine

  pure real(dp) function cell_width(mesh, m)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: m
    cell_width = 1.0_dp / (nb * 2**mesh%tree%leaf(m)%level)
  end function cell_width

  pure function low_corner(mesh, m) result(corner)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: m
    real(dp) :: corner(2)
    corner = nb * cell_width(mesh, m) * [mesh%tree%leaf(m)%ix, mesh%tree%leaf(m)%iy]
  end function low_corner

  ! Cell number `along` of the layer that lies `depth` cells inside a face (1 at the face; 0, -1 are ghosts).
  pure function face_cell(face, depth, along) result(ij)
    integer, intent(in) :: face, depth, along
    integer :: ij(2)
    select case (face)
    case (1);     ij = [depth, along]
    case (2);     ij = [nb + 1 - depth, along]
    case (3);     ij = [along, depth]
    case default; ij = [along, nb + 1 - depth]
    end select
  end function face_cell

  elemental real(dp) function minmod(a, b)
    real(dp), intent(in) :: a, b
    minmod = 0.5_dp * (sign(1.0_dp, a) + sign(1.0_dp, b)) * min(abs(a), abs(b))
  end function minmod

  ! Fills the cells of the child in quadrant (qx, qy) from those of its parent, whose ghosts must be filled: linear with
  ! limited slopes, so the sum over four cells is four times the parent's and no value exceeds the neighbours' extremes.
  subroutine prolong(parent, qx, qy, child)
    real(dp), intent(in) :: parent(1 - ng:, 1 - ng:, :)
    integer, intent(in) :: qx, qy
    real(dp), intent(inout) :: child(1 - ng:, 1 - ng:, :)
    integer :: i, j, v, p, q
    real(dp) :: c, sx, sy
    do v = 1, n_vars
      do j = 1, nb / 2
        q = j + qy * nb / 2
        do i = 1, nb / 2
          p = i + qx * nb / 2
          c = parent(p, q, v)
          sx = 0.25_dp * minmod(c - parent(p - 1, q, v), parent(p + 1, q, v) - c)
          sy = 0.25_dp * minmod(c - parent(p, q - 1, v), parent(p, q + 1, v) - c)
          child(2 * i - 1, 2 * j - 1, v) = c - sx - sy
          child(2 * i, 2 * j - 1, v) = c + sx - sy
          child(2 * i - 1, 2 * j, v) = c - sx + sy
          child(2 * i, 2 * j, v) = c + sx + sy
        end do
      end do
    end do
  end subroutine prolong

  ! Fills a quarter of the parent's cells with means of the cells of the child in quadrant (qx, qy).
  subroutine restrict(child, qx, qy, parent)
    real(dp), intent(in) :: child(1 - ng:, 1 - ng:, :)
    integer, intent(in) :: qx, qy
    real(dp), intent(inout) :: parent(1 - ng:, 1 - ng:, :)
    integer :: i, j, v
    do v = 1, n_vars
      do j = 1, nb / 2
        do i = 1, nb / 2
          parent(i + qx * nb / 2, j + qy * nb / 2, v) = 0.25_dp * &
            ((child(2 * i - 1, 2 * j - 1, v) + child(2 * i, 2 * j - 1, v)) &
             + (child(2 * i - 1, 2 * j, v) + child(2 * i, 2 * j, v)))
        end do
      end do
    end do
  end subroutine restrict

  ! Speeds through the cell faces are differences of the stream function at their ends. So no cell gains or loses
  ! volume, and the speeds through two fine faces add up to that through the coarse face they form.
  subroutine set_speeds(b, corner, h)
    type(block_t), intent(inout) :: b
    real(dp), intent(in) :: corner(2), h
    real(dp) :: psi(0:nb, 0:nb)
    integer :: i, j
    do j = 0, nb
      do i = 0, nb
        psi(i, j) = stream_function(corner(1) + i * h, corner(2) + j * h)
      end do
    end do
    b%vx = (psi(:, 1:nb) - psi(:, 0:nb - 1)) / h
    b%vy = -(psi(1:nb, :) - psi(0:nb - 1, :)) / h
  end subroutine set_speeds

  ! Solid rotation inside r_solid, rest outside r_rest; between them the speed falls linearly.
  pure real(dp) function stream_function(x, y) result(psi)
    real(dp), intent(in) :: x, y
    real(dp) :: r, width, s
    r = sqrt((x - 0.5_dp)**2 + (y - 0.5_dp)**2)
    width = r_rest - r_solid
    s = min(max((r - r_solid) / width, 0.0_dp), 1.0_dp)
    ! d psi / d r = -omega r_solid (1 - s) in the layer
    psi = -0.5_dp * omega * min(r, r_solid)**2 - omega * r_solid * width * (s - 0.5_dp * s**2)
  end function stream_function
end module mesh
