/* The calls of effort that the simulation makes, or nothing at all in a build without it (WITH_EFFORT=OFF). */
#ifndef EFFORT_CALLS_H
#define EFFORT_CALLS_H

#ifdef WITH_EFFORT

#include <effort/effort.h>
#include <effort/effort_mpi.h>

struct simulation;

/* Starts effort on all ranks and sets the rebalancer; see hints.c. */
void hints_start(struct simulation* s);

/* Remembers the work of the step just made, to check later how well unit costs predicted the load. */
void hints_note_work(const struct simulation* s, double particles, double pairs);

/* Ends effort and prints how well unit costs predicted the loads; reports on stderr if no snapshot could be written. */
void hints_stop(const struct simulation* s);

#else

typedef int effort_region_id;
typedef int effort_work_id;
#define effort_region(name, kind, out) ((void)(out))
#define effort_begin(region) ((void)(region))
#define effort_end(region) ((void)(region))
#define effort_work_unit(name, out) ((void)(out))
#define effort_work(unit, amount) ((void)(unit))
#define effort_rebalance_begin() ((void)0)
#define effort_rebalance_end() ((void)0)
#define effort_progress_step() ((void)0)
#define hints_start(simulation) ((void)(simulation))
#define hints_note_work(simulation, particles, pairs) ((void)(simulation))
#define hints_stop(simulation) ((void)(simulation))

#endif
#endif
