! Accounts for the CPU time of this rank. At any moment the thread's time belongs to exactly one bucket; switching reads
! the clock once. It is thread CPU time, because wall time does not measure work if ranks share cores.
module clock
  use, intrinsic :: iso_c_binding, only: c_int, c_long
  use parameters, only: dp
  implicit none
  private
  public :: cpu_seconds, clock_start, clock_switch

  integer, parameter, public :: in_other = 1, in_compute = 2, in_mpi = 3, in_rebalance = 4, in_progress = 5
  integer, parameter, public :: n_buckets = 5

  real(dp), public, protected :: spent(n_buckets) = 0        ! CPU seconds per bucket since clock_start

  integer, protected :: current = in_other
  real(dp) :: since = 0

  type, bind(C) :: timespec
    integer(c_long) :: seconds                               ! time_t of the usual 64-bit systems
    integer(c_long) :: nanoseconds
  end type timespec

  integer(c_int), parameter :: clock_thread_cputime_id = 3   ! its number on Linux

  interface
    integer(c_int) function clock_gettime(id, time) bind(C, name='clock_gettime')
      import :: c_int, timespec
      integer(c_int), value :: id
      type(timespec), intent(out) :: time
    end function clock_gettime
  end interface

contains

  ! CPU seconds this thread has used.
  real(dp) function cpu_seconds()
    type(timespec) :: now
    integer(c_int) :: status
    status = clock_gettime(clock_thread_cputime_id, now)
    if (status /= 0) error stop 'clock: this system has no CLOCK_THREAD_CPUTIME_ID'
    cpu_seconds = real(now%seconds, dp) + 1.0e-9_dp * real(now%nanoseconds, dp)
  end function cpu_seconds

  ! Clears all buckets and starts to fill in_other.
  subroutine clock_start()
    spent = 0
    current = in_other
    since = cpu_seconds()
  end subroutine clock_start

  ! From now on time belongs to `bucket`; `before`, if present, is the bucket it belonged to.
  subroutine clock_switch(bucket, before)
    integer, intent(in) :: bucket
    integer, intent(out), optional :: before
    real(dp) :: now
    now = cpu_seconds()
    spent(current) = spent(current) + (now - since)
    since = now
    if (present(before)) before = current
    current = bucket
  end subroutine clock_switch
end module clock
