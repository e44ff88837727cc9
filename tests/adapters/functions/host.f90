! A Fortran program that is killed inside two loops.
module work
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer :: total = 0
  interface
    integer(c_int) function raise(signal) bind(C)
      import :: c_int
      integer(c_int), value :: signal
    end function raise
  end interface
contains
  subroutine cell(i)
    integer, intent(in) :: i
    total = total + i
  end subroutine cell

  subroutine sweep(n)
    integer, intent(in) :: n
    integer :: i
    do i = 1, n
      call cell(i)
    end do
  end subroutine sweep

  subroutine step(i)
    integer, intent(in) :: i
    integer(c_int) :: ignored
    call sweep(50)
    if (i == 40) ignored = raise(9_c_int)
  end subroutine step
end module work

program killed
  use work
  implicit none
  integer :: i
  do i = 1, 100
    call step(i)
  end do
  print *, total
end program killed
