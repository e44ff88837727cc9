# Host libraries (shared and static), the CMake package and the pkg-config files.
include(CMakePackageConfigHelpers)

# Which kinds are made: both, or the one that BUILD_SHARED_LIBS names.  The tests use both, whatever is installed.
set(EFFORT_INSTALL_SHARED ON)
set(EFFORT_INSTALL_STATIC ON)
if(DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS)
  set(EFFORT_INSTALL_SHARED OFF)
elseif(BUILD_SHARED_LIBS OR EFFORT_SANITIZE)
  set(EFFORT_INSTALL_STATIC OFF)
endif()

# effort_add_host_library(NAME CORE ALIAS PRIVATE_ARCHIVES...): makes lib<NAME>.so and lib<NAME>.a of the static library
# CORE. Both export only its C API.  Inside the build, effort::ALIAS is the shared one if there is one.
function(effort_add_host_library name core alias)
  # What the command needs of the archives, and the host does not, is left out: function by function.
  foreach(part IN ITEMS ${core} ${ARGN})
    if(TARGET ${part})
      target_compile_options(${part} PRIVATE -ffunction-sections -fdata-sections)
    endif()
  endforeach()
  if(NOT EFFORT_SANITIZE AND (EFFORT_INSTALL_STATIC OR EFFORT_ENABLE_TESTS))
    effort_add_static_host_library(${name} ${core} ${ARGN})
  endif()
  if(NOT EFFORT_INSTALL_SHARED AND NOT EFFORT_ENABLE_TESTS)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE "${CMAKE_CURRENT_BINARY_DIR}/lib${name}.a")
    target_include_directories(${name} INTERFACE "${PROJECT_SOURCE_DIR}/capi/include")
    add_dependencies(${name} ${name}_static)
    add_library(effort::${alias} ALIAS ${name})
    return()
  endif()
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp" "")
  add_library(${name} SHARED "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  add_library(effort::${alias} ALIAS ${name})
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    EXPORT_NAME ${alias} LINK_DEPENDS "${PROJECT_SOURCE_DIR}/capi/exports.map")
  # The version script hides everything that comes from archives: Kokkos, zstd, our own pieces.
  target_link_libraries(${name} PRIVATE -Wl,--whole-archive ${core} -Wl,--no-whole-archive)
  # dlclose must not unload it: MPI, exiting threads and exit handlers still call into it.
  target_link_options(${name} PRIVATE "-Wl,--version-script=${PROJECT_SOURCE_DIR}/capi/exports.map" -Wl,-z,nodelete
    -Wl,--gc-sections)
  if(NOT EFFORT_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/capi/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(EFFORT_INSTALL_SHARED)
    install(TARGETS ${name} EXPORT effortTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endfunction()

# Makes one relocatable object in which everything but the C API is local, so that a host that links it statically can
# have its own Kokkos or zstd. Without --force-group-allocation the final link would merge section groups, whose symbols
# have become local, with the host's copies. LLVM's linker, which CMake takes with Clang, knows it only from version 19
# on.
function(effort_add_static_host_library name core)
  set(linker "${CMAKE_LINKER}")
  if(linker MATCHES "lld[^/]*$")
    find_program(EFFORT_GNU_LINKER ld.bfd DOC "Makes the static libraries if CMAKE_LINKER is LLVM's" REQUIRED)
    mark_as_advanced(EFFORT_GNU_LINKER)
    set(linker "${EFFORT_GNU_LINKER}")
  endif()
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}_all.o")
  set(archive "${CMAKE_CURRENT_BINARY_DIR}/lib${name}.a")
  set(parts "")
  foreach(part IN LISTS ARGN)
    if(TARGET ${part})
      list(APPEND parts "$<TARGET_FILE:${part}>")
    else()
      list(APPEND parts "${part}")
    endif()
  endforeach()
  add_custom_command(OUTPUT "${archive}"
    COMMAND "${linker}" -r --force-group-allocation -o "${object}" --whole-archive "$<TARGET_FILE:${core}>"
    --no-whole-archive --start-group ${parts} --end-group
    COMMAND "${CMAKE_OBJCOPY}" --wildcard "--keep-global-symbol=effort_*" "${object}"
    COMMAND "${CMAKE_COMMAND}" -E rm -f "${archive}"
    COMMAND "${CMAKE_AR}" qcs "${archive}" "${object}"
    DEPENDS ${core} ${ARGN} COMMENT "Linking the static library lib${name}.a" VERBATIM)
  add_custom_target(${name}_static ALL DEPENDS "${archive}")
  add_dependencies(${name}_static effort_private_kokkos)
  if(EFFORT_INSTALL_STATIC)
    install(FILES "${archive}" DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endfunction()

# The path of a folder of the installation in a .pc file: relative to its prefix where it lies inside it.
function(effort_pc_path out directory)
  set(path "\${prefix}/${directory}")
  if(IS_ABSOLUTE "${directory}")
    file(RELATIVE_PATH inside "${CMAKE_INSTALL_PREFIX}" "${directory}")
    if(inside MATCHES "^\\.\\.")
      set(path "${directory}")
    else()
      set(path "\${prefix}/${inside}")
    endif()
  endif()
  set(${out} "${path}" PARENT_SCOPE)
endfunction()

function(effort_install_package)
  set(EFFORT_STATIC_LIBS "-lstdc++ -lm -lpthread -ldl")
  set(EFFORT_PC_PRIVATE "")
  if(EFFORT_ENABLE_HWLOC)
    set(EFFORT_PC_PRIVATE hwloc)
  endif()
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/effort")
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/effortConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/effortConfig.cmake"
    INSTALL_DESTINATION "${package_dir}" PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/effortConfigVersion.cmake" COMPATIBILITY SameMajorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/effortConfig.cmake" "${PROJECT_BINARY_DIR}/effortConfigVersion.cmake"
    DESTINATION "${package_dir}")
  if(EFFORT_INSTALL_SHARED OR EFFORT_ENABLE_FUNCTIONS)
    install(EXPORT effortTargets NAMESPACE effort:: DESTINATION "${package_dir}")
  endif()
  set(names effort)
  if(EFFORT_ENABLE_MPI)
    list(APPEND names effort_mpi)
  endif()
  if(EFFORT_ENABLE_MPI AND EFFORT_ENABLE_PMPI)
    list(APPEND names effort_pmpi)
  endif()
  if(EFFORT_ENABLE_FORTRAN)
    list(APPEND names effort_fortran)
    set(EFFORT_PC_FORTRAN_REQUIRES effort)
    if(EFFORT_ENABLE_MPI)
      set(EFFORT_PC_FORTRAN_REQUIRES effort_mpi)
    endif()
  endif()
  effort_pc_path(EFFORT_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
  effort_pc_path(EFFORT_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
  # The prefix is relative to the file itself, so the installed tree can be moved.
  set(EFFORT_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
  if(EFFORT_PC_LIBDIR MATCHES "^.{prefix}/(.*)")
    file(RELATIVE_PATH EFFORT_PC_PREFIX "/${CMAKE_MATCH_1}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" EFFORT_PC_PREFIX "\${pcfiledir}/${EFFORT_PC_PREFIX}")
  endif()
  set(EFFORT_PC_RPATH "")
  if(EFFORT_PKGCONFIG_RPATH)
    set(EFFORT_PC_RPATH "-Wl,-rpath,\${libdir} ")
  endif()
  foreach(name IN LISTS names)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endforeach()
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
endfunction()
