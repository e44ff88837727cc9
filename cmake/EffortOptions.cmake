# The build options, and the compile options of every target.
include(CheckLanguage)
include(GNUInstallDirs)

# As a part of another project: only the libraries that a host links, in the languages that the other project has.
set(_fortran ${PROJECT_IS_TOP_LEVEL})
get_property(_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if("Fortran" IN_LIST _languages)
  set(_fortran ON)
endif()
option(EFFORT_ENABLE_MPI "Build libeffort_mpi" ON)
option(EFFORT_ENABLE_FORTRAN "Build the Fortran module" ${_fortran})
option(EFFORT_ENABLE_PMPI "Build libeffort_pmpi, which measures programs through their MPI calls"
  ${PROJECT_IS_TOP_LEVEL})
option(EFFORT_ENABLE_PAPI "Build libeffort_papi, which counts PAPI events" ${PROJECT_IS_TOP_LEVEL})
option(EFFORT_ENABLE_KOKKOS_TOOLS "Build libeffort_kokkos, which turns Kokkos kernels into regions"
  ${PROJECT_IS_TOP_LEVEL})
option(EFFORT_ENABLE_OMPT "Build libeffort_ompt, which measures waiting in OpenMP barriers" ${PROJECT_IS_TOP_LEVEL})
option(EFFORT_ENABLE_FUNCTIONS "Build libeffort_functions, which records calls of instrumented functions"
  ${PROJECT_IS_TOP_LEVEL})
option(EFFORT_ENABLE_HWLOC "Place the background thread with hwloc" ON)
option(EFFORT_ENABLE_TOOLS "Build the effort command" ${PROJECT_IS_TOP_LEVEL})
option(EFFORT_ENABLE_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(EFFORT_ENABLE_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(EFFORT_ENABLE_FUZZ "Build the fuzz targets with libFuzzer (clang)" OFF)
set(EFFORT_SANITIZE "" CACHE STRING "Sanitizers for every target: address,undefined or thread")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

if(EFFORT_ENABLE_FORTRAN)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
  endif()
endif()

# These adapters are linked with the shared libeffort.
if(DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS)
  foreach(_adapter PMPI KOKKOS_TOOLS OMPT)
    if(EFFORT_ENABLE_${_adapter})
      message(STATUS "EFFORT_ENABLE_${_adapter} is ignored, because it needs the shared libeffort and "
        "BUILD_SHARED_LIBS is off")
      set(EFFORT_ENABLE_${_adapter} OFF)
    endif()
  endforeach()
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
# The installed libraries find each other even if the tree is moved, unless a packager has chosen otherwise.
if(NOT DEFINED CMAKE_INSTALL_RPATH)
  set(CMAKE_INSTALL_RPATH "$ORIGIN")
endif()

# A program that is linked against an own prefix then finds the libraries without further settings. Distributions want
# no such path in what is built against their packages.
set(_rpath ON)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" OR CMAKE_SKIP_RPATH OR CMAKE_SKIP_INSTALL_RPATH)
  set(_rpath OFF)
endif()
option(EFFORT_PKGCONFIG_RPATH "Add a run path to the library's folder to the flags of the pkg-config files" ${_rpath})

# Compiling the sources of one folder together takes less than half of the time if everything is built, and longer if
# only some files have changed. Names in anonymous namespaces must therefore be unique in their folder.
option(EFFORT_COMPILE_BY_FOLDER "Compile the sources of each folder together (unity build)" OFF)

# -ffp-contract=off: results must be bitwise equal on all nodes, so a compiler must not fuse operations.
add_library(effort_compile_options INTERFACE)
target_compile_options(effort_compile_options INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wformat-security -ffp-contract=off>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wno-pass-failed>)  # simd::for_each() asks for more than it gets
if(NOT EFFORT_COMPILE_BY_FOLDER)
  target_compile_options(effort_compile_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Wshadow>)
else()  # warnings about neighbours in a folder
  target_compile_options(effort_compile_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()
if(EFFORT_SANITIZE)
  add_compile_options(-fsanitize=${EFFORT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${EFFORT_SANITIZE})
  add_compile_definitions(EFFORT_SANITIZED _GLIBCXX_ASSERTIONS)  # also indices within a vector's capacity
endif()

function(effort_compile_by_folder target)
  if(NOT EFFORT_COMPILE_BY_FOLDER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  get_target_property(base ${target} SOURCE_DIR)
  list(FILTER sources EXCLUDE REGEX "^\\$<")  # objects of another target
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${base}" NORMALIZE)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
