! effort for Fortran: the names of the C API as generic procedures.
!
!   use effort
!   call effort_init(MPI_COMM_WORLD)                 ! integer or type(MPI_Comm); without an argument: one process
!   call effort_region('solve', EFFORT_COMPUTE, id)
!   call effort_begin(id);  call effort_end(id)      ! or by name: effort_begin('halo', EFFORT_COMM)
!   call progress_step()
!   call effort_finalize()
!
! Every procedure takes ierr= by keyword; without it an error is only recorded (effort_last_error). No error stops the
! program.  Costs and thread rules are those of effort.h.
!
! These modules define the names; programs use only `effort`.
module effort
  use effort_types
  use effort_calls
  use effort_weights
  implicit none
end module effort
