! Sizes of a block, numbers of the fields and the constants of the flow and of the flame.
module parameters
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private

  integer, parameter, public :: dp = real64

  integer, parameter, public :: nb = 16          ! cells per side of a block
  integer, parameter, public :: ng = 2           ! ghost layers
  integer, parameter, public :: n_vars = 3
  integer, parameter, public :: i_fuel = 1, i_product = 2, i_temperature = 3

  ! Faces of a block: low x, high x, low y, high y.
  integer, parameter, public :: n_faces = 4

  ! The vessel is the unit square. Its content rotates like a solid body inside r_solid and rests outside r_rest.
  real(dp), parameter, public :: omega = 1.0_dp
  real(dp), parameter, public :: r_solid = 0.42_dp, r_rest = 0.49_dp

  ! The burning kernel: its initial position, its radius, and the depth of its wrinkles.
  real(dp), parameter, public :: kernel_x = 0.77_dp, kernel_y = 0.42_dp
  real(dp), parameter, public :: kernel_radius = 0.12_dp, kernel_wrinkle = 0.06_dp

  ! Fuel burns to product and heats by heat_release: T + heat_release * fuel is conserved, as fuel + product is. The
  ! fuel is unevenly mixed, between 1 - lean and 1.
  real(dp), parameter, public :: cold = 0.3_dp, heat_release = 1.0_dp, lean = 0.1_dp
  real(dp), parameter, public :: burnt = cold + heat_release
  real(dp), parameter, public :: zeldovich = 6.0_dp
  real(dp), parameter, public :: activation = zeldovich * burnt**2 / heat_release

  ! The flame is made as thin as the finest cells resolve: thickness in finest cells, speed relative to the stream.
  real(dp), parameter, public :: flame_cells = 3.0_dp, flame_speed = 0.03_dp * omega
  ! Part of the largest stable time step.
  real(dp), parameter, public :: courant = 0.28_dp
end module parameters
