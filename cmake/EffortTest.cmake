# effort_add_test(module.unit SOURCES a.cpp ... [LIBRARIES ...] [LABELS unit] [RANKS 2 4] [ARGS ...] [TIMEOUT s]) Adds a
# Catch2 executable and its ctest entries: one, or one per number of ranks, named module.unit.npN.
function(effort_add_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS;RANKS;ARGS;ENVIRONMENT" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(EFFORT_SANITIZE)
    math(EXPR arg_TIMEOUT "3 * ${arg_TIMEOUT}")
  endif()
  if(EFFORT_SANITIZE MATCHES "thread")  # which cannot see what OpenMP's runtime orders
    list(TRANSFORM arg_ENVIRONMENT REPLACE "^OMP_NUM_THREADS=.*" "OMP_NUM_THREADS=1")
  endif()
  string(REPLACE "." "_" target "test_${name}")
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} effort_compile_options)
  if(arg_RANKS)
    target_link_libraries(${target} PRIVATE Catch2::Catch2 MPI::MPI_C)
    foreach(ranks IN LISTS arg_RANKS)
      add_test(NAME ${name}.np${ranks} COMMAND ${MPIEXEC_EXECUTABLE} ${EFFORT_MPIEXEC_FLAGS}
        ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${target}> ${arg_ARGS})
      set_tests_properties(${name}.np${ranks} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS 2
        ENVIRONMENT "${EFFORT_MPIEXEC_ENVIRONMENT};${arg_ENVIRONMENT}")
    endforeach()
  else()
    target_link_libraries(${target} PRIVATE Catch2::Catch2WithMain)
    add_test(NAME ${name} COMMAND ${target} ${arg_ARGS})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
      ENVIRONMENT "${arg_ENVIRONMENT}")
  endif()
endfunction()

# Test machines may have fewer cores than ranks, and may run them as root.
set(EFFORT_MPIEXEC_FLAGS "")
set(EFFORT_MPIEXEC_ENVIRONMENT "OMP_NUM_THREADS=1")
if(MPI_C_LIBRARY_VERSION_STRING MATCHES "Open MPI" OR MPI_C_INCLUDE_DIRS MATCHES "openmpi")
  set(EFFORT_MPIEXEC_FLAGS --oversubscribe --bind-to none --allow-run-as-root --mca mpi_yield_when_idle 1)
endif()
