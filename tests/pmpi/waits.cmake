# Waits that are measured on all ranks during the run.
# Waits at collectives, all on one node and over nodes, are those of the program's own clock.
effort_add_host(test_pmpi_waits SOURCES waits.c LIBRARIES effort_mpi MPI::MPI_C m)
set(waits EFFORT_COMM_WAITS=1 EFFORT_WINDOW=4 EFFORT_HINT_LAG=0)
effort_add_pmpi_test(waits.np4 waits LOUD SETTINGS ${waits} INFO "waits at [0-9]+ collectives were evaluated")
effort_add_pmpi_test(waits_traced.np5 waits LOUD SETTINGS ${waits} EFFORT_TRACE=on)
if(EFFORT_PYTHON)
  set(waits_check AFTER "${EFFORT_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/waits.py" {DIR} $<TARGET_FILE:effort_command>)
  effort_add_pmpi_test(waits_nodes.np4 waits ARGS nodes LOUD SETTINGS ${waits} EFFORT_RANKS_PER_NODE=1 ${waits_check})
  effort_add_pmpi_test(waits_traced_nodes.np5 waits ARGS nodes LOUD
    SETTINGS ${waits} EFFORT_TRACE=on EFFORT_RANKS_PER_NODE=2 ${waits_check})
endif()
# Late senders: waits as long as by the program's own clock, charged to the rank where lateness begins.  All ranks
# record whatever the design of the sample is.
effort_add_host(test_pmpi_late_senders SOURCES late_senders.c LIBRARIES effort_mpi MPI::MPI_C m)
effort_add_pmpi_test(late_senders.np4 late_senders LOUD SETTINGS ${waits} EFFORT_TRACE=on EFFORT_LOAD_METRIC=cpu_time
  INFO "[0-9]+ messages were examined for late senders")
effort_add_pmpi_test(late_senders_nodes.np4 late_senders ARGS nodes LOUD
  SETTINGS ${waits} EFFORT_TRACE=on EFFORT_TRACE_DESIGN=subset EFFORT_RANKS_PER_NODE=2 EFFORT_LOAD_METRIC=cpu_time)
# A loss that nobody waits for causes no rebalance, once waits are known.
effort_add_host(test_pmpi_unmet SOURCES unmet.c LIBRARIES effort_mpi MPI::MPI_C)
effort_add_pmpi_test(unmet.np4 unmet ARGS 0 SETTINGS EFFORT_COMM_WAITS=1 EFFORT_MAX_OVERHEAD=0)
effort_add_pmpi_test(unmet_nodes.np4 unmet ARGS 0
  SETTINGS EFFORT_COMM_WAITS=1 EFFORT_MAX_OVERHEAD=0 EFFORT_RANKS_PER_NODE=2)
effort_add_pmpi_test(unmet_unknown.np4 unmet ARGS 1 SETTINGS EFFORT_MAX_OVERHEAD=0)
