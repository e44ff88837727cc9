# effort_private_kokkos is the Kokkos inside the library: Serial, static, with hidden symbols, without hooks for tools.
# It is built from EFFORT_KOKKOS_SOURCE together with the library, or it is the one that scripts/setup has built.
set(EFFORT_KOKKOS_SOURCE "" CACHE PATH
  "Source tree or tarball of Kokkos (3.4 to 5), of which the library's private copy is built")

# Kokkos's own tree, or the folder of it in a tarball that is unpacked into the build directory.
function(effort_kokkos_tree out)
  set(tree "${EFFORT_KOKKOS_SOURCE}")
  if(EXISTS "${tree}" AND NOT IS_DIRECTORY "${tree}")
    set(unpacked "${PROJECT_BINARY_DIR}/kokkos-source")
    if("${tree}" IS_NEWER_THAN "${unpacked}/unpacked")
      file(REMOVE_RECURSE "${unpacked}")
      file(ARCHIVE_EXTRACT INPUT "${tree}" DESTINATION "${unpacked}")
      file(TOUCH "${unpacked}/unpacked")
    endif()
    file(GLOB trees "${unpacked}/*/core/src/Kokkos_Core.hpp")
    if(NOT trees)
      message(FATAL_ERROR "EFFORT_KOKKOS_SOURCE: ${tree} does not hold the sources of Kokkos "
        "(*/core/src/Kokkos_Core.hpp); name a release of Kokkos, 3.4 to 5")
    endif()
    list(GET trees 0 tree)
    string(REPLACE "/core/src/Kokkos_Core.hpp" "" tree "${tree}")
  elseif(NOT EXISTS "${tree}/core/src/Kokkos_Core.hpp")
    message(FATAL_ERROR "EFFORT_KOKKOS_SOURCE: ${tree} is neither a tarball nor a source tree of Kokkos "
      "(core/src/Kokkos_Core.hpp is missing); name a release of Kokkos, 3.4 to 5")
  endif()
  set(${out} "${tree}" PARENT_SCOPE)
endfunction()

add_library(effort_private_kokkos INTERFACE)
set(_private "${PROJECT_BINARY_DIR}/kokkos-private")
# KOKKOS_* variables in the host's environment are meant for the host's own Kokkos and can make this one fail. It
# therefore calls a function of ours instead of getenv (analytics/private_kokkos.cpp).
set(_deaf --redefine-sym getenv=kokkos_private_getenv)
if(EFFORT_KOKKOS_SOURCE)
  effort_kokkos_tree(_tree)
  message(STATUS "Private Kokkos: built from ${_tree}")
  set(_core "${_private}/lib/libkokkoscore.a")
  set(_include "${_private}/include")
  # Kokkos 5 needs C++20. The folder of headers has to exist when its users are configured.
  set(_standard 17)
  file(STRINGS "${_tree}/CMakeLists.txt" _major REGEX "Kokkos_VERSION_MAJOR [0-9]+")
  if(_major MATCHES "MAJOR ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 5)
    set(_standard 20)
  endif()
  file(MAKE_DIRECTORY "${_include}")
  set(_settings "")
  foreach(_name CMAKE_CXX_COMPILER CMAKE_CXX_COMPILER_LAUNCHER CMAKE_TOOLCHAIN_FILE CMAKE_SYSROOT CMAKE_MAKE_PROGRAM)
    if(${_name})
      list(APPEND _settings "-D${_name}=${${_name}}")
    endif()
  endforeach()
  # -fno-gnu-unique: hiding does not affect unique symbols, and they prevent dlclose. cstdint: Kokkos 3 relies on
  # other headers to include it, which those of GCC 13 and later do not.
  set(_flags "-fvisibility=hidden -fvisibility-inlines-hidden -w -include cstdint")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    string(APPEND _flags " -fno-gnu-unique")
  endif()
  include(ExternalProject)
  ExternalProject_Add(effort_kokkos_build SOURCE_DIR "${_tree}" PREFIX "${_private}/steps"
    BINARY_DIR "${_private}/build"
    CMAKE_ARGS ${_settings} -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=${_standard} -DBUILD_SHARED_LIBS=OFF
      -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_OPENMP=OFF
      -DKokkos_ENABLE_LIBDL=OFF -DKokkos_ENABLE_TESTS=OFF -DKokkos_ENABLE_EXAMPLES=OFF -Wno-dev
      -DCMAKE_INSTALL_PREFIX=${_private} -DCMAKE_INSTALL_LIBDIR=lib "-DCMAKE_CXX_FLAGS=${_flags}"
    INSTALL_COMMAND "${CMAKE_COMMAND}" --build . --target install
    COMMAND "${CMAKE_OBJCOPY}" ${_deaf} "${_core}"
    BUILD_BYPRODUCTS "${_core}" LOG_CONFIGURE ON LOG_BUILD ON LOG_INSTALL ON LOG_OUTPUT_ON_FAILURE ON)
  add_dependencies(effort_private_kokkos effort_kokkos_build)
else()
  file(GLOB _built "${EFFORT_DEPS_DIR}/kokkos-private/lib*/libkokkoscore.a")
  set(_core "${_private}/libkokkoscore.a")
  set(_include "${EFFORT_DEPS_DIR}/kokkos-private/include")
  if(NOT _built OR NOT EXISTS "${EFFORT_DEPS_DIR}/kokkos-private/.ready")
    effort_missing("the private Kokkos" always "set EFFORT_KOKKOS_SOURCE to a source tree or tarball of Kokkos, \
3.4 to 5, or run scripts/setup")
    set(_built "")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_built}")
  if(_built AND "${_built}" IS_NEWER_THAN "${_core}")
    file(MAKE_DIRECTORY "${_private}")
    execute_process(COMMAND "${CMAKE_OBJCOPY}" ${_deaf} "${_built}" "${_core}.new" COMMAND_ERROR_IS_FATAL ANY)
    file(RENAME "${_core}.new" "${_core}")
  endif()
endif()
# SYSTEM, because its headers cause warnings in C++20.
target_include_directories(effort_private_kokkos SYSTEM INTERFACE "${_include}")
add_library(effort_kokkos_environment STATIC "${PROJECT_SOURCE_DIR}/analytics/private_kokkos.cpp")
target_link_libraries(effort_kokkos_environment PRIVATE effort_compile_options)
target_link_libraries(effort_private_kokkos INTERFACE "${_core}" effort_kokkos_environment Threads::Threads
  ${CMAKE_DL_LIBS})
set(EFFORT_PRIVATE_KOKKOS_ARCHIVES "${_core}")
