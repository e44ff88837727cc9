! The same as known_load.c with `use mpi` or, with TEST_F08, `use mpi_f08`.
program known_load
#ifdef TEST_F08
  use mpi_f08
#else
  use mpi
#endif
  use iso_c_binding, only: c_int, c_double
  implicit none
  interface
    subroutine compute_share(rank, step, share) bind(C)
      import :: c_int, c_double
      integer(c_int), value :: rank, step
      real(c_double), value :: share
    end subroutine
  end interface
  integer :: steps, step, rank, n_ranks, next, before, ierr
  integer, parameter :: tag = 7
  real(c_double) :: mine, theirs, total
  logical :: wrong
  character(len=16) :: text
#ifdef TEST_F08
  type(MPI_Request) :: requests(2)
#else
  integer :: requests(2)
#endif

  steps = 48
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) steps
  end if
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, ierr)
  next = mod(rank + 1, n_ranks)
  before = mod(rank + n_ranks - 1, n_ranks)
  wrong = .false.
  do step = 0, steps - 1
    call compute_share(rank, step, 0.6_c_double)
    mine = rank + 100.0_c_double * step
#ifdef TEST_F08
    ! Without the optional error code, as mpi_f08 allows.
    call MPI_Irecv(theirs, 1, MPI_DOUBLE_PRECISION, before, tag, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(mine, 1, MPI_DOUBLE_PRECISION, next, tag, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
#else
    call MPI_Irecv(theirs, 1, MPI_DOUBLE_PRECISION, before, tag, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(mine, 1, MPI_DOUBLE_PRECISION, next, tag, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
#endif
    call compute_share(rank, step, 0.4_c_double)
    total = theirs
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    wrong = wrong .or. theirs /= before + 100.0_c_double * step
    wrong = wrong .or. total /= n_ranks * (n_ranks - 1) / 2.0_c_double + 100.0_c_double * step * n_ranks
  end do
  call MPI_Finalize(ierr)
  if (wrong) error stop 1
end program known_load
