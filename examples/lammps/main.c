/* LAMMPS driven from C: two droplets that move through a mostly empty box, rebalanced by LAMMPS's recursive coordinate
 * bisection, either as LAMMPS decides (fix balance) or on effort's hints.
 *
 *   mpirun -np 8 droplets --balance none|own|hints [--every N] [--steps N] [--chunk N] [--scale X]
 *
 * own: `fix balance N 1.05 rcb weight time 1.0`; hints: after `run CHUNK pre no post no`, where effort advises it,
 * a weight per atom and `balance 1.05 rcb weight var`. */
#include <effort/effort.h>
#include <effort/effort_mpi.h>
#include <lammps/library.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_marks.h"

enum { most_chunks = 100000, most_steps = 1000000 };
typedef enum { BALANCE_NONE, BALANCE_OWN, BALANCE_HINTS } mode;

typedef struct {
  void* lammps;
  int rank, n_ranks;
  mode balance;
  int every, steps, chunk;
  double scale;
  /* hints */
  effort_region_id run;
  effort_work_id atoms, pairs;
  int rebalances;
  /* CPU seconds outside MPI, chunk by chunk; rebalancing on hints apart */
  double compute[most_chunks], before, rebalancing;
  int n_chunks;
  /* own: steps at which this rank's part of the box has changed */
  signed char moved[most_steps];
  double bounds[6];
} driver;

static void lmp(driver* d, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  lammps_command(d->lammps, line);
  char why[256] = "";
  if (lammps_has_error(d->lammps) && lammps_get_last_error_message(d->lammps, why, sizeof why)) {
    fprintf(stderr, "droplets: '%s': %s\n", line, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void make_droplets(driver* d) {
  const double s = d->scale;
  lmp(d, "units lj");
  lmp(d, "atom_style charge"); /* lj/cut has no use for charges: they carry the weights, which a variable can name */
  lmp(d, "comm_style tiled");
  lmp(d, "lattice fcc 0.8");
  lmp(d, "region box block 0 %g 0 %g 0 %g", 36 * s, 20 * s, 20 * s);
  lmp(d, "create_box 1 box");
  lmp(d, "mass 1 1.0");
  lmp(d, "region left sphere %g %g %g %g", 9 * s, 7 * s, 10 * s, 6 * s);
  lmp(d, "region right sphere %g %g %g %g", 28 * s, 13 * s, 10 * s, 5 * s);
  lmp(d, "create_atoms 1 region left");
  lmp(d, "create_atoms 1 region right");
  lmp(d, "group left region left");
  lmp(d, "group right region right");
  lmp(d, "velocity all create 0.5 87287");
  lmp(d, "velocity left set 2.0 0.0 0.0 sum yes");
  lmp(d, "velocity right set -2.0 0.3 0.0 sum yes");
  lmp(d, "pair_style lj/cut 2.5");
  lmp(d, "pair_coeff 1 1 1.0 1.0");
  lmp(d, "neighbor 0.3 bin");
  lmp(d, "neigh_modify delay 0 every 5 check yes");
  lmp(d, "fix move all nve");
  lmp(d, "variable cost atom q");
  lmp(d, "thermo 1000000");
  lmp(d, "balance 1.0 rcb"); /* all modes begin balanced by the number of atoms */
}

/* Neighbours of each local atom in the half list: what it costs. */
static double neighbours(driver* d, double* of_atom) {
  const int list = lammps_find_pair_neighlist(d->lammps, "lj/cut", 1, 0, 0);
  double sum = 0;
  for (int i = 0; list >= 0 && i < lammps_neighlist_num_elements(d->lammps, list); ++i) {
    int atom = -1, n = 0, *others = NULL;
    lammps_neighlist_element_neighbors(d->lammps, list, i, &atom, &n, &others);
    if (of_atom && atom >= 0) of_atom[atom] = n;
    sum += n;
  }
  return sum;
}

static double cost_of(const effort_hint* hint, const char* unit, double otherwise) {
  for (int u = 0; u < hint->n_units; ++u)
    if (strcmp(hint->unit_name[u], unit) == 0) return hint->unit_cost[u];
  return otherwise;
}

/* The rank's predicted load, shared out among its atoms by what atoms and neighbours cost. */
static void weigh_atoms(driver* d, const effort_hint* hint) {
  const int n = lammps_extract_setting(d->lammps, "nlocal");
  double* cost = lammps_extract_atom(d->lammps, "q");
  double* estimate = calloc((size_t)n + 1, sizeof *estimate);
  neighbours(d, estimate);
  double atom = cost_of(hint, "atoms", 1), pair = cost_of(hint, "pairs", 0.1), mean = 0;
  if (!(pair > 0)) atom = 1, pair = 0.1;
  for (int i = 0; i < n; ++i) estimate[i] = atom + pair * estimate[i];
  effort_weights_share((size_t)n, estimate, hint->predicted[d->rank], cost);
  for (int r = 0; r < d->n_ranks; ++r) mean += hint->predicted[r];
  const double least = 1e-6 * mean / lammps_get_natoms(d->lammps); /* LAMMPS wants weights above 0 */
  for (int i = 0; i < n; ++i) cost[i] = cost[i] > least ? cost[i] : least;
  free(estimate);
}

static int on_hint(const effort_hint* hint, void* user) {
  driver* d = user;
  if (!hint->rebalance) return 0;
  weigh_atoms(d, hint);
  lmp(d, "balance 1.0 rcb weight var cost");
  lmp(d, "run 0 pre yes post no"); /* new neighbour lists: the next run makes none */
  ++d->rebalances;
  return 1;
}

static void end_chunk(driver* d) {
  const double now = compute_seconds();
  if (d->n_chunks < most_chunks) d->compute[d->n_chunks++] = now - d->before;
  d->before = now;
}

/* LAMMPS does not tell how often it rebalances, but where this rank's part of the box lies. */
static void watch_bounds(driver* d, int64_t step) {
  const double* lo = lammps_extract_global(d->lammps, "sublo");
  const double* hi = lammps_extract_global(d->lammps, "subhi");
  if (!lo || !hi || step < 0 || step >= most_steps) return;
  d->moved[step] = step > 0 && (memcmp(d->bounds, lo, 3 * sizeof *lo) != 0 || memcmp(d->bounds + 3, hi, 3 * sizeof *hi) != 0);
  memcpy(d->bounds, lo, 3 * sizeof *lo);
  memcpy(d->bounds + 3, hi, 3 * sizeof *hi);
}

/* Called after the forces of each step of a long run. */
static void on_step(void* user, int64_t step, int n, int* ids, double** x, double** f) {
  driver* d = user;
  (void)ids, (void)x;
  for (int i = 0; i < n; ++i) f[i][0] = f[i][1] = f[i][2] = 0; /* no force of ours */
  watch_bounds(d, step);
  if (step > 0 && step % d->chunk == 0) end_chunk(d);
}

static void run_on_hints(driver* d) {
  mpi_marks_start();
  for (int done = 0; done < d->steps; done += d->chunk) {
    effort_begin(d->run);
    lmp(d, "run %d pre no post no", d->chunk);
    effort_end(d->run);
    effort_work(d->atoms, (double)d->chunk * lammps_extract_setting(d->lammps, "nlocal"));
    effort_work(d->pairs, d->chunk * neighbours(d, NULL));
    end_chunk(d);
    effort_progress_step();
    d->rebalancing += compute_seconds() - d->before;
    d->before = compute_seconds();
  }
  mpi_marks_stop();
}

static void run_by_itself(driver* d) {
  lmp(d, "fix sample all external pf/callback 1 1");
  lammps_set_fix_external_callback(d->lammps, "sample", (FixExternalFnPtr)on_step, d);
  if (d->balance == BALANCE_OWN) lmp(d, "fix balance all balance %d 1.05 rcb weight time 1.0", d->every);
  lmp(d, "run %d post no", d->steps);
}

static void start_effort(driver* d) {
  effort_config* config = NULL;
  effort_config_new(&config);
  effort_config_set(config, "LOAD_METRIC", "cpu_time"); /* ranks may share cores */
  effort_config_set(config, "WINDOW", "2");             /* chunks: 20 steps of LAMMPS */
  effort_config_set(config, "HINT_LAG", "1");
  if (effort_init_mpi(MPI_COMM_WORLD, config) != EFFORT_OK && d->rank == 0) fprintf(stderr, "droplets: %s\n", effort_last_error());
  effort_config_free(config);
  effort_region("run", EFFORT_COMPUTE, &d->run);
  effort_work_unit("atoms", &d->atoms);
  effort_work_unit("pairs", &d->pairs);
  effort_on_rebalance(on_hint, d);
}

static int number(int argc, char** argv, const char* name, int otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (strcmp(argv[i], name) == 0) return atoi(argv[i + 1]);
  return otherwise;
}

static void read_options(driver* d, int argc, char** argv) {
  d->balance = BALANCE_HINTS;
  d->scale = 1;
  for (int i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], "--balance") == 0) d->balance = strcmp(argv[i + 1], "none") == 0 ? BALANCE_NONE : strcmp(argv[i + 1], "own") == 0 ? BALANCE_OWN : BALANCE_HINTS;
    if (strcmp(argv[i], "--scale") == 0) d->scale = atof(argv[i + 1]);
  }
  d->every = number(argc, argv, "--every", 100);
  d->chunk = number(argc, argv, "--chunk", 10);
  d->steps = number(argc, argv, "--steps", 3000);
}

static void report(driver* d) {
  static double largest[most_chunks], sum[most_chunks];
  MPI_Reduce(d->compute, largest, d->n_chunks, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(d->compute, sum, d->n_chunks, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  double critical = 0, ideal = 0;
  for (int c = 0; c < d->n_chunks; ++c) {
    critical += largest[c];
    ideal += sum[c] / d->n_ranks;
  }
  double rebalancing = 0;
  MPI_Reduce(&d->rebalancing, &rebalancing, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  static signed char moved[most_steps];
  MPI_Reduce(d->moved, moved, d->steps < most_steps ? d->steps + 1 : most_steps, MPI_SIGNED_CHAR, MPI_MAX, 0, MPI_COMM_WORLD);
  for (int s = 0; s < most_steps; ++s) d->rebalances += moved[s];
  const double energy = lammps_get_thermo(d->lammps, "etotal"); /* collective */
  if (d->rank > 0) return;
  printf("atoms %.0f, energy per atom %.4f\n", lammps_get_natoms(d->lammps), energy);
  if (d->balance != BALANCE_NONE) printf("rebalances %d\n", d->rebalances);
  if (d->balance == BALANCE_HINTS) printf("rebalancing %.3f s, new neighbour lists included\n", rebalancing);
  printf("critical path %.3f s, ideal %.3f s over %d chunks of %d steps\n", critical, ideal, d->n_chunks, d->chunk);
}

int main(int argc, char** argv) {
  static driver d;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &d.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &d.n_ranks);
  read_options(&d, argc, argv);
  char* arguments[] = {"droplets", "-log", "none", "-screen", "none", NULL};
  d.lammps = lammps_open(5, arguments, MPI_COMM_WORLD, NULL);
  make_droplets(&d);
  if (d.balance == BALANCE_HINTS) start_effort(&d);
  lmp(&d, "run 0 post no");
  d.before = compute_seconds();
  if (d.balance == BALANCE_HINTS) run_on_hints(&d);
  else run_by_itself(&d);
  report(&d);
  if (d.balance == BALANCE_HINTS) effort_finalize();
  lammps_close(d.lammps);
  MPI_Finalize();
  return 0;
}
