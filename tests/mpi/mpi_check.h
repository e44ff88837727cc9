/* Checks for hosts with MPI: a failure on any rank fails the test on all ranks. */
#ifndef EFFORT_TESTS_MPI_CHECK_H
#define EFFORT_TESTS_MPI_CHECK_H

#include "check.h"

#include <effort/effort_mpi.h>

#include <stdlib.h>

static inline int failures_of_all(void) {
  int all = 0;
  MPI_Allreduce(&check_failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static inline int my_rank(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

static inline int ranks_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/* The thread level of a run, as its name. */
static inline void start_mpi(int* argc, char*** argv, const char* level) {
  int given = 0;
  const int asked = strcmp(level, "multiple") == 0     ? MPI_THREAD_MULTIPLE
                    : strcmp(level, "serialized") == 0 ? MPI_THREAD_SERIALIZED
                    : strcmp(level, "funneled") == 0   ? MPI_THREAD_FUNNELED
                                                       : MPI_THREAD_SINGLE;
  if (strcmp(level, "init") == 0)
    MPI_Init(argc, argv);
  else
    MPI_Init_thread(argc, argv, asked, &given);
  if (asked == MPI_THREAD_MULTIPLE) CHECK(given == MPI_THREAD_MULTIPLE);
}

/* Checks that every rank's copy of these bytes equals rank 0's. */
static inline int same_everywhere(const void* data, size_t bytes, MPI_Comm comm) {
  unsigned char* copy = (unsigned char*)malloc(bytes + 1);
  int same, all = 0;
  memcpy(copy, data, bytes);
  MPI_Bcast(copy, (int)bytes, MPI_BYTE, 0, comm);
  same = memcmp(copy, data, bytes) == 0;
  free(copy);
  MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, comm);
  return all;
}

static inline effort_config* config_of(const char* const* pairs) {
  effort_config* config = NULL;
  CHECK_OK(effort_config_new(&config));
  for (; pairs && *pairs; pairs += 2) CHECK_OK(effort_config_set(config, pairs[0], pairs[1]));
  return config;
}

#endif
