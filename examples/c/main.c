/* Two Lennard-Jones droplets drift through a mostly empty periodic box; see README.md. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "balance.h"
#include "forces.h"
#include "report.h"
#include "simulation.h"

static const double time_step = 0.004;

enum { early_step = 100, check_every = 10, print_every = 100 };

static void kick(particle_list* list) {
  for (size_t i = 0; i < list->n; ++i) {
    particle* p = &list->at[i];
    for (int d = 0; d < 3; ++d) p->v[d] += 0.5 * time_step * p->f[d];
  }
}

static void drift(particle_list* list, double length) {
  for (size_t i = 0; i < list->n; ++i) {
    particle* p = &list->at[i];
    for (int d = 0; d < 3; ++d) {
      p->x[d] += time_step * p->v[d];
      if (p->x[d] < 0.0) p->x[d] += length;
      if (p->x[d] >= length) p->x[d] -= length;
    }
  }
}

/* Velocity Verlet; particles migrate between drift and force. */
static void advance(simulation* s) {
  measure* m = &s->measure;
  measure_begin(m, SECTION_INTEGRATE);
  kick(&s->particles);
  drift(&s->particles, s->domain.length);
  measure_end(m, SECTION_INTEGRATE);

  measure_begin(m, SECTION_MIGRATE);
  exchange_migrate(&s->exchange, &s->domain, &s->particles, 0);
  measure_end(m, SECTION_MIGRATE);

  measure_begin(m, SECTION_GHOST);
  exchange_ghosts(&s->exchange, &s->domain, &s->particles, &s->ghosts);
  measure_end(m, SECTION_GHOST);

  measure_begin(m, SECTION_NEIGHBOUR);
  cells_fill(&s->cells, &s->domain.boxes[s->rank], &s->particles, &s->ghosts);
  measure_end(m, SECTION_NEIGHBOUR);

  measure_begin(m, SECTION_FORCE);
  forces_compute(&s->cells, &s->particles);
  measure_end(m, SECTION_FORCE);

  measure_begin(m, SECTION_INTEGRATE);
  kick(&s->particles);
  measure_end(m, SECTION_INTEGRATE);
}

/* Compares the conserved quantities with those of the start. */
static void check(simulation* s, int done) {
  measure_begin(&s->measure, SECTION_REDUCE);
  const conserved now = conserved_sum(&s->particles, s->comm);
  measure_end(&s->measure, SECTION_REDUCE);
  const double drift_of_energy = (now.energy - s->at_start.energy) / (double)s->opt.particles;
  double off = 0.0;
  for (int d = 0; d < 3; ++d) off = fmax(off, fabs(now.momentum[d] - s->at_start.momentum[d]));
  s->worst_energy = fmax(s->worst_energy, fabs(drift_of_energy));
  s->worst_momentum = fmax(s->worst_momentum, off / now.momentum_scale);
  s->at_end = now;
  if (s->rank == 0 && done % print_every == 0) {
    printf("step %5d  energy per particle %.9f (%+.1e)  momentum off by %.1e  rebalances %d\n", done,
           now.energy / (double)s->opt.particles, drift_of_energy, off / now.momentum_scale, s->rebalances);
    fflush(stdout);
  }
}

static void take_fingerprint(simulation* s, int done) {
  measure_begin(&s->measure, SECTION_REDUCE);
  s->late = fingerprint_take(&s->particles, s->opt.particles, s->comm);
  if (done <= early_step) s->early = s->late;
  measure_end(&s->measure, SECTION_REDUCE);
}

/* Reports this step's work to effort. */
static void report_work(const simulation* s) {
  int64_t pairs = 0;
  for (size_t i = 0; i < s->particles.n; ++i) pairs += s->particles.at[i].neighbours;
  effort_work(s->unit_particles, (double)s->particles.n);
  effort_work(s->unit_pairs, (double)pairs);
  hints_note_work(s, (double)s->particles.n, (double)pairs);
}

static void run(simulation* s) {
  for (int done = 1; done <= s->opt.steps; ++done) {
    advance(s);
    measure_step(&s->measure);
    report_work(s);
    if (done % check_every == 0 || done == s->opt.steps) check(s, done);
    if (done == early_step || done == s->opt.steps) take_fingerprint(s, done);
    if (s->opt.balance == BALANCE_OWN) balance_own(s);
    effort_progress_step();
  }
}

static loop_cost timed_run(simulation* s) {
  MPI_Barrier(s->comm);
  loop_cost cost = {MPI_Wtime(), cpu_of_thread(), cpu_of_process()};
  run(s);
  cost.thread_cpu = cpu_of_thread() - cost.thread_cpu;
  cost.process_cpu = cpu_of_process() - cost.process_cpu;
  MPI_Barrier(s->comm);
  cost.wall = MPI_Wtime() - cost.wall;
  return cost;
}

static void simulation_start(simulation* s) {
  const double length = droplets_box(s->opt.particles);
  domain_init(&s->domain, length, s->n_ranks);
  exchange_init(&s->exchange, cutoff, s->comm);
  cells_init(&s->cells, length, cutoff);
  measure_init(&s->measure, s->opt.steps);
  droplets_make(&s->particles, s->opt.particles, s->opt.seed, s->rank, s->n_ranks);
  hints_start(s);
  measure_regions(&s->measure);
  s->domain.reduction = s->measure.region[SECTION_REDUCE];
  balance_start(s);
  s->at_start = conserved_sum(&s->particles, s->comm);
  s->at_end = s->at_start;
  if (s->rank == 0) {
    printf("%lld particles in two droplets, box %.2f^3, %d ranks, %d steps, balance %s", (long long)s->opt.particles,
           length, s->n_ranks, s->opt.steps, balance_name(s->opt.balance));
    if (s->opt.balance == BALANCE_OWN) printf(" every %d steps", s->opt.interval);
    printf("\n");
  }
}

static void simulation_free(simulation* s) {
  domain_free(&s->domain);
  exchange_free(&s->exchange);
  cells_free(&s->cells);
  measure_free(&s->measure);
  free(s->particles.at);
  free(s->ghosts.at);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  simulation s = {.comm = MPI_COMM_WORLD};
  MPI_Comm_rank(s.comm, &s.rank);
  MPI_Comm_size(s.comm, &s.n_ranks);
  if (options_read(&s.opt, argc, argv, s.rank == 0)) {
    MPI_Finalize();
    return 2;
  }
  simulation_start(&s);
  const loop_cost cost = timed_run(&s);
  const int bad = report(&s, cost);
  hints_stop(&s);
  simulation_free(&s);
  MPI_Finalize();
  return bad ? 1 : 0;
}
