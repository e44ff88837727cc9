#ifndef TRACED_H
#define TRACED_H

#include "expected_events.h"

#include <mpi.h>

extern int rank, size, next, before; /* next and before on the ring of all ranks */
extern int wrong;                    /* the line of a check that failed */
extern int last_request;
extern int multiple; /* MPI_THREAD_MULTIPLE was asked for */

#define CHECK(condition) \
  if (!(condition)) wrong = __LINE__

/* Between polls: in MPICH, they would fill the memory of the trace if ranks share cores. */
void let_others_run(void);
void mark(int tag);
void barrier(void);
/* Expects the start of a request; the others, its end. */
int starts(const char* kind, const char* comm, int peer, int tag, long bytes);
void sent(int request);
void lost(int request);
void got(int request, const char* comm, int peer, int tag, long bytes);

void messages(void);
void completions(void);
void collectives(void);
void communicators(void);
void one_sided(void);
void since_mpi4(void);

#endif
