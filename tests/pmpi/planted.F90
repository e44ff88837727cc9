! As planted.c, in Fortran: late senders and receivers, late partners of a Waitall and of collectives.
program planted
  use mpi
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer, parameter :: rounds = 8
  integer :: rank, ranks, ierr, round, i, list
  integer :: requests(2)
  integer(int64) :: begun
  character(len=32) :: name
  real(kind(1d0)) :: x, y, data(10), other(10)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  write (name, '(a, i0, a)') 'planted-', rank, '.txt'
  open (newunit=list, file=name, status='replace', action='write')
  data = rank
  x = rank
  do i = 1, 3
    call barrier()
  end do
  do round = 0, rounds - 1
    call messages()
    call collectives()
  end do
  close (list)
  call MPI_Finalize(ierr)

contains

  integer(int64) function now()
    integer(int64) :: count, rate
    call system_clock(count, rate)
    now = count * (1000000000_int64 / rate)
  end function now

  subroutine work()
    integer(int64) :: finish
    real(kind(1d0)), volatile :: sum
    integer :: k
    finish = now() + 20000000_int64
    sum = 0
    do while (now() < finish)
      do k = 1, 1000
        sum = sum + 1d0 / k
      end do
    end do
  end subroutine work

  subroutine barrier()
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine barrier

  subroutine finish(phase)
    character(len=*), intent(in) :: phase
    integer(int64) :: ended
    ended = now()
    write (list, '(i0, 1x, a, 1x, i0, 1x, i0)') round, phase, begun, ended
  end subroutine finish

  subroutine messages()
    integer :: to
    if (rank == 0) then
      begun = now()
      call MPI_Recv(data, 10, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call finish('late_sender')
    else if (rank == 1) then
      call work()
      begun = now()
      call MPI_Send(data, 10, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierr)
      call finish('late_sender')
    end if
    call barrier()
    if (rank == 0) then
      begun = now()
      call MPI_Ssend(data, 10, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, ierr)
      call finish('late_receiver')
    else if (rank == 1) then
      call work()
      begun = now()
      call MPI_Recv(data, 10, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call finish('late_receiver')
    end if
    call barrier()
    to = 0
    if (rank == 0) then
      call MPI_Irecv(data, 10, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD, requests(1), ierr)
      call MPI_Irecv(other, 10, MPI_DOUBLE_PRECISION, 2, 3, MPI_COMM_WORLD, requests(2), ierr)
      begun = now()
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
      call finish('waitall')
    else if (rank <= 2) then
      if (rank == 2) call work()
      begun = now()
      call MPI_Send(data, 10, MPI_DOUBLE_PRECISION, to, 3, MPI_COMM_WORLD, ierr)
      call finish('waitall')
    end if
    call barrier()
  end subroutine messages

  subroutine collectives()
    if (rank == 2) call work()
    begun = now()
    call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call finish('nxn')
    call barrier()
    if (rank == 1) call work()
    begun = now()
    call MPI_Bcast(x, 1, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierr)
    call finish('late_broadcast')
    call barrier()
    if (rank == 2) call work()
    begun = now()
    call MPI_Reduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    call finish('early_reduce')
    call barrier()
  end subroutine collectives

end program planted
