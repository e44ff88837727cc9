/* Loads that are known: what each rank computes in each step, in seconds of its thread's CPU time. */
#ifndef EFFORT_TESTS_KNOWN_LOAD_H
#define EFFORT_TESTS_KNOWN_LOAD_H
#ifdef __cplusplus
extern "C" {
#endif

/* Grows with the rank, and every eight steps another rank in three has twice as much to do. */
static inline double known_load(int rank, int step) { return 5e-3 * (1 + 0.25 * rank) * ((step / 8) % 3 == rank % 3 ? 2 : 1); }

/* Computes for that part of the step's load. */
void compute_share(int rank, int step, double share);

#ifdef __cplusplus
}
#endif
#endif
