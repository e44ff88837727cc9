! The same loop as in C, through the Fortran module.
subroutine fortran_pairs(region, n) bind(C)
  use, intrinsic :: iso_c_binding, only: c_int
  use effort
  implicit none
  integer(effort_region_id), value :: region
  integer(c_int), value :: n
  integer :: i
  do i = 1, n
    call effort_begin(region)
    call effort_end(region)
  end do
end subroutine
