# Host libraries, the CMake package and the pkg-config files.

# effort_add_host_library(NAME CORE): lib<NAME>.so with nothing visible but its C API.
function(effort_add_host_library name core)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp" "")
  add_library(${name} SHARED "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  # --exclude-libs: what comes from archives (Kokkos, zstd, our own pieces) stays inside; the exceptions are the
  # functions that are exported on purpose, which the version script names.
  target_link_libraries(${name} PRIVATE -Wl,--whole-archive ${core} -Wl,--no-whole-archive)
  target_link_options(${name} PRIVATE "-Wl,--version-script=${PROJECT_SOURCE_DIR}/capi/exports.map" -Wl,-z,defs)
  set_target_properties(${name} PROPERTIES LINK_DEPENDS "${PROJECT_SOURCE_DIR}/capi/exports.map")
  install(TARGETS ${name} EXPORT effortTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

function(effort_install_package)
endfunction()
