# What configuring does and does not do.  cmake -DWHAT=missing|parent -DSOURCE=... -DDIR=... -DDEPS=... -DGENERATOR=...
# -P configure.cmake
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE "${DIR}")
file(MAKE_DIRECTORY "${DIR}/bin")

function(expect text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "'${pattern}' was expected in\n${text}")
  endif()
endfunction()

# Programs that install or fetch say that they were called.
foreach(name apt apt-get apt-cache dpkg-query sudo npm curl wget git)
  file(WRITE "${DIR}/bin/${name}" "#!/bin/sh\necho ${name} >>'${DIR}/called'\nexit 1\n")
  file(CHMOD "${DIR}/bin/${name}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(ENV{PATH} "${DIR}/bin:$ENV{PATH}")
unset(ENV{EFFORT_DEPS_DIR})
unset(ENV{CMAKE_BUILD_TYPE})

if(WHAT STREQUAL "missing")
  execute_process(COMMAND "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE}" -B "${DIR}/build"
      "-DEFFORT_DEPS_DIR=${DIR}/nothing" -DEFFORT_ENABLE_FORTRAN=OFF -DEFFORT_ENABLE_MPI=OFF
      -DEFFORT_MACHINE_KOKKOS_WORKS=OFF -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON
      -DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON
      -DEFFORT_PAPI_INCLUDE=PAPI-NOTFOUND -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF
    RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT failed)
    message(FATAL_ERROR "configured without what it needs:\n${text}")
  endif()
  # One list has all of it, with what each is needed for.
  foreach(pattern "private Kokkos: always needed \\(set EFFORT_KOKKOS_SOURCE"
      "PAPI \\(papi.h\\): needed for EFFORT_ENABLE_PAPI"
      "CLI11: needed for EFFORT_ENABLE_TOOLS \\(libcli11-dev\\)" "Catch2 3: needed for EFFORT_ENABLE_TESTS"
      "zstd with its static library \\(zstd.h, libzstd.a\\): always needed \\(libzstd-dev\\)")
    expect("${text}" "${pattern}")
  endforeach()
elseif(WHAT STREQUAL "parent")
  execute_process(COMMAND "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${CMAKE_CURRENT_LIST_DIR}/parent" -B "${DIR}/build"
      "-DEFFORT_SOURCE=${SOURCE}" "-DEFFORT_DEPS_DIR=${DEPS}" -DCMAKE_INSTALL_PREFIX=/usr
      -DCMAKE_INSTALL_LIBDIR=/usr/lib/somewhere -DCMAKE_INSTALL_RPATH=/opt/of/the/parent
    RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(failed)
    message(FATAL_ERROR "did not configure:\n${text}")
  endif()
  # The parent keeps its build type, its languages and its cache.
  file(READ "${DIR}/build/CMakeCache.txt" cache)
  expect("${cache}" "CMAKE_BUILD_TYPE:STRING=\n")
  foreach(pattern "CMAKE_Fortran_COMPILER:" "EFFORT_ENABLE_TOOLS:BOOL=ON" "EFFORT_ENABLE_PMPI:BOOL=ON")
    if(cache MATCHES "${pattern}")
      message(FATAL_ERROR "the cache of a parent project has ${pattern}")
    endif()
  endforeach()
  string(REGEX MATCHALL "\n[A-Za-z_0-9-]+:(BOOL|STRING|PATH|FILEPATH|UNINITIALIZED)=" entries "${cache}")
  string(REGEX MATCHALL "\n[A-Za-z_0-9]+-ADVANCED:" advanced "${cache}")
  foreach(entry IN LISTS entries)
    string(REGEX REPLACE "\n([^:]*):.*" "\\1" name "${entry}")
    if(NOT name MATCHES "^(EFFORT_|CMAKE_|MPI_|MPIEXEC_|FETCHCONTENT_|parent_|effort_)"
        AND NOT "\n${name}-ADVANCED:" IN_LIST advanced)
      message(FATAL_ERROR "the cache of a parent project has ${name}, which lacks the prefix EFFORT_")
    endif()
  endforeach()
  # An absolute folder of libraries, and no run path in a system's packages.
  file(READ "${DIR}/build/effort/effort.pc" pc)
  expect("${pc}" "\nlibdir=.{prefix}/lib/somewhere\n")
  expect("${pc}" "^prefix=.{pcfiledir}/../../..\n")
  expect("${pc}" "\nRequires.private: hwloc\n")
  if(pc MATCHES "rpath")
    message(FATAL_ERROR "effort.pc for /usr has a run path:\n${pc}")
  endif()
  file(READ "${DIR}/build/effort/capi/cmake_install.cmake" install)
  expect("${install}" "/opt/of/the/parent")
endif()
if(EXISTS "${DIR}/called")
  file(READ "${DIR}/called" called)
  message(FATAL_ERROR "configuring called ${called}")
endif()
