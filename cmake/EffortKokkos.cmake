# effort_kokkos is the Kokkos of the command, the tests and the benchmarks. It is the machine's Kokkos if that works and
# has Serial, else the one with OpenMP from scripts/setup if it was built, else the private one, with which the command
# runs on one thread. A package found on the machine may be broken in ways that stop CMake, so it is tried in a separate
# project.
add_library(effort_kokkos INTERFACE)
if(NOT EFFORT_ENABLE_TOOLS AND NOT EFFORT_ENABLE_TESTS AND NOT EFFORT_ENABLE_BENCH)
  target_link_libraries(effort_kokkos INTERFACE effort_private_kokkos)
  set(EFFORT_ONE_KOKKOS TRUE)
  return()
endif()
if(NOT DEFINED EFFORT_MACHINE_KOKKOS_WORKS)
  set(_probe "${PROJECT_BINARY_DIR}/kokkos-probe")
  file(WRITE "${_probe}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.22)
project(probe LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(Kokkos 3.4 REQUIRED)
add_executable(probe main.cpp)
target_link_libraries(probe PRIVATE Kokkos::kokkos)
")
  file(WRITE "${_probe}/main.cpp" "#include <Kokkos_Core.hpp>
int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  Kokkos::fence();
  Kokkos::parallel_for(Kokkos::RangePolicy<Kokkos::Serial>(0, 1), KOKKOS_LAMBDA(int) {});
  Kokkos::finalize();
}
")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${_probe}" -B "${_probe}/build" -G "${CMAKE_GENERATOR}"
      "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH}"
      "-DKokkos_ROOT=${Kokkos_ROOT}" "-DKokkos_DIR=${Kokkos_DIR}" "-DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE}"
    RESULT_VARIABLE _failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT _failed)
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${_probe}/build" RESULT_VARIABLE _failed OUTPUT_QUIET
      ERROR_QUIET)
  endif()
  if(_failed)
    set(EFFORT_MACHINE_KOKKOS_WORKS OFF CACHE INTERNAL "")
  else()
    set(EFFORT_MACHINE_KOKKOS_WORKS ON CACHE INTERNAL "")
  endif()
endif()
if(NOT EFFORT_MACHINE_KOKKOS_WORKS AND NOT EXISTS "${EFFORT_DEPS_DIR}/kokkos/.ready")
  if(EFFORT_ENABLE_TESTS OR EFFORT_ENABLE_BENCH)
    effort_missing("Kokkos 3.4 to 5 with Serial and OpenMP" "EFFORT_ENABLE_TESTS and _BENCH"
      "add its folder to CMAKE_PREFIX_PATH, or run scripts/setup")
  else()
    message(STATUS "Kokkos of the command: the library's own, on one thread")
  endif()
  target_link_libraries(effort_kokkos INTERFACE effort_private_kokkos)
  set(EFFORT_ONE_KOKKOS TRUE)
  return()
endif()
if(EFFORT_MACHINE_KOKKOS_WORKS)
  find_package(Kokkos 3.4 REQUIRED)
else()
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  find_package(Kokkos REQUIRED PATHS "${EFFORT_DEPS_DIR}/kokkos" NO_DEFAULT_PATH)
endif()
message(STATUS "Kokkos of the command, tests and benchmarks: ${Kokkos_DIR}")
target_link_libraries(effort_kokkos INTERFACE Kokkos::kokkos)
get_target_property(_kokkos_include Kokkos::kokkoscore INTERFACE_INCLUDE_DIRECTORIES)
if(_kokkos_include)
  target_include_directories(effort_kokkos SYSTEM INTERFACE ${_kokkos_include})
endif()
