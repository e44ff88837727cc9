! The links across block faces, and the messages that carry them between ranks.
!
! A plan is made from the tree alone, so sender and receiver list the links of a message in the same order without
! communication.
module links
  use mpi_f08
  use clock, only: clock_switch, in_mpi
  use effort, only: effort_begin, effort_end
  use mesh, only: mesh_t
  use parameters, only: dp, n_faces
  use regions, only: region_halo
  use tree, only: tree_neighbours
  implicit none
  private
  public :: plan_make, plan_run

  ! How the source's level compares with the destination's.
  integer, parameter, public :: same = 1, finer = 2, coarser = 3

  type, public :: link_t
    integer :: from, to       ! leaves
    integer :: face           ! of `to`
    integer :: kind           ! same, finer or coarser
    integer :: half           ! half of the coarser block's face: 0 low, 1 high
  end type link_t

  type, public :: plan_t
    integer :: words(3) = 0                            ! numbers per link of each kind, 0: no such links
    type(link_t), allocatable :: local(:), send(:), receive(:)
    integer, allocatable :: send_start(:), receive_start(:)  ! word at which each rank's message begins, 0:n_ranks
    real(dp), allocatable :: outgoing(:), incoming(:)
  end type plan_t

  abstract interface
    ! Writes what a link carries, from the cells of link%from.
    subroutine pack_link(mesh, link, words)
      import :: mesh_t, link_t, dp
      type(mesh_t), intent(in) :: mesh
      type(link_t), intent(in) :: link
      real(dp), intent(out) :: words(:)
    end subroutine pack_link
    ! Stores what a link carried in link%to.
    subroutine unpack_link(mesh, link, words)
      import :: mesh_t, link_t, dp
      type(mesh_t), intent(inout) :: mesh
      type(link_t), intent(in) :: link
      real(dp), intent(in) :: words(:)
    end subroutine unpack_link
  end interface

contains

  ! The plan of all links whose kind has words, for the current mesh.
  subroutine plan_make(mesh, words, plan)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: words(3)
    type(plan_t), intent(out) :: plan
    type(link_t), allocatable :: link(:)
    integer, allocatable :: from(:), to(:)
    integer :: m, face, i, n, list(2), n_links
    plan%words = words
    allocate (link(2 * n_faces * size(mesh%tree%leaf)))
    n_links = 0
    do m = 1, size(mesh%tree%leaf)
      do face = 1, n_faces
        call tree_neighbours(mesh%tree, m, face, n, list)
        do i = 1, n
          call add_link(mesh, list(i), m, face, words, link, n_links)
        end do
      end do
    end do
    link = link(:n_links)
    from = mesh%tree%leaf(link%from)%owner
    to = mesh%tree%leaf(link%to)%owner
    plan%local = pack(link, from == mesh%rank .and. to == mesh%rank)
    call group(mesh, pack(link, from == mesh%rank .and. to /= mesh%rank), .true., words, plan%send, plan%send_start)
    call group(mesh, pack(link, from /= mesh%rank .and. to == mesh%rank), .false., words, plan%receive, &
               plan%receive_start)
    allocate (plan%outgoing(plan%send_start(mesh%n_ranks)), plan%incoming(plan%receive_start(mesh%n_ranks)))
  end subroutine plan_make

  ! Carries every link of the plan once. Collective over the ranks that share links.
  subroutine plan_run(mesh, plan, pack_one, unpack_one)
    type(mesh_t), intent(inout) :: mesh
    type(plan_t), intent(inout), asynchronous :: plan
    procedure(pack_link) :: pack_one
    procedure(unpack_link) :: unpack_one
    type(MPI_Request) :: request(2 * mesh%n_ranks)
    real(dp) :: words(maxval(plan%words))
    integer :: i, n, at, n_requests, bucket
    at = 0
    do i = 1, size(plan%send)
      n = plan%words(plan%send(i)%kind)
      call pack_one(mesh, plan%send(i), plan%outgoing(at + 1:at + n))
      at = at + n
    end do
    call clock_switch(in_mpi, before=bucket)
    call effort_begin(region_halo)
    call start_messages(mesh, plan, request, n_requests)
    call effort_end(region_halo)
    call clock_switch(bucket)
    do i = 1, size(plan%local)
      n = plan%words(plan%local(i)%kind)
      call pack_one(mesh, plan%local(i), words(:n))
      call unpack_one(mesh, plan%local(i), words(:n))
    end do
    call clock_switch(in_mpi)
    call effort_begin(region_halo)
    call MPI_Waitall(n_requests, request, MPI_STATUSES_IGNORE)
    call effort_end(region_halo)
    call clock_switch(bucket)
    at = 0
    do i = 1, size(plan%receive)
      n = plan%words(plan%receive(i)%kind)
      call unpack_one(mesh, plan%receive(i), plan%incoming(at + 1:at + n))
      at = at + n
    end do
  end subroutine plan_run

  subroutine start_messages(mesh, plan, request, n_requests)
    type(mesh_t), intent(in) :: mesh
    type(plan_t), intent(inout), asynchronous :: plan
    type(MPI_Request), intent(out) :: request(:)
    integer, intent(out) :: n_requests
    integer :: peer, first, n
    n_requests = 0
    do peer = 0, mesh%n_ranks - 1
      first = plan%receive_start(peer) + 1
      n = plan%receive_start(peer + 1) - plan%receive_start(peer)
      if (n == 0) cycle
      n_requests = n_requests + 1
      call MPI_Irecv(plan%incoming(first), n, MPI_DOUBLE_PRECISION, peer, 0, mesh%comm, request(n_requests))
    end do
    do peer = 0, mesh%n_ranks - 1
      first = plan%send_start(peer) + 1
      n = plan%send_start(peer + 1) - plan%send_start(peer)
      if (n == 0) cycle
      n_requests = n_requests + 1
      call MPI_Isend(plan%outgoing(first), n, MPI_DOUBLE_PRECISION, peer, 0, mesh%comm, request(n_requests))
    end do
  end subroutine start_messages

  subroutine add_link(mesh, from, to, face, words, link, n_links)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: from, to, face, words(3)
    type(link_t), intent(inout) :: link(:)
    integer, intent(inout) :: n_links
    integer :: kind, half, fine
    kind = same
    fine = to
    if (mesh%tree%leaf(from)%level > mesh%tree%leaf(to)%level) then
      kind = finer
      fine = from
    else if (mesh%tree%leaf(from)%level < mesh%tree%leaf(to)%level) then
      kind = coarser
    end if
    if (words(kind) == 0) return
    half = mod(merge(mesh%tree%leaf(fine)%iy, mesh%tree%leaf(fine)%ix, face <= 2), 2)
    n_links = n_links + 1
    link(n_links) = link_t(from, to, face, kind, half)
  end subroutine add_link

  ! Sorts links by the rank at their other end, keeps the order within a rank, and counts each rank's words.
  subroutine group(mesh, link, by_receiver, words, sorted, start)
    type(mesh_t), intent(in) :: mesh
    type(link_t), intent(in) :: link(:)
    logical, intent(in) :: by_receiver
    integer, intent(in) :: words(3)
    type(link_t), allocatable, intent(out) :: sorted(:)
    integer, allocatable, intent(out) :: start(:)
    integer, allocatable :: peer(:)
    integer :: p, first, n
    allocate (start(0:mesh%n_ranks), source=0)
    allocate (sorted(size(link)))
    peer = mesh%tree%leaf(merge(link%to, link%from, by_receiver))%owner
    first = 1
    do p = 0, mesh%n_ranks - 1
      n = count(peer == p)
      sorted(first:first + n - 1) = pack(link, peer == p)
      start(p + 1) = start(p) + sum(words(sorted(first:first + n - 1)%kind))
      first = first + n
    end do
  end subroutine group
end module links
