// The parts of the benchmark of sampled ranks.
#pragma once

#include "analytics/sampling/sample_size.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace effort::bench {

/// The load of every rank in every window of a run.
struct Population {
  std::string name;
  std::size_t ranks = 0, regions = 1;
  std::vector<std::vector<double>> windows;  ///< [windows] of [ranks][regions] seconds

  std::vector<double> loads(std::size_t window) const;  ///< [ranks], summed over regions
};

/// Reads NAME.cpu.f64 and NAME.json beside it, in windows of 10 steps, without the first step, which contains start-up.
/// @throws std::runtime_error naming the file
Population read_population(const std::string& path);
/// Runs of different shapes with this many ranks.  The same for the same arguments.
std::vector<Population> generated_populations(std::size_t ranks, std::size_t windows);

/// Strata of every window.
struct Strata {
  int k = 1;
  std::vector<std::vector<std::int32_t>> label, medoid;  ///< [windows]
};
Strata find_strata(const Population& population, int k);

enum class Kept { retrospective, subset, global };
inline constexpr Kept kept_designs[] = {Kept::retrospective, Kept::subset, Kept::global};
const char* name_of(Kept design);

/// The results of a design over windows and repeated draws.
struct Outcome {
  double confidence = 0;  ///< trace confidence: share of windows in which the estimated mean is within the bound
  double sampled = 0;     ///< ranks in the sample, mean of the windows
  double kept = 0;        ///< with those that are kept for other reasons
  double unified = 0;     ///< ranks that AMPL's unified sample needs
};
/// @param draws  repetitions per window
Outcome evaluate(const Population& population, const Strata& strata, Kept design, const sampling::Accuracy& accuracy,
                 int draws);

/// Means per call of a region whose number of calls differs between ranks: how often the estimate (4.6) from the sample
/// (4.8) is within the bound.  Prints a Markdown table.
void bench_calls(std::span<const sampling::Accuracy> accuracies, int draws);

/// Bytes of the coded events of the ranks that are kept, of AMPL's unified sample and of all ranks.  Prints a row.
void bench_bytes(const Population& population, int k, std::span<const sampling::Accuracy> accuracies);
/// The work of a node for a window: choosing the ranks of the whole run, and coding its own ranks.  Prints a row.
void bench_nodes(const Population& population, int k, const sampling::Accuracy& accuracy, std::int32_t per_node);

}  // namespace effort::bench
