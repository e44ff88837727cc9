# Every outside library the project uses, as one target each.
set(EFFORT_DEPS_DIR "${PROJECT_SOURCE_DIR}/.deps" CACHE PATH "Where scripts/setup puts Kokkos and Catch2")

if(NOT EXISTS "${EFFORT_DEPS_DIR}/kokkos-private/.ready" OR NOT EXISTS "${EFFORT_DEPS_DIR}/kokkos/.ready"
   OR (EFFORT_ENABLE_TESTS AND NOT EXISTS "${EFFORT_DEPS_DIR}/catch2/.ready"))
  message(STATUS "Building Kokkos and Catch2 (scripts/setup --libraries), about one minute")
  execute_process(COMMAND "${PROJECT_SOURCE_DIR}/scripts/setup" --libraries RESULT_VARIABLE setup_failed)
  if(setup_failed)
    message(FATAL_ERROR "scripts/setup --libraries failed: see its message above, mend it, and configure again")
  endif()
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# The Kokkos that lives inside the library: Serial, static, hidden. Its headers warn under C++20: system headers.
add_library(effort_private_kokkos INTERFACE)
target_include_directories(effort_private_kokkos SYSTEM INTERFACE "${EFFORT_DEPS_DIR}/kokkos-private/include")
file(GLOB _kokkos_archives "${EFFORT_DEPS_DIR}/kokkos-private/lib*/libkokkoscontainers.a" "${EFFORT_DEPS_DIR}/kokkos-private/lib*/libkokkoscore.a")
target_link_libraries(effort_private_kokkos INTERFACE ${_kokkos_archives} Threads::Threads ${CMAKE_DL_LIBS})
set(EFFORT_PRIVATE_KOKKOS_ARCHIVES ${_kokkos_archives})

# The Kokkos of the command, the tests and the benchmarks: the machine's own where it works, else ours with OpenMP.
include(EffortKokkos)

find_package(nlohmann_json 3.10 REQUIRED)
find_path(EFFORT_TOML_INCLUDE toml++/toml.h REQUIRED)
find_path(EFFORT_XXHASH_INCLUDE xxhash.h REQUIRED)
find_path(EFFORT_ZSTD_INCLUDE zstd.h REQUIRED)
find_library(EFFORT_ZSTD_ARCHIVE libzstd.a REQUIRED)
add_library(effort_zstd INTERFACE)
target_include_directories(effort_zstd SYSTEM INTERFACE "${EFFORT_ZSTD_INCLUDE}")
target_link_libraries(effort_zstd INTERFACE "${EFFORT_ZSTD_ARCHIVE}")

if(EFFORT_ENABLE_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
  if(EFFORT_ENABLE_FORTRAN)
    find_package(MPI REQUIRED COMPONENTS Fortran)
  endif()
endif()
if(EFFORT_ENABLE_HWLOC)
  pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
endif()
if(EFFORT_ENABLE_TOOLS)
  find_package(CLI11 REQUIRED)
  # Where these are missing the command is built without what needs them, and says so.
  pkg_check_modules(LIBDW IMPORTED_TARGET libdw)
  find_package(HDF5 COMPONENTS C HL)
  if(HDF5_FOUND AND HDF5_IS_PARALLEL)
    message(STATUS "HDF5 was found for MPI only: effort export goes without, install the serial one (libhdf5-dev)")
    set(HDF5_FOUND FALSE)
  endif()
endif()
if(EFFORT_ENABLE_TESTS)
  find_package(Catch2 3 REQUIRED PATHS "${EFFORT_DEPS_DIR}/catch2")
endif()
