/* effort: load-balance analytics inside running simulations.
 *
 *  Ten lines connect a simulation to the library:
 *
 *     effort_init_mpi(comm, NULL);                                 (effort_mpi.h; effort_init without MPI)
 *     effort_region("solve", EFFORT_COMPUTE, &solve);              once per region
 *     effort_on_rebalance(my_rebalancer, my_data);
 *     while (stepping) {
 *       effort_begin(solve);  ...  effort_end(solve);
 *       effort_progress_step();                                    hints arrive in here
 *     }
 *     effort_finalize();
 *
 *  Simple API: lifetime, regions, progress.  Explicit API: work units, metrics, hints, configuration.
 *
 *  Rules that hold for every function:
 *  - It returns an effort_status unless shown otherwise; a message about the last error of the calling thread is
 *    kept for effort_last_error().  It never aborts, exits or prints, and never throws.
 *  - Strings are copied; arrays in hints belong to the library.
 *  - Any thread may call it, unless stated otherwise.  "Collective" means that every rank of the communicator given to
 *    effort_init_mpi makes the call in the same order; without MPI the process is the only rank.
 *  - Before effort_init it returns EFFORT_ERR_NOT_INITIALIZED.  With DISABLE=1 it returns EFFORT_OK and does nothing.
 *
 *  This header compiles as C99 and as C++17 and needs no other header of the project.
 */
#ifndef EFFORT_EFFORT_H
#define EFFORT_EFFORT_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#error "effort needs a POSIX system"
#endif
#define EFFORT_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ------------------------------------------------------------------------------------------------- */

/** The outcome of a call.  The values never change; every error is negative. */
typedef enum effort_status {
  EFFORT_OK = 0,
  EFFORT_ERR_INVALID_ARGUMENT = -1,    /**< null pointer, NaN or negative amount, empty, too long or multi-line name */
  EFFORT_ERR_NOT_INITIALIZED = -2,     /**< before effort_init or after effort_finalize */
  EFFORT_ERR_ALREADY_INITIALIZED = -3, /**< a second init of one session */
  EFFORT_ERR_UNKNOWN_ID = -4,          /**< a region, work unit or metric id that no registration returned */
  EFFORT_ERR_NESTING = -5,             /**< end without begin, or end of a region that is not the innermost */
  EFFORT_ERR_LIMIT = -6,               /**< more regions, units, metrics or nesting than EFFORT_MAX_* */
  EFFORT_ERR_CONFLICT = -7,            /**< one name registered with two kinds or units; the first holds */
  EFFORT_ERR_CONFIG = -8,              /**< a configuration key or value that is not allowed */
  EFFORT_ERR_MPI = -9,           /**< MPI is not initialized, is finalized, failed, or is another implementation */
  EFFORT_ERR_MEMORY = -10,       /**< out of memory */
  EFFORT_ERR_IO = -11,           /**< a snapshot or report could not be written */
  EFFORT_ERR_UNSUPPORTED = -12,  /**< not available in this build or version */
  EFFORT_ERR_CALLBACK = -13,     /**< not allowed from within a callback */
  EFFORT_ERR_INTERNAL = -14,     /**< an error inside the library */
  EFFORT_ERR_SWITCHED_OFF = -15, /**< the library switched itself off after an error; the host runs on */
  EFFORT_ERR_STATE = -16,        /**< not allowed at this time, according to the function's description */
  EFFORT_ERR_NO_HINT = -17       /**< no hint has been delivered yet */
} effort_status;

/** A short English description of a status; never NULL, not even for an unknown value.  Cost: a look-up. */
EFFORT_API const char* effort_status_string(effort_status s);

/** The message of this thread's last failing call: problem, reason, remedy.  Never NULL, "" before any
 *  error; valid until the thread's next failing call. */
EFFORT_API const char* effort_last_error(void);

#define EFFORT_VERSION 100 /* 10000 * major + 100 * minor + patch of this header */

/** Version of the library in use, encoded as in EFFORT_VERSION. */
EFFORT_API int effort_version(void);

/* ---- limits -------------------------------------------------------------------------------------------------- */

enum {
  EFFORT_MAX_NAME = 1023,     /**< bytes in a name */
  EFFORT_MAX_REGIONS = 16383, /**< regions of a process */
  EFFORT_MAX_DEPTH = 128,     /**< regions open at once in a thread */
  EFFORT_MAX_UNITS = 32,      /**< work units of a process */
  EFFORT_MAX_METRICS = 32     /**< metrics, built in and application-defined */
};

/* ---- configuration ------------------------------------------------------------------------------------------- */

/** A set of key=value settings for effort_init; later sources win: this, then the TOML file named by EFFORT_CONFIG,
 *  then the environment (EFFORT_<KEY>).  docs/configuration.md lists the keys. */
typedef struct effort_config effort_config;

/** Makes an empty configuration in *out; the caller frees it. */
EFFORT_API effort_status effort_config_new(effort_config** out);
/** Sets a key (upper case, without EFFORT_).  EFFORT_ERR_CONFIG names key, value and what is allowed. */
EFFORT_API effort_status effort_config_set(effort_config* c, const char* key, const char* value);
/** Frees a configuration; NULL is allowed. */
EFFORT_API effort_status effort_config_free(effort_config* c);

/* ---- lifetime ------------------------------------------------------------------------------------------------ */

/** Starts the library for one process; allowed at any time, also before MPI_Init (effort_init_mpi then attaches a
 *  communicator, before the first progress step).  `cfg` may be NULL and may be freed afterwards.  Cost: milliseconds.
 *  Errors: EFFORT_ERR_ALREADY_INITIALIZED, _CONFIG, _MEMORY, _UNSUPPORTED (LOAD_METRIC cannot be counted). */
EFFORT_API effort_status effort_init(const effort_config* cfg);

/** Ends the session: closes open regions, analyses the remaining steps, writes the last snapshot, joins the background
 *  thread and frees everything.  effort_init works again afterwards.  Collective if the init was.  After MPI_Finalize
 *  it only frees local state.  Not allowed in a callback.  Blocks.  EFFORT_ERR_IO: a snapshot was lost. */
EFFORT_API effort_status effort_finalize(void);

/* ---- regions ------------------------------------------------------------------------------------------------- */

/** How a region's time counts.  Load is the time of COMPUTE regions, exclusive of nested regions of the other kinds. */
typedef enum effort_kind { EFFORT_COMPUTE = 0, EFFORT_COMM = 1, EFFORT_WAIT = 2, EFFORT_IO = 3 } effort_kind;

typedef int32_t effort_region_id;
typedef int32_t effort_work_id;
typedef int32_t effort_metric_id;

/** Registers a region by name, or finds it again.  Names are 1 to EFFORT_MAX_NAME bytes without control characters;
 *  ranks may register them in any order, or only some of them: regions are matched by name.  A second
 *  registration with another kind returns EFFORT_ERR_CONFLICT and still sets *out.  Cost: a locked look-up. */
EFFORT_API effort_status effort_region(const char* name, effort_kind kind, effort_region_id* out);

/** Finds a registered region, whatever its kind; EFFORT_ERR_UNKNOWN_ID and *out = -1 otherwise. */
EFFORT_API effort_status effort_region_find(const char* name, effort_region_id* out);

/** Opens a region in the calling thread.  Time is exclusive: it goes to the innermost open region.  A region that is
 *  open across a progress step is split there.  Cost: about 10 ns, no lock, no allocation after a thread's
 *  first call. */
EFFORT_API effort_status effort_begin(effort_region_id r);
/** Closes the region that the calling thread opened last.  With any other id nothing changes, and it returns
 *  EFFORT_ERR_NESTING. */
EFFORT_API effort_status effort_end(effort_region_id r);

/** Adds time that the host measured itself to a region in the current step: 0 to 1e6 seconds, other values are refused.
 *  They count as `time`, and as the load if LOAD_METRIC is `time` or `cpu_time`.  They are not subtracted from open
 *  regions. */
EFFORT_API effort_status effort_add(effort_region_id r, double seconds);

/** Begins a phase: steps that end from now on belong to it, until the next call.  Call it on every
 *  rank for the same step; it does not synchronize.  Name rules as for regions. */
EFFORT_API effort_status effort_phase(const char* name);

/* Regions by literal name; the id is looked up once per call site, and again if the look-up failed.  C++ has
 *  effort::Region in effort.hpp for scopes. */
EFFORT_API effort_status effort_begin_named(const char* name, volatile effort_region_id* cache);
EFFORT_API effort_status effort_end_named(const char* name, volatile effort_region_id* cache);
/** Called by effort::Region: effort_begin_named for a region of any kind, which also returns its id for effort_end (-1
 *  if it has none).  *cache is -1 at first; it may be shared by threads. */
EFFORT_API effort_status effort_begin_scope(const char* name, effort_kind kind, volatile effort_region_id* cache,
                                            effort_region_id* id);
#define EFFORT_BEGIN(name)                                  \
  do {                                                      \
    static volatile effort_region_id effort_place_id_ = -1; \
    (void)effort_begin_named((name), &effort_place_id_);    \
  } while (0)
#define EFFORT_END(name)                                    \
  do {                                                      \
    static volatile effort_region_id effort_place_id_ = -1; \
    (void)effort_end_named((name), &effort_place_id_);      \
  } while (0)

/* ---- work and metrics ---------------------------------------------------------------------------------------- */

/** Registers a unit of work (cells, particles, ...), or finds it again. */
EFFORT_API effort_status effort_work_unit(const char* name, effort_work_id* out);
/** Reports that this rank did `amount` (0 .. 1e100) units in the current step; amounts of one step add up. */
EFFORT_API effort_status effort_work(effort_work_id w, double amount);
/** Registers an application metric and its unit (may be ""), or finds it again.  A metric may be the LOAD_METRIC.
 *  Errors: EFFORT_ERR_CONFLICT if the metric is registered with another unit, which it keeps (*out is set all the
 *  same), or if the library itself measures a metric of that name (time, calls, thread_*, collective_*, the built-in
 *  counters; *out is -1). */
EFFORT_API effort_status effort_metric_define(const char* name, const char* unit, effort_metric_id* out);
/** Adds `value` (0 .. 1e100) to the current step, and to the calling thread's innermost region if one is open.
 *  Errors: EFFORT_ERR_UNKNOWN_ID for an id that effort_metric_define did not return. */
EFFORT_API effort_status effort_metric(effort_metric_id m, double value);

/* ---- progress ------------------------------------------------------------------------------------------------ */

/** Ends a step.  All ranks call it the same number of times, each from one thread at a time (with MPI_THREAD_FUNNELED
 *  the main thread).  Publishes the cost of the step.  If a hint is due, waits for it while driving MPI progress, and
 *  runs the callback; it waits for nothing else.  With WINDOW=auto hints are due as often as they pay, otherwise
 *  HINT_LAG steps after each window of WINDOW steps; always at the same step on all ranks.  Cost if no hint is due:
 *  about 1 us.
 *  Errors: EFFORT_ERR_CALLBACK if the callback calls it. */
EFFORT_API effort_status effort_progress_step(void);

#ifndef EFFORT_NO_SHORT_NAMES
static inline effort_status progress_step(void) { return effort_progress_step(); }
#endif

/* ---- hints --------------------------------------------------------------------------------------------------- */

/** Reasons, in effort_hint.advice. */
enum {
  EFFORT_ADVICE_STALE = 1,           /**< made from steps before the last rebalance: recommends nothing */
  EFFORT_ADVICE_TREND = 2,           /**< the imbalance grows steadily */
  EFFORT_ADVICE_JUMP = 4,            /**< the load changed suddenly */
  EFFORT_ADVICE_SLOW_NODE = 8,       /**< a node is slower at the same work */
  EFFORT_ADVICE_PERIODIC = 16,       /**< a recurring peak explains the imbalance */
  EFFORT_ADVICE_BALANCED = 32,       /**< less than 2 % to gain */
  EFFORT_ADVICE_UNMARKED_COMM = 64,  /**< equal loads, but an unbalanced region: mark communication */
  EFFORT_ADVICE_NO_PRICE = 128,      /**< no rebalance has been measured yet: REBALANCE_THRESHOLD or a trial decides */
  EFFORT_ADVICE_TOO_EXPENSIVE = 256, /**< imbalanced, but rebalancing would not pay */
  EFFORT_ADVICE_COLLINEAR_UNITS = 512, /**< some work units grow together: their costs cannot be told apart */
  EFFORT_ADVICE_TRUNCATED = 1024,      /**< the hint has no room for all regions: some are missing */
  EFFORT_ADVICE_TRIAL = 2048,          /**< recommended to measure the cost or the effect, even below the threshold */
  EFFORT_ADVICE_TRANSFER = 4096        /**< ranks wait at collectives for other reasons than their mean loads: the
                                            network, noise, or loads that alternate; rebalancing does not help */
};

/** The state of the load and what to do about it.  Bit for bit the same on every rank, except for the fields marked
 *  local.  Arrays belong to the library, are read-only, exist once per node and are valid until the next progress
 *  step.  Loads are seconds of COMPUTE effort per step (or the LOAD_METRIC's unit). */
typedef struct effort_hint {
  size_t struct_size;                /**< bytes of this struct as the library knows it */
  int64_t step;                      /**< the step at whose end the hint is delivered, from 0 */
  int64_t window_first, window_last; /**< steps that `load` is the mean of, inclusive */
  int32_t rank, n_ranks;             /**< local: this rank; size of the communicator */
  const double* load;                /**< [n_ranks] mean over the window */
  const double* predicted;           /**< [n_ranks] mean over the steps from this hint's delivery to the next */
  int32_t n_regions;
  const char* const* region_name;    /**< [n_regions] */
  const double* region_load;         /**< [n_regions] local: this rank's load by region */
  const double* stratum_region_load; /**< [n_strata * n_regions] row = stratum; mean over its ranks */
  const int32_t* stratum;            /**< [n_ranks] 0 .. n_strata - 1: ranks that behave alike */
  int32_t n_strata;
  const int32_t* medoid_rank;    /**< [n_strata] the rank that stands for each stratum */
  double imbalance;              /**< max / mean - 1 of `load` */
  double gain_per_step;          /**< predicted max - mean, seconds */
  double rebalance_cost;         /**< seconds, measured on this run; < 0 while unknown */
  int32_t rebalance;             /**< 1 = worth it now */
  uint32_t advice;               /**< EFFORT_ADVICE_* bits */
  int32_t n_units;               /**< units of work with a fitted cost; 0 if none could be fitted */
  const char* const* unit_name;  /**< [n_units] */
  const double* unit_cost;       /**< [n_units] seconds per unit */
  const double* unit_cost_error; /**< [n_units] standard error of the above */
  int32_t worst_region;          /**< index of the region that adds most to the imbalance; -1: none */
  double worst_region_share;     /**< its share of (max - mean), 0 .. 1 */
  double load_balance;           /**< mean / max of `load`, 0 .. 1; the POP metric */
  double prediction_error;       /**< relative error of the last prediction; < 0 while unknown */
  /* Efficiencies of the last described window (10 steps, or WINDOW) by the POP methodology, as shares of its elapsed
   * time, 0 .. 1; < 0: unknown, because the load is not a time.  load_balance is that of `load`, whose steps may be
   * others. */
  double parallel_efficiency;      /**< mean load / elapsed time */
  double communication_efficiency; /**< largest load / elapsed time */
  double transfer_efficiency; /**< upper bound of elapsed time with an ideal network / elapsed time; needs COMM_WAITS */
  double ideal_saving;        /**< share of the time that ideal balance in every step would have saved */
  double expected_saving;     /**< seconds that a rebalance now would save until the next good opportunity */
  const double* speed;        /**< [n_ranks] time for the same work relative to the typical rank, 1 = typical;
                                   needs work units; the node's, or the rank's own if that clearly differs */
  /* The ranks that the others wait for; needs the MPI adapter and COMM_WAITS=1, NULL otherwise. */
  const double* delay;         /**< [n_ranks] seconds per step that the others, all together, waited for this rank at
                                    collectives.  With a trace (TRACE=on), seconds per step that others waited at
                                    collectives or for messages because of this rank: if a rank was late only because it
                                    waited itself, the rank that caused it is charged */
  const int32_t* delay_region; /**< [n_ranks] index of the region that makes the rank late: the one in which it exceeds
                                    the mean rank most; -1: none, or no rank waits for it */
} effort_hint;

/** The application's rebalancer.  Runs inside effort_progress_step on the calling thread, on every rank at the same
 *  step, for every hint.  Returns 1: rebalanced now, 0: did not, < 0: failed; the ranks' answers are combined by
 *  maximum.  A callback also counts as failed if it throws, if its thread is cancelled or exits, or if it is left by
 *  longjmp.  A longjmp is noticed by the next call for a step, a snapshot or effort_finalize in that thread, or in any
 *  thread once that one has ended; the call first completes the interrupted step.  The callback may call everything
 *  except effort_progress_step, effort_finalize, effort_init* and effort_snapshot, which return EFFORT_ERR_CALLBACK and
 *  do nothing.  However long it takes, it delays only the next hint. */
typedef int (*effort_rebalance_fn)(const effort_hint* hint, void* user);

/** Sets the callback (NULL: none) and its user pointer, which the library only passes on. */
EFFORT_API effort_status effort_on_rebalance(effort_rebalance_fn fn, void* user);

/** Bracket a rebalance that happens outside the callback; call both in one thread.  The time between them is the price
 *  of rebalancing.  Every rank brackets the same rebalance in the same step (no messages are exchanged).  A hint made
 *  from earlier steps that is delivered or pulled during the rebalance or after it carries EFFORT_ADVICE_STALE and
 *  `rebalance` 0. */
EFFORT_API effort_status effort_rebalance_begin(void);
EFFORT_API effort_status effort_rebalance_end(void);

/** Copies the last delivered hint to *out; EFFORT_ERR_NO_HINT before the first. */
EFFORT_API effort_status effort_hint_latest(effort_hint* out);
/** The same for a struct of `bytes` bytes, its size when the caller was compiled.  A newer library fills only the
 *  members that the caller has.  An older one sets members that it does not know to 0. */
EFFORT_API effort_status effort_hint_copy(effort_hint* out, size_t bytes);
#define effort_hint_latest(out) effort_hint_copy((out), sizeof(effort_hint))

/* ---- weights for partitioners -------------------------------------------------------------------------------- */

/* Pure functions of their arguments: call them from any thread at any time, also before init.  Bad arguments (null
 *  pointers, negative or non-finite numbers) give EFFORT_ERR_INVALID_ARGUMENT and leave the output untouched. */

/** Seconds that each item (block, cell, particle) costs: sum over units of its amount times the unit's cost.
 *  @param n_items    items >= 0
 *  @param n_units    kinds of units >= 0; 0 (no cost is known): every item weighs 1
 *  @param amount     [n_items * n_units] units of work of each item, row = item, >= 0
 *  @param unit_cost  [n_units] seconds per unit (effort_hint.unit_cost); < 0 (unknown) counts as 0, and if none is
 *  above 0 every item weighs 1
 *  @param weight     [n_items] out
 *  Time O(n_items * n_units). */
EFFORT_API effort_status effort_weights_items(size_t n_items, int32_t n_units, const double* amount,
                                              const double* unit_cost, double* weight);

/** Each item's share of its rank's load, in proportion to the host's own estimates: for codes that know how their items
 *  compare, but not their present cost.
 *  @param estimate  [n_items] finite, >= 0; NULL or all zero: equal parts
 *  @param load      of the rank that has the items, finite, >= 0 (effort_hint.predicted[rank])
 *  @param weight    [n_items] out; they add up to `load` */
EFFORT_API effort_status effort_weights_share(size_t n_items, const double* estimate, double load, double* weight);

/** Integers in proportion to the weights that add up to `sum` exactly, for partitioners with integer costs.
 *  @param n_items  items >= 0
 *  @param weight   [n_items] finite, >= 0; all zero: taken as equal
 *  @param sum      0 .. 2^52, at least `least` * n_items
 *  @param least    minimum of every item, >= 0
 *  @param cost     [n_items] out
 *  Time O(n log n). */
EFFORT_API effort_status effort_weights_integers(size_t n_items, const double* weight, int64_t sum, int64_t least,
                                                 int64_t* cost);

/** The factor by which each rank's items should count more than the mean rank's for the same work: load / mean load, at
 *  least 1/20, and 1 on average.  For codes that have one weight per rank only.
 *  @param n_ranks  >= 0
 *  @param load     [n_ranks] effort_hint.predicted or .load, finite, >= 0; all zero: factors of 1
 *  @param factor   [n_ranks] out */
EFFORT_API effort_status effort_weights_ranks(int32_t n_ranks, const double* load, double* factor);

/* ---- samples for other tracers ------------------------------------------------------------------------------- */

/** Called in effort_progress_step on a rank that enters (`sampled` 1) or leaves (0) the sample, so that the host
 *  switches its own tracer on or off.  `step`: the first step for which this holds; it begins when the progress step
 *  returns.  The sample changes only at the beginning of a window.  If the library switches itself off, sampled ranks
 *  leave; effort_finalize calls nothing.  It may call what a rebalance callback may call.  Its time is not part of the
 *  load. */
typedef void (*effort_sampling_fn)(int sampled, int64_t step, void* user);

/** Sets the function (NULL: none) and its user pointer.  Needs TRACE_DESIGN=subset or global, with or without TRACE:
 *  the sample is drawn in advance, large enough for TRACE_CONFIDENCE and TRACE_ERROR, the same for any split into nodes
 *  (Gamblin 2009, chapter 4).  The sample is empty until the loads of a window are known.  Local; the only cost is that
 *  of the calls.
 *  Errors: EFFORT_ERR_CONFIG with another TRACE_DESIGN, EFFORT_ERR_STATE after the first progress step. */
EFFORT_API effort_status effort_on_sampling(effort_sampling_fn fn, void* user);

/** 1 if this rank is in the sample of the current step, else 0.  It is 0 without such a design, before effort_init and
 *  after effort_finalize.  Any thread may call it, except while another one initializes or finalizes.
 *  Cost: about 2 ns. */
EFFORT_API int effort_sampled(void);

/* ---- snapshots ----------------------------------------------------------------------------------------------- */

/** Writes a snapshot of all complete windows now.  Collective; waits until it is written.  `path` NULL: a new file
 *  in SNAPSHOT_DIR; otherwise the file's name, which must not exist.  Errors: EFFORT_ERR_IO. */
EFFORT_API effort_status effort_snapshot(const char* path);

#ifdef __cplusplus
}
#endif
#endif /* EFFORT_EFFORT_H */
