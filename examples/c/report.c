#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ends = 20 }; /* number of steps at the start and at the end whose imbalance is reported */

static const double energy_tolerance = 1e-3;    /* per particle; a particle inside a droplet is bound by about 7 */
static const double momentum_tolerance = 1e-10; /* relative to the sum of the absolute momenta */

static double sum(double x, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, comm);
  return x;
}

/* Largest over mean computation of a rank in steps first .. first + n - 1. */
static double imbalance(const simulation* s, int first, int n) {
  double own = 0.0;
  for (int k = first; k < first + n; ++k) own += s->measure.compute[k];
  double largest = own;
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, s->comm);
  return largest * s->n_ranks / sum(own, s->comm);
}

/* Sum over the steps of the slowest rank's computation. */
static double critical_path(const simulation* s) {
  double* largest = resize(NULL, (size_t)s->opt.steps, sizeof *largest);
  MPI_Allreduce(s->measure.compute, largest, s->opt.steps, MPI_DOUBLE, MPI_MAX, s->comm);
  double path = 0.0;
  for (int k = 0; k < s->opt.steps; ++k) path += largest[k];
  free(largest);
  return path;
}

static int check(const char* what, int good, double value, double limit, int rank) {
  if (rank == 0) printf("  %-52s %10.2e (limit %.0e)  %s\n", what, value, limit, good ? "pass" : "FAIL");
  return good ? 0 : 1;
}

static int report_physics(const simulation* s) {
  int bad = 0;
  if (s->rank == 0) printf("physics\n");
  const double lost = fabs((double)(s->at_end.particles - s->opt.particles));
  bad += check("particles lost", lost <= 0.0, lost, 0.0, s->rank);
  bad += check("energy drift per particle, largest", s->worst_energy <= energy_tolerance, s->worst_energy,
               energy_tolerance, s->rank);
  bad += check("momentum drift, relative, largest", s->worst_momentum <= momentum_tolerance, s->worst_momentum,
               momentum_tolerance, s->rank);
  if (s->rank == 0) {
    printf("  energy %.12g, momentum %.9f %.9f %.9f\n", s->at_end.energy, s->at_end.momentum[0], s->at_end.momentum[1],
           s->at_end.momentum[2]);
    printf("  checksum after %d steps %.12g, all bits %016llx\n", s->opt.steps < 100 ? s->opt.steps : 100,
           s->early.checksum, (unsigned long long)s->early.bits);
    printf("  checksum after %d steps %.12g, all bits %016llx\n", s->opt.steps, s->late.checksum,
           (unsigned long long)s->late.bits);
  }
  return bad;
}

static void report_balance(const simulation* s, double compute) {
  const int n = s->opt.steps < ends ? s->opt.steps : ends;
  const double first = imbalance(s, 0, n);
  const double last = imbalance(s, s->opt.steps - n, n);
  const double path = critical_path(s);
  if (s->rank != 0) return;
  printf("balance\n");
  printf("  imbalance (max / mean of the ranks' computation)     first %d steps %.3f, last %d steps %.3f\n", n, first,
         n, last);
  printf("  rebalances                                           %d\n", s->rebalances);
  printf("  critical path (largest computation, over the steps)  %.3f s, ideal %.3f s\n", path, compute / s->n_ranks);
}

static void report_time(const simulation* s, double compute, loop_cost cost) {
  const double* t = s->measure.seconds;
  const double comm = sum(t[SECTION_MIGRATE] + t[SECTION_GHOST] + t[SECTION_REDUCE], s->comm);
  const double rebalance = sum(t[SECTION_REBALANCE], s->comm);
  const double host = sum(cost.thread_cpu, s->comm);
  const double others = sum(cost.process_cpu - cost.thread_cpu, s->comm);
  if (s->rank != 0) return;
  printf("time\n");
  printf("  wall                                                 %.3f s, %.2f ms a step\n", cost.wall,
         1e3 * cost.wall / s->opt.steps);
  printf("  computation, CPU of all ranks                        %.3f s, %.2f ms a rank and step\n", compute,
         1e3 * compute / s->opt.steps / s->n_ranks);
  printf("  communication, rebalancing, rest of the host's loop  %.3f s, %.3f s, %.3f s\n", comm, rebalance,
         host - compute - comm - rebalance);
  printf("  threads other than the host's                        %.3f s\n", others > 0.0 ? others : 0.0);
}

int report(simulation* s, loop_cost cost) {
  const double* t = s->measure.seconds;
  const double compute = sum(t[SECTION_INTEGRATE] + t[SECTION_NEIGHBOUR] + t[SECTION_FORCE], s->comm);
  const int bad = report_physics(s);
  report_balance(s, compute);
  report_time(s, compute, cost);
  return bad;
}
