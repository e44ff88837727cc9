/* LAMMPS driven from C: two droplets that move through a mostly empty box, rebalanced by LAMMPS's recursive coordinate
 * bisection, either as LAMMPS decides (fix balance) or on effort's hints.
 *
 *   mpirun -np 8 droplets --balance none|own|hints|between [--every N] [--steps N] [--chunk N] [--scale X]
 *
 * own:     `fix balance N 1.05 rcb weight time 1.0`
 * hints:   `fix balance CHUNK 1.0 rcb weight var`, in one long run; when effort recommends it, each atom gets a
 *          weight and the fix acts together with the next neighbour lists that are due
 * between: the same from outside: `run CHUNK pre no post no`, and when effort recommends it
 *          `balance 1.0 rcb weight var` */
#include <effort/effort.h>
#include <effort/effort_mpi.h>
#include <lammps/library.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lammps_marks.h"
#include "mpi_marks.h"

enum { most_chunks = 100000, most_calls = 1000000 };
typedef enum { BALANCE_NONE, BALANCE_OWN, BALANCE_HINTS, BALANCE_BETWEEN, N_MODES } mode;

/* One measure chunk by chunk, in CPU seconds outside MPI. */
typedef struct {
  double chunk[most_chunks], before;
} series;

typedef struct {
  void* lammps;
  int rank, n_ranks;
  mode balance;
  int every, steps, chunk;
  double scale;
  /* hints */
  effort_region_id run;
  effort_work_id atoms, pairs;
  int advised; /* the atoms have weights that fix balance has not used yet */
  /* pair forces and neighbour lists; all computation, rebalancing included */
  series work, all;
  double set_up; /* pair forces and neighbour lists that no timer of LAMMPS sees */
  int n_chunks;
  /* rebalances: how often this rank's part of the box has changed, and the time of all */
  signed char moved[most_calls];
  int n_calls;
  double bounds[6], rebalance_began, rebalancing;
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
  lmp(d, "atom_style charge"); /* lj/cut does not use charges, so they carry the weights: a variable can name them */
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

/* Number of neighbours of each local atom in the half list, by which it is weighted. */
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

static double cost_of(const effort_hint* hint, const char* unit) {
  for (int u = 0; u < hint->n_units; ++u)
    if (strcmp(hint->unit_name[u], unit) == 0) return hint->unit_cost[u];
  return -1;
}

/* The predicted cost of each atom, from the fitted costs of an atom and of a pair; until these are known, the rank's
 * predicted load, divided in proportion to the number of neighbours. */
static void weigh_atoms(driver* d, const effort_hint* hint) {
  const int n = lammps_extract_setting(d->lammps, "nlocal");
  double* cost = lammps_extract_atom(d->lammps, "q");
  double* estimate = calloc((size_t)n + 1, sizeof *estimate);
  neighbours(d, estimate);
  const double atom = cost_of(hint, "atoms"), pair = cost_of(hint, "pairs");
  double mean = 0;
  for (int i = 0; i < n; ++i) {
    cost[i] = (atom > 0 ? atom : 0) + pair * estimate[i];
    estimate[i] = 1 + 0.1 * estimate[i];
  }
  if (!(pair > 0)) effort_weights_share((size_t)n, estimate, hint->predicted[d->rank], cost);
  for (int r = 0; r < d->n_ranks; ++r) mean += hint->predicted[r];
  const double least = 1e-6 * mean / lammps_get_natoms(d->lammps); /* LAMMPS wants weights above 0 */
  for (int i = 0; i < n; ++i) cost[i] = cost[i] > least ? cost[i] : least;
  free(estimate);
}

/* LAMMPS does not report how often it rebalances, but it reports the position of this rank's part of the box. */
static void note_bounds(driver* d) {
  const double* lo = lammps_extract_global(d->lammps, "sublo");
  const double* hi = lammps_extract_global(d->lammps, "subhi");
  if (!lo || !hi || d->n_calls >= most_calls) return;
  d->moved[d->n_calls++] = memcmp(d->bounds, lo, 3 * sizeof *lo) != 0 || memcmp(d->bounds + 3, hi, 3 * sizeof *hi) != 0;
  memcpy(d->bounds, lo, 3 * sizeof *lo);
  memcpy(d->bounds + 3, hi, 3 * sizeof *hi);
}

static int before_balance(void* user) {
  driver* d = user;
  if (d->balance == BALANCE_HINTS && !d->advised) return 0;
  d->rebalance_began = compute_seconds();
  if (d->balance == BALANCE_HINTS) {
    effort_end(d->run);
    effort_rebalance_begin();
  }
  return 1;
}

static void after_balance(void* user) {
  driver* d = user;
  if (d->balance == BALANCE_HINTS) {
    effort_rebalance_end();
    effort_begin(d->run);
    d->advised = 0;
  }
  d->rebalancing += compute_seconds() - d->rebalance_began;
  note_bounds(d);
}

static void balance_between(driver* d) {
  d->rebalance_began = compute_seconds();
  lmp(d, "balance 1.0 rcb weight var cost");
  const double balanced = compute_seconds();
  lmp(d, "run 0 pre yes post no"); /* makes new neighbour lists and forces, because the next run does not */
  d->set_up += compute_seconds() - balanced;
  d->rebalancing += balanced - d->rebalance_began;
  note_bounds(d);
}

static int on_hint(const effort_hint* hint, void* user) {
  driver* d = user;
  if (!hint->rebalance) return 0;
  weigh_atoms(d, hint);
  d->advised = d->balance == BALANCE_HINTS;
  if (d->advised) return 0; /* the fix acts later: before_balance() and after_balance() tell when */
  balance_between(d);
  return 1;
}

static void add(series* s, int chunk, double now) {
  if (chunk < most_chunks) s->chunk[chunk] = now - s->before;
  s->before = now;
}

static void end_chunk(driver* d) {
  add(&d->work, d->n_chunks, work_seconds() + d->set_up);
  add(&d->all, d->n_chunks, compute_seconds());
  if (d->n_chunks < most_chunks) ++d->n_chunks;
}

/* effort's step is a chunk of LAMMPS's; the time between end and begin is effort's and the rebalancer's. */
static void end_effort_step(driver* d) {
  effort_end(d->run);
  effort_work(d->atoms, (double)d->chunk * lammps_extract_setting(d->lammps, "nlocal"));
  effort_work(d->pairs, d->chunk * neighbours(d, NULL));
  effort_progress_step();
  effort_begin(d->run);
}

/* Called after the forces of each step of a long run.  Chunks end before steps that are multiples of their length,
 * because fix balance acts at these. */
static void on_step(void* user, int64_t step, int n, int* ids, double** x, double** f) {
  driver* d = user;
  (void)ids, (void)x;
  for (int i = 0; i < n; ++i) f[i][0] = f[i][1] = f[i][2] = 0; /* this fix adds no force */
  if ((step + 1) % d->chunk != 0) return;
  if (d->balance == BALANCE_HINTS) end_effort_step(d);
  end_chunk(d);
}

static void run_between(driver* d) {
  effort_begin(d->run);
  for (int done = 0; done < d->steps; done += d->chunk) {
    lmp(d, "run %d pre no post no", d->chunk);
    end_effort_step(d);
    end_chunk(d);
  }
  effort_end(d->run);
}

static void run_by_itself(driver* d) {
  lmp(d, "fix sample all external pf/callback 1 1");
  lammps_set_fix_external_callback(d->lammps, "sample", (FixExternalFnPtr)on_step, d);
  if (d->balance == BALANCE_OWN) lmp(d, "fix balance all balance %d 1.05 rcb weight time 1.0", d->every);
  if (d->balance == BALANCE_HINTS) {
    lmp(d, "set group all charge 1.0");
    lmp(d, "fix balance all balance %d 1.0 rcb weight var cost", d->chunk);
    effort_begin(d->run);
  }
  mark_fix_balance((balance_marks){before_balance, after_balance, d});
  lmp(d, "run %d post no", d->steps - 1); /* the step after it would begin a chunk */
  if (d->balance == BALANCE_HINTS) effort_end(d->run);
}

static void start_effort(driver* d) {
  effort_config* config = NULL;
  effort_config_new(&config);
  effort_config_set(config, "LOAD_METRIC", "cpu_time"); /* ranks may share cores */
  effort_config_set(config, "WINDOW", "2");             /* chunks: 20 steps of LAMMPS */
  effort_config_set(config, "HINT_LAG", "1");
  if (effort_init_mpi(MPI_COMM_WORLD, config) != EFFORT_OK && d->rank == 0)
    fprintf(stderr, "droplets: %s\n", effort_last_error());
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
  static const char* const modes[N_MODES] = {"none", "own", "hints", "between"};
  d->balance = BALANCE_HINTS;
  d->scale = 1;
  for (int i = 1; i + 1 < argc; ++i) {
    for (int m = 0; m < N_MODES && strcmp(argv[i], "--balance") == 0; ++m)
      if (strcmp(argv[i + 1], modes[m]) == 0) d->balance = (mode)m;
    if (strcmp(argv[i], "--scale") == 0) d->scale = atof(argv[i + 1]);
  }
  d->every = number(argc, argv, "--every", 100);
  d->chunk = number(argc, argv, "--chunk", 10);
  d->steps = number(argc, argv, "--steps", 3000);
}

/* On rank 0: the largest time of a rank, and the mean time, each summed over the chunks. */
static void path(const driver* d, const series* s, double* critical, double* ideal) {
  static double largest[most_chunks], sum[most_chunks];
  MPI_Reduce(s->chunk, largest, d->n_chunks, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(s->chunk, sum, d->n_chunks, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  *critical = *ideal = 0;
  for (int c = 0; c < d->n_chunks; ++c) {
    *critical += largest[c];
    *ideal += sum[c] / d->n_ranks;
  }
}

static void report(driver* d) {
  double work[2], all[2], rebalancing = 0;
  path(d, &d->work, &work[0], &work[1]);
  path(d, &d->all, &all[0], &all[1]);
  MPI_Reduce(&d->rebalancing, &rebalancing, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  static signed char moved[most_calls];
  MPI_Reduce(d->moved, moved, d->n_calls, MPI_SIGNED_CHAR, MPI_MAX, 0, MPI_COMM_WORLD);
  int rebalances = 0;
  for (int i = 0; i < d->n_calls; ++i) rebalances += moved[i];
  const double energy = lammps_get_thermo(d->lammps, "etotal"); /* collective */
  if (d->rank > 0) return;
  printf("atoms %.0f, energy per atom %.4f\n", lammps_get_natoms(d->lammps), energy);
  if (d->balance != BALANCE_NONE) printf("rebalances %d, %.3f s without neighbour lists\n", rebalances, rebalancing);
  printf("pair and neighbour work: critical path %.3f s, ideal %.3f s over %d chunks of %d steps\n", work[0], work[1],
         d->n_chunks, d->chunk);
  printf("all outside MPI, rebalancing included: %.3f s, ideally %.3f s\n", all[0], all[1]);
}

int main(int argc, char** argv) {
  static driver d;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &d.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &d.n_ranks);
  read_options(&d, argc, argv);
  if (!lammps_has_marks()) {
    if (d.rank == 0)
      fprintf(stderr,
              "droplets: this LAMMPS exports neither its timers nor its fix balance (Timer::_stamp, "
              "FixBalance::pre_exchange), so nothing can be measured; link with a shared liblammps that does\n");
    MPI_Finalize();
    return 1;
  }
  char* arguments[] = {"droplets", "-log", "none", "-screen", "none", NULL};
  d.lammps = lammps_open(5, arguments, MPI_COMM_WORLD, NULL);
  make_droplets(&d);
  const int on_hints = d.balance == BALANCE_HINTS || d.balance == BALANCE_BETWEEN;
  if (on_hints) start_effort(&d);
  lmp(&d, "run 0 post no");
  note_bounds(&d);
  d.moved[0] = 0; /* the initial division is not a rebalance */
  d.work.before = work_seconds();
  d.all.before = compute_seconds();
  if (on_hints) mpi_marks_start();
  if (d.balance == BALANCE_BETWEEN)
    run_between(&d);
  else
    run_by_itself(&d);
  if (on_hints) mpi_marks_stop();
  report(&d);
  if (on_hints) effort_finalize();
  lammps_close(d.lammps);
  MPI_Finalize();
  return 0;
}
