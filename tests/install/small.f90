program small
  use, intrinsic :: iso_c_binding, only: c_double, c_f_pointer
  use mpi
  use effort
  implicit none
  integer(effort_region_id) :: solve
  type(effort_hint) :: hint
  integer :: ierr, step
  real(c_double), pointer :: load(:)
  real(c_double), allocatable :: first(:)
  real(c_double) :: field(5000) = 1
  call MPI_Init(ierr)
  call effort_init(MPI_COMM_WORLD)
  call effort_region('solve', EFFORT_COMPUTE, solve)
  do step = 1, 25
    call effort_begin(solve)
    field = cos(field)
    call effort_end(solve)
    call progress_step()
  end do
  call effort_hint_latest(hint, ierr=ierr)
  if (ierr /= EFFORT_OK .or. hint%step < 1) error stop 'no hint'
  if (any(field <= 0)) error stop 'field'
  ! Loads are the same on every rank, to the last bit. That of an empty region could be 0: the time of recording is
  ! subtracted.
  call c_f_pointer(hint%load, load, [hint%n_ranks])
  first = load
  call MPI_Bcast(first, size(first), MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  if (any(first > load .or. first < load) .or. any(load <= 0)) error stop 'loads differ'
  call effort_finalize(ierr=ierr)
  if (ierr /= EFFORT_OK) error stop 'finalize'
  call MPI_Finalize(ierr)
end program
