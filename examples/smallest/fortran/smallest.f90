! The smallest use of effort in Fortran. Each rank computes some rows of a Mandelbrot image that moves from step to
! step, and the rows are redistributed when a hint says that it pays.
module image
  use, intrinsic :: iso_c_binding, only: c_int, c_double, c_ptr, c_f_pointer
  use, intrinsic :: iso_fortran_env, only: int64, error_unit
  use effort, only: effort_hint
  implicit none
  integer, parameter :: dp = c_double, rows = 240, columns = 240, steps = 200, limit = 200
  integer, allocatable :: first(:)    ! rank r computes rows first(r) to first(r + 1) - 1, all counted from 0
  integer :: rebalances = 0

contains

  ! Iterations until the points of a row escape. Rows that cross the Mandelbrot set cost most.
  integer(int64) function compute_row(row, step) result(iterations)
    integer, intent(in) :: row, step
    complex(dp) :: c, z
    integer :: column, n
    iterations = 0
    do column = 0, columns - 1
      c = cmplx(3.0_dp * column / columns - 2.2_dp, 2.4_dp * row / rows - 1.8_dp + 1.2_dp * step / steps, dp)
      z = 0
      do n = 1, limit
        if (z%re**2 + z%im**2 > 4) exit
        z = z * z + c
        iterations = iterations + 1
      end do
    end do
  end function

  ! Called inside progress_step on every rank, at the same step and with the same numbers, so all ranks compute the same
  ! division without communication. Each row is assumed to cost the mean of its rank's rows.
  integer(c_int) function on_hint(hint, user) bind(C)
    type(effort_hint), intent(in) :: hint
    type(c_ptr), value :: user    ! not used here
    real(c_double), pointer :: predicted(:)
    real(dp) :: cost(0:rows - 1), below
    integer :: r, row
    on_hint = 0
    if (hint%rebalance /= 1) return
    call c_f_pointer(hint%predicted, predicted, [hint%n_ranks])    ! that of rank r is predicted(r + 1)
    do r = 0, hint%n_ranks - 1
      cost(first(r):first(r + 1) - 1) = predicted(r + 1) / max(1, first(r + 1) - first(r))
    end do
    below = 0
    row = 0
    do r = 1, hint%n_ranks - 1
      do while (row < rows)
        if (below + cost(row) / 2 >= sum(cost) * r / hint%n_ranks) exit
        below = below + cost(row)
        row = row + 1
      end do
      first(r) = row
    end do
    rebalances = rebalances + 1    ! a real code moves its data here
    on_hint = 1
  end function
end module

program smallest
  use mpi_f08
  use effort
  use image
  implicit none
  integer(effort_region_id) :: compute, gather
  integer(int64) :: iterations = 0, all = 0
  integer :: rank, ranks, r, row, step, ierr

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate(first(0:ranks))
  first = [(r * rows / ranks, r = 0, ranks)]

  call effort_init(MPI_COMM_WORLD, ierr=ierr)
  if (ierr /= EFFORT_OK) write (error_unit, '(a)') effort_last_error()
  call effort_region('compute', EFFORT_COMPUTE, compute)
  call effort_region('sum', EFFORT_COMM, gather)
  call effort_on_rebalance(on_hint)

  do step = 0, steps - 1
    call effort_begin(compute)
    do row = first(rank), first(rank + 1) - 1
      iterations = iterations + compute_row(row, step)
    end do
    call effort_end(compute)

    call effort_begin(gather)
    call MPI_Allreduce(iterations, all, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    call effort_end(gather)

    call progress_step()    ! hints arrive in here
  end do
  call effort_finalize()

  if (rank == 0) print '(i0, a, i0, a)', all, ' iterations, rebalanced ', rebalances, ' times'
  call MPI_Finalize()
end program
