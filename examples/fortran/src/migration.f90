! Moves blocks to new owners.
module migration
  use mpi_f08
  use clock, only: clock_switch, in_mpi
  use effort, only: effort_begin, effort_end
  use mesh, only: mesh_t, block_create, block_destroy, mesh_find_mine
  use parameters, only: dp, nb, n_vars
  use regions, only: region_migrate
  implicit none
  private
  public :: migrate

  integer, parameter :: cell_words = nb * nb * n_vars
  integer, parameter :: block_words = cell_words + 3     ! the cells; cost, evaluations, trend

contains

  ! Gives each leaf to the rank in `owner`, which must be the same on all ranks. Ghost cells do not travel. Collective.
  subroutine migrate(mesh, owner)
    type(mesh_t), intent(inout) :: mesh
    integer, intent(in) :: owner(:)
    integer, allocatable :: leaving(:), coming(:)
    integer :: old(size(owner))
    real(dp), allocatable :: outgoing(:, :), incoming(:, :)
    integer :: m, i
    old = mesh%tree%leaf%owner
    leaving = pack([(m, m=1, size(owner))], old == mesh%rank .and. owner /= mesh%rank)
    coming = pack([(m, m=1, size(owner))], old /= mesh%rank .and. owner == mesh%rank)
    allocate (outgoing(block_words, size(leaving)), incoming(block_words, size(coming)))
    do i = 1, size(leaving)
      associate (b => mesh%block(leaving(i)))
        outgoing(:cell_words, i) = reshape(b%u(1:nb, 1:nb, :), [cell_words])
        outgoing(cell_words + 1:, i) = [b%cost, b%evaluations, b%trend]
      end associate
      call block_destroy(mesh%block(leaving(i)))
    end do
    call exchange(mesh%comm, outgoing, owner(leaving), leaving, incoming, old(coming), coming)
    do i = 1, size(coming)
      call block_create(mesh, coming(i))
      associate (b => mesh%block(coming(i)))
        b%u(1:nb, 1:nb, :) = reshape(incoming(:cell_words, i), [nb, nb, n_vars])
        b%cost = incoming(cell_words + 1, i)
        b%evaluations = incoming(cell_words + 2, i)
        b%trend = incoming(cell_words + 3, i)
      end associate
    end do
    mesh%tree%leaf%owner = owner
    call mesh_find_mine(mesh)
  end subroutine migrate

  ! One message per block; the leaf's number is the tag.
  subroutine exchange(comm, outgoing, receiver, leaving, incoming, sender, coming)
    type(MPI_Comm), intent(in) :: comm
    real(dp), intent(in), asynchronous :: outgoing(:, :)
    integer, intent(in) :: receiver(:), leaving(:), sender(:), coming(:)
    real(dp), intent(inout), asynchronous :: incoming(:, :)
    type(MPI_Request) :: request(size(leaving) + size(coming))
    integer :: i, bucket
    call clock_switch(in_mpi, before=bucket)
    call effort_begin(region_migrate)
    do i = 1, size(coming)
      call MPI_Irecv(incoming(1, i), block_words, MPI_DOUBLE_PRECISION, sender(i), coming(i), comm, request(i))
    end do
    do i = 1, size(leaving)
      call MPI_Isend(outgoing(1, i), block_words, MPI_DOUBLE_PRECISION, receiver(i), leaving(i), comm, &
                     request(size(coming) + i))
    end do
    call MPI_Waitall(size(request), request, MPI_STATUSES_IGNORE)
    call effort_end(region_migrate)
    call clock_switch(bucket)
  end subroutine exchange
end module migration
