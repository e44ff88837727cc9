// Two runs side by side: for `effort diff` and the report.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "record/run.hpp"
#include "tools/symbols/symbols.hpp"

namespace effort::tools {

/// A region in one of the runs.  Amounts are per step of that run, in the metric's unit, so that runs of different
/// lengths can be compared.
struct RegionSide {
  std::string name;    ///< as in the snapshot; differs between the sides if the program was rebuilt
  double total = 0;    ///< sum over the ranks, which grows with the work and not with the number of ranks
  double mean = 0;     ///< per rank
  double largest = 0;  ///< of the largest rank, for which the others wait
  std::int32_t max_rank = 0;
  double imbalance = 0;  ///< largest / mean - 1
};

enum class Verdict { same, better, worse, only_a, only_b };
/// "same", "better", "worse", "only_a" or "only_b".
const char* verdict_name(Verdict verdict);

/// A region in both runs, or in one.
struct RegionChange {
  std::string name;  ///< readable, without the parts that differ between builds
  record::Kind kind = record::Kind::compute;
  std::string phase;
  std::optional<RegionSide> a, b;
  double change = 0;  ///< of `largest`, in the metric's unit per step: b - a, an absent side counting as 0
  Verdict verdict = Verdict::same;
};

/// A run as a whole.  Negative: not known.
struct RunSide {
  std::string file, name, job;
  std::int64_t ranks = 0, nodes = 0, steps = 0;
  double wall_seconds = record::absent;
  double seconds_per_step = record::absent;  ///< wall_seconds / steps
  double compute = 0, other = 0;             ///< of the metric, per rank and step: COMPUTE regions, and all others
  double imbalance = record::absent;         ///< of single steps, as in `effort info`; if unknown, as below
  double load_balance = record::absent;      ///< mean over the windows, weighted by their steps; likewise below
  double parallel_efficiency = record::absent;
  double ideal_saving = record::absent;
  std::int64_t rebalances = 0;
  double own_cpu_share = record::absent;  ///< Run::own_cpu_share
};

struct Comparison {
  std::string metric, unit;
  RunSide a, b;
  double threshold = 0;
  std::vector<RegionChange> regions;  ///< largest change first, whatever its sign
  std::vector<std::string> notes;     ///< what could not be compared, and why
};

struct CompareOptions {
  std::string metric;       ///< empty: the first run's load metric if the second has it, else "time"
  double threshold = 0.02;  ///< a region whose largest rank changed by no more than this share is the same; so is one
                            ///< that changed by less than a thousandth of all regions' time
};

/// Compares two runs of any number of ranks and steps.
///
/// Regions are the same if name, kind and phase are.  Call paths of two builds of a program are compared by function
/// instead of address, as far as both builds' files are found.
/// Errors: std::runtime_error if the runs share no such metric.  Cost: O(regions log regions), no history is read.
Comparison compare(const record::Run& a, const record::Run& b, Symbols& symbols_a, Symbols& symbols_b,
                   const CompareOptions& options = {});

/// `effort diff --json`.
nlohmann::ordered_json compare_json(const Comparison& comparison);

}  // namespace effort::tools
