# Adds a test of a program that does not know the library.
#
# effort_add_pmpi_test(unit.npN program ...): runs test_pmpi_<program> on N ranks with the adapter preloaded.
#   ARGS ...                arguments of the program
#   SETTINGS A=1 ...        variables in its environment
#   CODE 0, SNAPSHOTS 1     its expected exit code and number of snapshots
#   LOADS steps how         compares the measured loads with the set ones (check_loads.cpp)
#   INFO regex ...          patterns in the output of `effort info --json`; NOT_INFO: patterns that must not occur there
#   SAYS regex              a pattern in the output; LOUD: the program prints something itself
#   LEAVES regex            a pattern in the file that says why nothing was measured; there must be none otherwise
#   AFTER program ...       a check that runs afterwards
#   PRELOADS target | PRELOADS_FILE path | PRELOADED_FIRST target    a library preloaded after or before the adapter
function(effort_add_pmpi_test unit program)
  cmake_parse_arguments(arg "LOUD" "CODE;SNAPSHOTS;PRELOADS;PRELOADS_FILE;PRELOADED_FIRST;SAYS;LEAVES"
    "ARGS;SETTINGS;LOADS;INFO;NOT_INFO;LABELS;AFTER" ${ARGN})
  string(REGEX REPLACE ".*\\.np" "" ranks "${unit}")
  foreach(pair "CODE 0" "SNAPSHOTS 1" "LABELS mpi")
    string(REPLACE " " ";" pair "${pair}")
    list(GET pair 0 key)
    if("${arg_${key}}" STREQUAL "")
      list(GET pair 1 arg_${key})
    endif()
  endforeach()
  set(preload "$<TARGET_FILE:effort_pmpi>")
  if(arg_PRELOADS)
    string(APPEND preload ":$<TARGET_FILE:${arg_PRELOADS}>")
  elseif(arg_PRELOADS_FILE)
    string(APPEND preload ":${arg_PRELOADS_FILE}")
  elseif(arg_PRELOADED_FIRST)
    string(PREPEND preload "$<TARGET_FILE:${arg_PRELOADED_FIRST}>:")
  endif()
  string(PREPEND preload "${EFFORT_PRELOAD_FIRST}")
  set(check "")
  if(arg_LOADS)
    set(check "$<TARGET_FILE:test_pmpi_check_loads>" ${arg_LOADS})
  endif()
  if(arg_LOUD OR arg_SAYS)
    set(quiet OFF)
  else()
    set(quiet ON)
  endif()
  set(name pmpi.${unit})
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND}
    "-DLAUNCH=${MPIEXEC_EXECUTABLE};${EFFORT_MPIEXEC_FLAGS};${MPIEXEC_NUMPROC_FLAG}" "-DRANKS=${ranks}"
    "-DPRELOAD=${preload}" "-DSETTINGS=${arg_SETTINGS}" "-DHOST=$<TARGET_FILE:test_pmpi_${program}>;${arg_ARGS}"
    "-DDIR=${EFFORT_HOST_TEST_DIR}/${name}" "-DCODE=${arg_CODE}" "-DSNAPSHOTS=${arg_SNAPSHOTS}" "-DQUIET=${quiet}"
    "-DEFFORT=$<TARGET_FILE:effort_command>" "-DCHECK=${check}" "-DINFO=${arg_INFO}" "-DNOT_INFO=${arg_NOT_INFO}"
    "-DSAYS=${arg_SAYS}" "-DLEAVES=${arg_LEAVES}" "-DAFTER=${arg_AFTER}" -P "${CMAKE_CURRENT_SOURCE_DIR}/run.cmake")
  effort_host_test_properties(${name} "${arg_LABELS}" mpi)
  set_tests_properties(${name} PROPERTIES PROCESSORS 2)
endfunction()
