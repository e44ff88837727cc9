! The regions and the units of work that this code reports to effort.
module regions
  use effort
  implicit none
  private
  public :: regions_register

  integer(effort_region_id), public, protected :: region_advance, region_reaction, region_refine, region_ghosts
  integer(effort_region_id), public, protected :: region_halo, region_reduce, region_migrate
  integer(effort_work_id), public, protected :: unit_blocks, unit_evaluations

contains

  ! Call once, after effort_init.
  subroutine regions_register()
    call effort_region('advance', EFFORT_COMPUTE, region_advance)
    call effort_region('reaction', EFFORT_COMPUTE, region_reaction)
    call effort_region('refine', EFFORT_COMPUTE, region_refine)
    call effort_region('ghosts', EFFORT_COMPUTE, region_ghosts)
    call effort_region('halo', EFFORT_COMM, region_halo)
    call effort_region('reduce', EFFORT_COMM, region_reduce)
    call effort_region('migrate', EFFORT_COMM, region_migrate)
    call effort_work_unit('blocks', unit_blocks)
    call effort_work_unit('evaluations', unit_evaluations)    ! of the burning rate
  end subroutine regions_register
end module regions
