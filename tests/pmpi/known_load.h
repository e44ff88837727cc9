/* Loads that are known: what each rank computes in each step, in seconds of its thread's CPU time. */
#ifndef EFFORT_TESTS_KNOWN_LOAD_H
#define EFFORT_TESTS_KNOWN_LOAD_H
#ifdef __cplusplus
extern "C" {
#endif

/* Grows with the rank, and every eight steps another rank in three has twice as much to do.  Long against what a
 * virtual machine charges to the thread that touches memory which was not used for a while: 0.1 to 0.4 ms, now and
 * then, in no account but the CPU clock. */
static inline double known_load(int rank, int step) {
  return 15e-3 * (1 + 0.25 * rank) * ((step / 8) % 3 == rank % 3 ? 2 : 1);
}

/* Burns that part of the step's load, by the thread's CPU clock, and keeps the clock's own account of it: whoever takes
 * the processor away in the last moment makes the thread burn more than was set.  At the end of the program it is
 * written to own.RANK in the working directory, a line "STEP SECONDS POLLED" each. */
void compute_share(int rank, int step, double share);
/* Asks again and again for that part of the step's load; the account of it is kept apart. */
void poll_share(int rank, int step, double share, void (*ask)(void));
/* The same as compute_share without an account: for what is not computation. */
void burn_share(int rank, int step, double share);

#ifdef __cplusplus
}
#endif
#endif
