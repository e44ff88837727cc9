/* A program's own list of the messages and collectives that its trace must hold, one file per rank and thread:
 * expected-RANK-THREAD.txt with lines "KIND COMMUNICATOR PEER TAG BYTES RECEIVED REQUEST" in the order in which the
 * trace must have them.  KIND as in trace::kind_text; COMMUNICATOR is any name for it; PEER is a rank in
 * MPI_COMM_WORLD; REQUEST is any number for it, 0: none.  A file starts and ends with the messages of mark(). */
#ifndef EXPECTED_EVENTS_H
#define EXPECTED_EVENTS_H

enum { first_mark = 7771, last_mark = 7772 };

/* Begins the calling thread's list. */
void expect_begin(int rank, int thread);
void expect_end(void);
void expect(const char* kind, const char* communicator, int peer, int tag, long bytes, long received, int request);

#endif
