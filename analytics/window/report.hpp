// The report of a window: every number that the analysis computes for it, and every array of the hint, in two tables.
//
// The hint board, effort_hint, the snapshot, `effort info --json`, HDF5 and replays are made from these tables.  A
// number or an array is added with one row here, the line of the analysis that sets it, and, if it is part of the hint,
// a field of the same name in effort.h and effort_types.f90 (docs/architecture.md, "Adding a number to the hint").
#pragma once

#include <cstdint>

// Rows of numbers are X(name, value while unknown, unit, meaning).  All are double.  A negative value means "not
// known"; a number that starts at 0 is always known, and a file without it is refused.

/// Numbers of effort_hint, which has a field of each name.  The efficiencies are POP's.
#define EFFORT_HINT_NUMBERS(X)                                                                       \
  X(imbalance, 0, "1", "largest load / mean load - 1")                                               \
  X(gain_per_step, -1, "s", "predicted largest load - mean load, per step")                          \
  X(rebalance_cost, -1, "s", "cost of a rebalance, measured on this run")                            \
  X(expected_saving, -1, "s", "saved by a rebalance now until the next good opportunity")            \
  X(worst_region_share, -1, "1", "share of the largest rank's excess that the worst region carries") \
  X(prediction_error, -1, "1", "mean |predicted - seen| / mean seen of the last prediction")         \
  X(parallel_efficiency, -1, "1", "mean load / elapsed time")                                        \
  X(communication_efficiency, -1, "1", "largest load / elapsed time")                                \
  X(transfer_efficiency, -1, "1", "elapsed time with an ideal network / elapsed time")               \
  X(ideal_saving, -1, "1", "share of the elapsed time that ideal balance in every step would save")

/// Further numbers of the snapshot, of JSON and of HDF5.  effort_hint has a load_balance too, but it is that of the
/// hint's loads; this one is of the described window.
#define EFFORT_DESCRIPTION_NUMBERS(X)                  \
  X(load_balance, -1, "1", "mean load / largest load") \
  X(strata_agreement, -1, "1", "share of ranks in matching strata, approximate against exact ones")

#define EFFORT_WINDOW_NUMBERS(X) EFFORT_HINT_NUMBERS(X) EFFORT_DESCRIPTION_NUMBERS(X)

/// Arrays of effort_hint, which has a pointer of each name: X(name, type of an element, Extent).  An array of all ranks
/// that is not known is empty, and null in effort_hint.
#define EFFORT_HINT_ARRAYS(X)                                                                          \
  X(load, double, ranks)      /* seconds per step, mean over the steps of the report */                \
  X(predicted, double, ranks) /* seconds per step, for the steps from delivery to the next hint */     \
  X(speed, double, ranks)     /* time per unit of work, relative to the typical rank's (1) */          \
  X(stratum, std::int32_t, ranks)                                                                      \
  X(delay, double, ranks)              /* seconds per step that others waited for the rank */          \
  X(delay_region, std::int32_t, ranks) /* the region that made it late; -1: none stands out */         \
  X(medoid_rank, std::int32_t, strata)                                                                 \
  X(stratum_region_load, double, strata_regions) /* seconds per step, mean over the stratum's ranks */ \
  X(region_load, double, local_regions)          /* seconds per step, mean over the window */          \
  X(unit_cost, double, units)                    /* seconds per unit; < 0: not identifiable */         \
  X(unit_cost_error, double, units)              /* standard errors, seconds per unit; < 0: not identifiable */

/// The reasons for a hint, X(name, name in the C API, bit): EFFORT_ADVICE_* and `effort info --json` have the same.
#define EFFORT_ADVICE_BITS(X)                                                                                   \
  X(stale, STALE, 0)                     /* the window holds steps from before the last rebalance */            \
  X(trend, TREND, 1)                     /* the imbalance grows steadily */                                     \
  X(jump, JUMP, 2)                       /* the loads changed abruptly since the previous window */             \
  X(slow_node, SLOW_NODE, 3)             /* a node needs more time per unit of work than the others */          \
  X(periodic, PERIODIC, 4)               /* steps at regular intervals stand out (for example, a checkpoint) */ \
  X(balanced, BALANCED, 5)               /* nothing can be gained beyond noise */                               \
  X(unmarked_comm, UNMARKED_COMM, 6)     /* equal loads, but an unbalanced region: mark communication */        \
  X(no_price, NO_PRICE, 7)               /* no rebalance has been measured: the threshold decided */            \
  X(too_expensive, TOO_EXPENSIVE, 8)     /* imbalanced, but a rebalance would not pay */                        \
  X(collinear_units, COLLINEAR_UNITS, 9) /* costs of collinear units of work are not given */                   \
  X(truncated, TRUNCATED, 10)            /* the hint board has no room for all regions */                       \
  X(trial, TRIAL, 11)                    /* recommended to learn the price and effect of a rebalance */         \
  X(transfer, TRANSFER, 12)              /* ranks wait at collectives for reasons other than mean loads */

namespace effort::window {

enum Advice : std::uint32_t {
#define EFFORT_BIT(name, c_name, bit) advice_##name = 1u << (bit),
  EFFORT_ADVICE_BITS(EFFORT_BIT)
#undef EFFORT_BIT
};

/// The numbers of a window of steps.  Trivially copyable: it is passed through shared memory.
struct Report {
  std::int64_t first = 0, last = 0;      ///< steps, inclusive
  bool rebalance = false;                ///< recommended
  std::uint32_t advice = 0;              ///< Advice bits
  std::int32_t strata = 0;               ///< groups of ranks that behave alike
  std::int32_t worst_rank = -1;          ///< the rank of largest load; -1: not known
  std::int32_t worst_region = -1;        ///< the run's id of the region that carries most of the imbalance; -1: none
  std::int64_t samples_unified = -1;     ///< ranks to sample for Settings::confidence and relative_error; -1: not known
  std::int64_t samples_stratified = -1;  ///< the same, drawn stratum by stratum
#define EFFORT_NUMBER(name, unknown, unit, meaning) double name = unknown;
  EFFORT_WINDOW_NUMBERS(EFFORT_NUMBER)
#undef EFFORT_NUMBER
};

/// The shape of a hint's array.
enum class Extent {
  ranks,           ///< [ranks of the run]
  strata,          ///< [strata]
  units,           ///< [units of work]
  strata_regions,  ///< [strata][regions]
  local_regions    ///< [ranks of the node][regions], which every node has for its own ranks; effort_hint has one row
};

/// One Of<type> for each of the hint's arrays.
template <template <typename> typename Of>
struct HintArrays {
#define EFFORT_ARRAY(name, type, extent) Of<type> name{};  // NOLINT(bugprone-macro-parentheses): a declaration
  EFFORT_HINT_ARRAYS(EFFORT_ARRAY)
#undef EFFORT_ARRAY
};

/// Calls take(extent, of.name...) for each of the hint's arrays.
template <typename Take, typename... Structs>
void each_hint_array(const Take& take, Structs&&... of) {
#define EFFORT_ARRAY(name, type, extent) take(Extent::extent, of.name...);
  EFFORT_HINT_ARRAYS(EFFORT_ARRAY)
#undef EFFORT_ARRAY
}

}  // namespace effort::window
