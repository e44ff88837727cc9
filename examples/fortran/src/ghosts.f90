! Fills the ghost cells of blocks from their neighbours, and corrects the mass balance between coarse and fine blocks.
module ghosts
  use links, only: plan_t, link_t, plan_make, plan_run, same, finer, coarser
  use mesh, only: mesh_t, block_t, face_cell, minmod, cell_width
  use parameters, only: dp, nb, ng, n_vars, n_faces
  use tree, only: tree_neighbours, opposite
  implicit none
  private
  public :: ghosts_prepare, ghosts_fill, ghosts_reflux

  type, public :: ghosts_t
    type(plan_t) :: cells, fluxes
  end type ghosts_t

contains

  ! Must be called whenever owners or leaves have changed.
  subroutine ghosts_prepare(mesh, ghosts)
    type(mesh_t), intent(inout) :: mesh
    type(ghosts_t), intent(inout) :: ghosts
    integer :: i, m, face, n, list(2)
    call plan_make(mesh, ng * n_vars * [nb, nb / 2, nb / 2 + 2], ghosts%cells)
    call plan_make(mesh, n_vars * [0, nb / 2, 0], ghosts%fluxes)
    do i = 1, size(mesh%mine)
      m = mesh%mine(i)
      do face = 1, n_faces
        call tree_neighbours(mesh%tree, m, face, n, list)
        mesh%block(m)%wall(face) = n == 0
        mesh%block(m)%finer(face) = n == 2
      end do
    end do
  end subroutine ghosts_prepare

  ! Fills all ghost cells except those at corners, which are never read. Collective.
  subroutine ghosts_fill(mesh, ghosts)
    type(mesh_t), intent(inout) :: mesh
    type(ghosts_t), intent(inout) :: ghosts
    integer :: i, face
    call plan_run(mesh, ghosts%cells, pack_cells, unpack_cells)
    do i = 1, size(mesh%mine)
      do face = 1, n_faces
        if (mesh%block(mesh%mine(i))%wall(face)) call mirror(mesh%block(mesh%mine(i)), face)
      end do
    end do
  end subroutine ghosts_fill

  ! In the coarse cells along faces with finer neighbours, replaces the flux used in the step by that of the fine cells,
  ! so that exactly the amount that leaves one side enters the other. Collective.
  subroutine ghosts_reflux(mesh, ghosts, dt)
    type(mesh_t), intent(inout) :: mesh
    type(ghosts_t), intent(inout) :: ghosts
    real(dp), intent(in) :: dt
    integer :: i, face
    call plan_run(mesh, ghosts%fluxes, pack_fluxes, unpack_fluxes)
    ! Faces are corrected in a fixed order, not in that of the messages: a corner cell gets two corrections, and their
    ! sum must not depend on the owners of the blocks.
    do i = 1, size(mesh%mine)
      do face = 1, n_faces
        if (.not. mesh%block(mesh%mine(i))%finer(face)) cycle
        call correct(mesh%block(mesh%mine(i)), face, dt / cell_width(mesh, mesh%mine(i)))
      end do
    end do
  end subroutine ghosts_reflux

  subroutine pack_cells(mesh, link, words)
    type(mesh_t), intent(in) :: mesh
    type(link_t), intent(in) :: link
    real(dp), intent(out) :: words(:)
    integer :: face
    face = opposite(link%face)
    associate (u => mesh%block(link%from)%u)
      select case (link%kind)
      case (same);    call pack_strip(u, face, 1, nb, words)
      case (coarser); call pack_strip(u, face, link%half * nb / 2, nb / 2 + 2, words)
      case (finer);   call pack_means(u, face, words)
      end select
    end associate
  end subroutine pack_cells

  ! ng layers of `n` cells from number `first` on; beyond the end of the face, its last cell is repeated.
  subroutine pack_strip(u, face, first, n, words)
    real(dp), intent(in) :: u(1 - ng:, 1 - ng:, :)
    integer, intent(in) :: face, first, n
    real(dp), intent(out) :: words(n, ng, n_vars)
    integer :: k, t, ij(2)
    do k = 1, ng
      do t = 1, n
        ij = face_cell(face, k, min(max(first + t - 1, 1), nb))
        words(t, k, :) = u(ij(1), ij(2), :)
      end do
    end do
  end subroutine pack_strip

  ! ng layers of means over 2 by 2 cells.
  subroutine pack_means(u, face, words)
    real(dp), intent(in) :: u(1 - ng:, 1 - ng:, :)
    integer, intent(in) :: face
    real(dp), intent(out) :: words(nb / 2, ng, n_vars)
    integer :: k, t, lo(2), hi(2), v
    do v = 1, n_vars
      do k = 1, ng
        do t = 1, nb / 2
          lo = face_cell(face, 2 * k - 1, 2 * t - 1)
          hi = face_cell(face, 2 * k, 2 * t)
          words(t, k, v) = 0.25_dp * ((u(lo(1), lo(2), v) + u(hi(1), lo(2), v)) &
                                      + (u(lo(1), hi(2), v) + u(hi(1), hi(2), v)))
        end do
      end do
    end do
  end subroutine pack_means

  subroutine unpack_cells(mesh, link, words)
    type(mesh_t), intent(inout) :: mesh
    type(link_t), intent(in) :: link
    real(dp), intent(in) :: words(:)
    associate (u => mesh%block(link%to)%u)
      select case (link%kind)
      case (same);    call unpack_strip(u, link%face, 0, nb, words)
      case (finer);   call unpack_strip(u, link%face, link%half * nb / 2, nb / 2, words)
      case (coarser); call unpack_prolonged(u, link%face, words)
      end select
    end associate
  end subroutine unpack_cells

  subroutine unpack_strip(u, face, offset, n, words)
    real(dp), intent(inout) :: u(1 - ng:, 1 - ng:, :)
    integer, intent(in) :: face, offset, n
    real(dp), intent(in) :: words(n, ng, n_vars)
    integer :: k, t, ij(2)
    do k = 1, ng
      do t = 1, n
        ij = face_cell(face, 1 - k, t + offset)
        u(ij(1), ij(2), :) = words(t, k, :)
      end do
    end do
  end subroutine unpack_strip

  ! Ghosts from coarser cells: linear with limited slopes. Along the face the slope is that of the coarse cells. Across
  ! it, the mean of this block's own cells serves as the value on the near side.
  subroutine unpack_prolonged(u, face, words)
    real(dp), intent(inout) :: u(1 - ng:, 1 - ng:, :)
    integer, intent(in) :: face
    real(dp), intent(in) :: words(0:nb / 2 + 1, ng, n_vars)
    integer :: t, k, v, side, ij(2), lo(2), hi(2)
    real(dp) :: c, near, across, along
    do v = 1, n_vars
      do t = 1, nb / 2
        c = words(t, 1, v)
        lo = face_cell(face, 1, 2 * t - 1)
        hi = face_cell(face, 2, 2 * t)
        near = 0.25_dp * ((u(lo(1), lo(2), v) + u(hi(1), lo(2), v)) + (u(lo(1), hi(2), v) + u(hi(1), hi(2), v)))
        across = 0.25_dp * minmod(c - near, words(t, 2, v) - c)
        along = 0.25_dp * minmod(c - words(t - 1, 1, v), words(t + 1, 1, v) - c)
        do k = 1, ng
          do side = 0, 1
            ij = face_cell(face, 1 - k, 2 * t - 1 + side)
            u(ij(1), ij(2), v) = c + (2 * k - 3) * across + (2 * side - 1) * along
          end do
        end do
      end do
    end do
  end subroutine unpack_prolonged

  ! A wall mirrors the inside, so nothing flows or diffuses through it.
  subroutine mirror(b, face)
    type(block_t), intent(inout) :: b
    integer, intent(in) :: face
    integer :: k, t, inside(2), ghost(2)
    do k = 1, ng
      do t = 1, nb
        inside = face_cell(face, k, t)
        ghost = face_cell(face, 1 - k, t)
        b%u(ghost(1), ghost(2), :) = b%u(inside(1), inside(2), :)
      end do
    end do
  end subroutine mirror

  subroutine pack_fluxes(mesh, link, words)
    type(mesh_t), intent(in) :: mesh
    type(link_t), intent(in) :: link
    real(dp), intent(out) :: words(:)
    associate (flux => mesh%block(link%from)%flux(:, :, opposite(link%face)))
      words = reshape(0.5_dp * (flux(1:nb:2, :) + flux(2:nb:2, :)), [nb / 2 * n_vars])
    end associate
  end subroutine pack_fluxes

  subroutine unpack_fluxes(mesh, link, words)
    type(mesh_t), intent(inout) :: mesh
    type(link_t), intent(in) :: link
    real(dp), intent(in) :: words(:)
    integer :: first
    first = link%half * nb / 2
    mesh%block(link%to)%fine_flux(first + 1:first + nb / 2, :, link%face) = reshape(words, [nb / 2, n_vars])
  end subroutine unpack_fluxes

  subroutine correct(b, face, dt_by_h)
    type(block_t), intent(inout) :: b
    integer, intent(in) :: face
    real(dp), intent(in) :: dt_by_h
    integer :: t, ij(2)
    real(dp) :: outward
    outward = merge(1.0_dp, -1.0_dp, face == 2 .or. face == 4)
    do t = 1, nb
      ij = face_cell(face, 1, t)
      b%u(ij(1), ij(2), :) = b%u(ij(1), ij(2), :) + outward * dt_by_h * (b%flux(t, :, face) - b%fine_flux(t, :, face))
    end do
  end subroutine correct
end module ghosts
