# Runs a halo on simulated nodes, places its ranks, runs it in that order, and compares the bytes that left a node with
# those predicted.
# cmake -DLAUNCH=... -DRANKS=n -DGRID="w;h" -DPRELOAD=lib -DHOST=program -DEFFORT=command -DDIR=folder -P place.cmake
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE "${DIR}")
function(run_and_place name)
  file(MAKE_DIRECTORY "${DIR}/${name}")
  execute_process(COMMAND ${LAUNCH} ${RANKS} env "LD_PRELOAD=${PRELOAD}" "EFFORT_SNAPSHOT_DIR=${DIR}/${name}"
      EFFORT_COMM_MATRIX=1 EFFORT_RANKS_PER_NODE=4 "${HOST}" ${GRID} ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text TIMEOUT 100)
  if(code)
    message(FATAL_ERROR "the halo ended with ${code}:\n${text}")
  endif()
  file(GLOB snapshot "${DIR}/${name}/*.effort")
  execute_process(COMMAND "${EFFORT}" place ${snapshot} --format mpich -o "${DIR}/${name}/order" --json
    RESULT_VARIABLE code OUTPUT_VARIABLE json ERROR_VARIABLE error)
  if(code)
    message(FATAL_ERROR "effort place failed: ${error}")
  endif()
  message(STATUS "${name}: ${json}")
  foreach(key bytes off_node off_node_before)
    string(JSON value GET "${json}" ${key})
    set(${name}_${key} "${value}" PARENT_SCOPE)
  endforeach()
endfunction()
run_and_place(first)
run_and_place(second "${DIR}/first/order")
if(NOT first_off_node LESS first_off_node_before)
  message(FATAL_ERROR "no better order was found: ${first_off_node} bytes instead of ${first_off_node_before}")
endif()
if(NOT second_off_node_before EQUAL first_off_node OR NOT second_bytes EQUAL first_bytes)
  message(FATAL_ERROR "${second_off_node_before} bytes left a node, predicted were ${first_off_node}")
endif()
