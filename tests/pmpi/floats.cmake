# Hosts that trap floating-point exceptions, or look at their flags.
# Floating-point exceptions kill this host. The library raises none, not even if no rank computed anything.
effort_add_pmpi_test(traps.np2 known_load ARGS 40 traps SETTINGS EFFORT_LOAD_METRIC=nothing INFO "\"steps\": ")
# Not even the flag of an inexact result is raised, whether steps are looked for, found, or given.
effort_add_unaware_host(test_pmpi_floats C floats.c)
effort_add_pmpi_test(floats.np2 floats INFO "they end with MPI_Allreduce")
effort_add_pmpi_test(floats_traced.np2 floats SETTINGS EFFORT_TRACE=on EFFORT_STEP=MPI_Allreduce
  INFO "\"steps\": *301")
# The time in a collective is divided by six, the messages of a rank.
effort_add_pmpi_test(floats_matrix.np4 floats SETTINGS EFFORT_COMM_MATRIX=1 EFFORT_STEP=MPI_Allreduce
  INFO "\"steps\": *301")
