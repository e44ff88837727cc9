program small
  use mpi
  use effort
  implicit none
  integer(effort_region_id) :: solve
  type(effort_hint) :: hint
  integer :: ierr, step
  call MPI_Init(ierr)
  call effort_init(MPI_COMM_WORLD)
  call effort_region('solve', EFFORT_COMPUTE, solve)
  do step = 1, 25
    call effort_begin(solve)
    call effort_end(solve)
    call progress_step()
  end do
  call effort_hint_latest(hint, ierr=ierr)
  if (ierr /= EFFORT_OK .or. hint%step /= 21) error stop 'no hint'
  call effort_finalize(ierr=ierr)
  if (ierr /= EFFORT_OK) error stop 'finalize'
  call MPI_Finalize(ierr)
end program
