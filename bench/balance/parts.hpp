// The parts of the benchmark of hints.
#pragma once

#include "analytics/replay/division.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace effort::bench {

using Random = std::mt19937_64;
inline double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// A recorded or generated run: seconds, [regions][ranks][steps].
struct Recording {
  std::string name;
  int regions = 0, ranks = 0;
  std::int64_t steps = 0;
  std::vector<double> values;
};

/// Conditions of replays.
struct Conditions {
  int window = 0;  ///< steps between looks; 0: automatic
  replay::Rebalancer rebalancer;
  double moving = 0;        ///< share of the price that is in proportion to the load moved
  bool price_known = true;  ///< if not, one rebalance's price is left out of the cost of the hints' schedule
};

/// Reads NAME.cpu.f64 and NAME.json beside it, without the first step, which contains start-up.
/// @throws std::runtime_error naming the file
Recording read_recording(const std::string& path);
/// Runs of other shapes than the recorded ones: families, each with 8 to 1024 ranks and two levels of noise, named by
/// family.  The same seed gives the same runs.
std::vector<Recording> generated_recordings(unsigned seed);
/// Noisy loads of many regions, for timing.
Recording many_regions(int regions, int ranks, std::int64_t steps);

/// Replays each recording at prices of 0.05, 0.5, 2 and 10 mean steps and compares the cost of the hints' schedule with
/// never rebalancing, with the best fixed interval and with the best schedule in hindsight.  Prints a Markdown table.
void bench_regret(const std::vector<Recording>& recordings, const Conditions& conditions);
/// The same for families of runs.  Prints how many runs of each are within the targets.
void bench_families(unsigned first_seed, unsigned seeds, const Conditions& conditions);
/// Replays generated runs of up to 128 ranks, whose ranks also have other duties.  The decision knows the waits at the
/// end of each step, or does not.  Prints how much longer or shorter the runs take than without rebalances.
void bench_waits(unsigned first_seed, unsigned seeds, const Conditions& conditions);
/// Fits unit costs and speeds of generated runs.  Prints their errors, and how often the stated errors cover the truth.
void bench_costs();
/// Measures the CPU time from a window's end to its hint: 8 ranks, 1 to 64 nodes, 1,048,576 ranks.
void bench_hint_time();

}  // namespace effort::bench
