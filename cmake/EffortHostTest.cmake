# Host tests: programs that use the library as a user's code does, and report failure by their exit code.
find_package(OpenMP REQUIRED COMPONENTS CXX)

# effort_add_host(TARGET SOURCES ... [LIBRARIES ...]): the program.
function(effort_add_host target)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests/capi")
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} effort_compile_options m)
endfunction()

# effort_add_host_test(module.unit SOURCES ... [LIBRARIES ...] [LABELS unit]): a program and its test, in one process.
function(effort_add_host_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  string(REPLACE "." "_" target "test_${name}")
  effort_add_host(${target} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES} effort)
  add_test(NAME ${name} COMMAND ${target} WORKING_DIRECTORY "${EFFORT_HOST_TEST_DIR}")
  effort_host_test_properties(${name} "${arg_LABELS}" unit)
endfunction()

# effort_add_mpi_host_test(module.unit.npN TARGET RANKS n [ARGS ...] [LABELS mpi] [ENVIRONMENT ...])
function(effort_add_mpi_host_test name target)
  cmake_parse_arguments(arg "" "RANKS" "ARGS;LABELS;ENVIRONMENT" ${ARGN})
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${EFFORT_MPIEXEC_FLAGS} ${MPIEXEC_NUMPROC_FLAG} ${arg_RANKS}
    $<TARGET_FILE:${target}> ${arg_ARGS}
    WORKING_DIRECTORY "${EFFORT_HOST_TEST_DIR}")
  effort_host_test_properties(${name} "${arg_LABELS}" mpi ${arg_ENVIRONMENT})
  set_tests_properties(${name} PROPERTIES PROCESSORS 2)
endfunction()

# The hosts' files go to a directory of their own, whatever the environment of the tests says.
set(EFFORT_HOST_TEST_DIR "${PROJECT_BINARY_DIR}/tests/host-files")
file(MAKE_DIRECTORY "${EFFORT_HOST_TEST_DIR}")
function(effort_host_test_properties name labels default_label)
  if(NOT labels)
    set(labels ${default_label})
  endif()
  set(environment ${EFFORT_MPIEXEC_ENVIRONMENT} "EFFORT_SNAPSHOT_DIR=${EFFORT_HOST_TEST_DIR}/${name}" ${ARGN})
  if(TARGET effort_command)
    list(APPEND environment "EFFORT_TEST_COMMAND=$<TARGET_FILE:effort_command>")
  endif()
  set(timeout 120)
  if(EFFORT_SANITIZE)
    set(timeout 360)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout} ENVIRONMENT "${environment}")
endfunction()
