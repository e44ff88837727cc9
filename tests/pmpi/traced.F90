! Messages of a Fortran program, with "mpi" (TEST_MPI), "mpi_f08" (TEST_MPI_F08) or mpif.h: statuses that are ignored
! and others, wildcards, persistent requests, MPI_IN_PLACE, Testany and Testsome, whose places count from 1, one-sided
! communication, and functions of MPI 4.
program traced
#if defined(TEST_MPI_F08)
  use mpi_f08
#elif defined(TEST_MPI)
  use mpi
#endif
  use, intrinsic :: iso_c_binding
  implicit none
#if !defined(TEST_MPI_F08) && !defined(TEST_MPI)
  include 'mpif.h'
#endif
  interface
    subroutine expect_begin(rank, thread) bind(C)
      import :: c_int
      integer(c_int), value :: rank, thread
    end subroutine
    subroutine expect_end() bind(C)
    end subroutine
    subroutine expect_c(kind, comm, peer, tag, bytes, received, request) bind(C, name="expect")
      import :: c_int, c_long, c_char
      character(kind=c_char), intent(in) :: kind(*), comm(*)
      integer(c_int), value :: peer, tag, request
      integer(c_long), value :: bytes, received
    end subroutine
  end interface
#ifdef TEST_MPI_F08
#define REQUEST type(MPI_Request)
#define STATUS(name) type(MPI_Status) :: name
#define SOURCE_OF(name) name%MPI_SOURCE
#define TAG_OF(name) name%MPI_TAG
#define COMM type(MPI_Comm)
#define WINDOW type(MPI_Win)
#else
#define REQUEST integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define SOURCE_OF(name) name(MPI_SOURCE)
#define TAG_OF(name) name(MPI_TAG)
#define COMM integer
#define WINDOW integer
#endif
  REQUEST :: r(3)
  STATUS(one)
  COMM :: pair
  WINDOW :: win
  integer(kind=MPI_ADDRESS_KIND) :: place, length
  integer :: rank, ranks, next, before, ierror, i, index, got, outcount, places(3), others
  double precision :: x(10), y(10, 3)
  logical :: flag, wrong
  double precision, asynchronous :: memory(8)
  wrong = .false.
  x = 1
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  others = ranks - 1
  do i = 1, 3
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  call expect_begin(rank, 0)
  call mark(7771)

  ! Blocking.
  call expect("send", "world", next, 1, 80, 0, 0)
  call expect("receive", "world", before, 1, 80, 0, 0)
  call MPI_Sendrecv(x, 10, MPI_DOUBLE_PRECISION, next, 1, y, 10, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call expect("send", "world", next, 2, 8, 0, 0)
  call expect("receive", "world", before, 2, 8, 0, 0)
  call MPI_Sendrecv(x, 1, MPI_DOUBLE_PRECISION, next, 2, y, 10, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 2, &
    MPI_COMM_WORLD, one, ierror)
  wrong = wrong .or. SOURCE_OF(one) /= before

  ! Wildcards whose statuses are ignored.
  do i = 1, 3
    call expect("receive_start", "world", -1, 10 + i, 0, 0, i)
    call MPI_Irecv(y(:, i), 10, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 10 + i, MPI_COMM_WORLD, r(i), ierror)
  end do
  call MPI_Testany(3, r, index, flag, MPI_STATUS_IGNORE, ierror)
  wrong = wrong .or. flag
  call barrier()
  call send_to_next(12, 2)
#ifdef TEST_PLACES_COUNT_FROM_ZERO
  index = 2
  call MPI_Wait(r(2), MPI_STATUS_IGNORE, ierror)
#else
  call MPI_Waitany(3, r, index, MPI_STATUS_IGNORE, ierror)
#endif
  call expect("receive_done", "world", before, 12, 16, 0, 2)
  wrong = wrong .or. index /= 2
  call barrier()
  call send_to_next(13, 3)
#ifdef TEST_PLACES_COUNT_FROM_ZERO
  places(1) = 3
  call MPI_Wait(r(3), MPI_STATUS_IGNORE, ierror)
#else
  do
    call MPI_Testsome(3, r, outcount, places, MPI_STATUSES_IGNORE, ierror)
    if (outcount > 0) exit
  end do
#endif
  call expect("receive_done", "world", before, 13, 24, 0, 3)
  wrong = wrong .or. places(1) /= 3
  call barrier()
  call send_to_next(11, 1)
  call MPI_Waitall(3, r, MPI_STATUSES_IGNORE, ierror)
  call expect("receive_done", "world", before, 11, 8, 0, 1)
  call barrier()

  ! Persistent.
  call MPI_Send_init(x, 4, MPI_DOUBLE_PRECISION, next, 20, MPI_COMM_WORLD, r(1), ierror)
  call MPI_Recv_init(y, 10, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, r(2), ierror)
  do i = 1, 2
    call expect("send_start", "world", next, 20, 32, 0, 100 * i)
    call expect("receive_start", "world", -1, 20, 0, 0, 100 * i + 1)
    call MPI_Startall(2, r, ierror)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierror)
    call expect("send_done", "", -1, 0, 0, 0, 100 * i)
    call expect("receive_done", "world", before, 20, 32, 0, 100 * i + 1)
  end do
  call MPI_Request_free(r(1), ierror)
  call MPI_Request_free(r(2), ierror)
  call barrier()

  ! A receive that is cancelled.
  call expect("receive_start", "world", before, 30, 0, 0, 300)
  call MPI_Irecv(y, 1, MPI_DOUBLE_PRECISION, before, 30, MPI_COMM_WORLD, r(1), ierror)
  call MPI_Cancel(r(1), ierror)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierror)
  call expect("request_cancelled", "", -1, 0, 0, 0, 300)

  ! Collectives.
  call expect("collective", "world", -1, 0, 8 * others, 8 * others, 0)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierror)
  if (rank == 0) then
    call expect("collective", "world", 0, 0, 0, 16 * others, 0)
    call MPI_Gather(MPI_IN_PLACE, 2, MPI_DOUBLE_PRECISION, y, 2, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
  else
    call expect("collective", "world", 0, 0, 16, 0, 0)
    call MPI_Gather(x, 2, MPI_DOUBLE_PRECISION, y, 2, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
  end if

  ! A communicator of its own.
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, pair, ierror)
  call expect("collective", "reversed", ranks - 1, 0, merge(8 * others, 0, rank == ranks - 1), &
    merge(0, 8, rank == ranks - 1), 0)
  call MPI_Bcast(x, 1, MPI_DOUBLE_PRECISION, 0, pair, ierror)
  call MPI_Comm_free(pair, ierror)

  ! One-sided.
  length = 64
  call MPI_Win_create(memory, length, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call fence()
  place = 1
  call expect("one_sided", "world", next, 0, 16, 0, 0)
  call MPI_Put(x, 2, MPI_DOUBLE_PRECISION, next, place, 2, MPI_DOUBLE_PRECISION, win, ierror)
  call fence()
  call expect("one_sided", "world", before, 0, 0, 24, 0)
  call MPI_Get(y, 3, MPI_DOUBLE_PRECISION, before, place, 3, MPI_DOUBLE_PRECISION, win, ierror)
  call fence()
  call MPI_Win_free(win, ierror)

#ifdef EFFORT_MPI_HAS_ISENDRECV
  call expect("send_start", "world", next, 600, 16, 0, 400)
  call expect("receive_start", "world", before, 600, 0, 0, 401)
  call MPI_Isendrecv(x, 2, MPI_DOUBLE_PRECISION, next, 600, y, 10, MPI_DOUBLE_PRECISION, before, 600, MPI_COMM_WORLD, &
    r(1), ierror)
  call MPI_Wait(r(1), one, ierror)
  call MPI_Get_count(one, MPI_DOUBLE_PRECISION, got, ierror)
  if (TAG_OF(one) /= 600) got = 0 ! MPICH 4.0 leaves the status empty
  call expect("send_done", "", -1, 0, 0, 0, 400)
  call expect("receive_done", "world", before, 600, 8 * got, 0, 401)
#endif
#ifdef EFFORT_MPI_HAS_PERSISTENT_COLLECTIVES
  call MPI_Bcast_init(x, 2, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, MPI_INFO_NULL, r(1), ierror)
  call expect("collective", "world", 0, 0, merge(16 * others, 0, rank == 0), merge(0, 16, rank == 0), 0)
  call MPI_Start(r(1), ierror)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierror)
  call MPI_Request_free(r(1), ierror)
#endif
#ifdef EFFORT_MPI_HAS_PARTITIONED
  call MPI_Psend_init(x, 2, 5_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, next, 50, MPI_COMM_WORLD, MPI_INFO_NULL, r(1), &
    ierror)
  call MPI_Precv_init(y, 1, 10_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, before, 50, MPI_COMM_WORLD, MPI_INFO_NULL, r(2), &
    ierror)
  call expect("send_start", "world", next, 50, 80, 0, 500)
  call expect("receive_start", "world", before, 50, 0, 0, 501)
  call MPI_Startall(2, r, ierror)
  call MPI_Pready_range(0, 1, r(1), ierror)
  call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierror)
  call expect("send_done", "", -1, 0, 0, 0, 500)
  call expect("receive_done", "world", before, 50, 80, 0, 501)
  call MPI_Request_free(r(1), ierror)
  call MPI_Request_free(r(2), ierror)
#endif
#if defined(EFFORT_MPI_HAS_LARGE_COUNTS) && defined(TEST_MPI_F08)
  call expect("send", "world", next, 60, 24, 0, 0)
  call expect("receive", "world", before, 60, 24, 0, 0)
  call MPI_Sendrecv(x, 3_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, next, 60, y, 10_MPI_COUNT_KIND, &
    MPI_DOUBLE_PRECISION, before, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
#endif

  call mark(7772)
  call expect_end()
  do i = 1, 40
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  call MPI_Finalize(ierror)
  if (wrong) stop 1

contains
  subroutine expect(kind, comm, peer, tag, bytes, received, request)
    character(len=*), intent(in) :: kind, comm
    integer, intent(in) :: peer, tag, bytes, received, request
    call expect_c(kind // c_null_char, comm // c_null_char, int(peer, c_int), int(tag, c_int), int(bytes, c_long), &
      int(received, c_long), int(request, c_int))
  end subroutine
  subroutine mark(tag)
    integer, intent(in) :: tag
    call expect("send", "self", rank, tag, 0, 0, 0)
    call expect("receive", "self", rank, tag, 0, 0, 0)
    call MPI_Sendrecv(x, 0, MPI_INTEGER, 0, tag, y, 0, MPI_INTEGER, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
  end subroutine
  subroutine fence()
    call expect("collective", "world", -1, 0, 0, 0, 0)
    call MPI_Win_fence(0, win, ierror)
  end subroutine
  subroutine barrier()
    call expect("collective", "world", -1, 0, 0, 0, 0)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine
  subroutine send_to_next(tag, n)
    integer, intent(in) :: tag, n
    call expect("send", "world", next, tag, 8 * n, 0, 0)
    call MPI_Send(x, n, MPI_DOUBLE_PRECISION, next, tag, MPI_COMM_WORLD, ierror)
  end subroutine
end program
