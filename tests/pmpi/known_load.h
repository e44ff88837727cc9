/* Known loads: the computation of each rank in each step, in seconds of its thread's CPU time. */
#ifndef EFFORT_TESTS_KNOWN_LOAD_H
#define EFFORT_TESTS_KNOWN_LOAD_H
#ifdef __cplusplus
extern "C" {
#endif

/* Grows with the rank.  Every eight steps another one in three ranks has twice the load.  Loads are long compared with
 * the 0.1 to 0.4 ms that a virtual machine occasionally charges to a thread that touches long unused memory, which only
 * the CPU clock shows. */
static inline double known_load(int rank, int step) {
  return 15e-3 * (1 + 0.25 * rank) * ((step / 8) % 3 == rank % 3 ? 2 : 1);
}

/* Burns that part of the step's load by the thread's CPU clock, and records how much the clock counted: a thread that
 * loses the processor at the last moment burns more than was set.  At the end of the program, the record is written to
 * own.RANK in the working directory, with lines "STEP SECONDS POLLED". */
void compute_share(int rank, int step, double share);
/* Calls `ask` repeatedly for that part of the step's load, which is recorded separately. */
void poll_share(int rank, int step, double share, void (*ask)(void));
/* The same as compute_share without a record, for time that is not computation. */
void burn_share(int rank, int step, double share);

#ifdef __cplusplus
}
#endif
#endif
