! A Fortran module opened at run time by a program that does not use Fortran.
integer(c_int) function run_module() bind(C)
  use mpi_f08
  use iso_c_binding, only: c_int
  implicit none
  integer :: i, total, n
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  run_module = 0
  do i = 1, 20
    total = 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (total /= n) run_module = 1
  end do
  call MPI_Finalize()
end function
