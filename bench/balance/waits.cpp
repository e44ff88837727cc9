// Measures how much the decision gains by knowing how long ranks wait, in runs whose ranks also have other duties.
#include "analytics/replay/replay.hpp"
#include "bench/balance/parts.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

namespace effort::bench {
namespace {

/// A kind of duties that ranks have besides their load, and their effect on the loads before any rebalance.
struct Duties {
  const char* name;
  /// Changes the loads, and writes the seconds of the duties to `other`, [ranks][steps].
  void (*make)(Recording& run, std::vector<double>& other, Random& random);
};

double& value(Recording& run, std::vector<double>& of, int rank, std::int64_t step) {
  return of[static_cast<std::size_t>(rank) * static_cast<std::size_t>(run.steps) + static_cast<std::size_t>(step)];
}

void none(Recording&, std::vector<double>&, Random&) {}

// Every eighth rank has duties of 20 to 60 % of the mean load.  The program has given it less work, so that no rank
// waits for it.
void compensated(Recording& run, std::vector<double>& other, Random& random) {
  const double size = uniform(random, 0.2, 0.6);
  for (int r = 0; r < run.ranks; r += 8)
    for (std::int64_t s = 0; s < run.steps; ++s) {
      value(run, other, r, s) = size;
      value(run, run.values, r, s) *= 1 - size;
    }
}

// The same without compensation.
void on_top(Recording& run, std::vector<double>& other, Random& random) {
  const double size = uniform(random, 0.2, 0.6);
  for (int r = 0; r < run.ranks; r += 8)
    for (std::int64_t s = 0; s < run.steps; ++s) value(run, other, r, s) = size;
}

// Every rank transfers data for a time of its own, a tenth of the mean load on average.
void transfers(Recording& run, std::vector<double>& other, Random& random) {
  for (int r = 0; r < run.ranks; ++r) {
    const double size = uniform(random, 0, 0.2);
    for (std::int64_t s = 0; s < run.steps; ++s) value(run, other, r, s) = size * uniform(random, 0.8, 1.2);
  }
}

// Rank 0 writes a file every 10 steps.
void output(Recording& run, std::vector<double>& other, Random& random) {
  const double size = uniform(random, 1, 4);
  for (std::int64_t s = 9; s < run.steps; s += 10) value(run, other, 0, s) = size;
}

constexpr Duties duties[] = {{"none", none},
                             {"some ranks, compensated by less work", compensated},
                             {"some ranks, on top", on_top},
                             {"transfers of all ranks", transfers},
                             {"output of rank 0", output}};

// Runs whose loads are equal except for noise.
std::vector<Recording> balanced_runs(unsigned seed) {
  std::vector<Recording> out;
  for (const int ranks : {8, 32, 128})
    for (const double noise : {0.02, 0.08}) {
      Random random(seed * 1000003U + 100U + static_cast<unsigned>(out.size()));
      std::normal_distribution<double> normal(1, noise);
      Recording r{"balanced", 1, ranks, 220, std::vector<double>(static_cast<std::size_t>(ranks) * 220)};
      for (double& x : r.values) x = std::max(0.0, normal(random));
      out.push_back(std::move(r));
    }
  return out;
}

struct Sums {
  int runs = 0, better = 0, worse = 0;
  double without = 0, with = 0, worst = 0;
};

// Adds a run at several prices.
void add(const Recording& run, const std::vector<double>& other, const Conditions& conditions, Sums& sums) {
  const replay::Cube cube{run.values, run.regions, run.ranks, run.steps};
  double sum = 0;
  for (const double x : run.values) sum += x;
  for (const double steps : {0.5, 2.0, 10.0}) {
    replay::Options options;
    options.analysis.window = conditions.window;
    options.rebalancer = conditions.rebalancer;
    options.price_known = conditions.price_known;
    options.analysis.hint_lag = conditions.window > 0 ? std::min(2, conditions.window) : -1;
    options.price = steps * sum / (static_cast<double>(run.ranks) * static_cast<double>(run.steps));
    options.other = other;
    const auto cost = [&](bool decide, bool know) {
      options.decide = decide;
      options.know_waits = know;
      return replay::replay(cube, options).chosen.cost;
    };
    const double never = cost(false, false), without = cost(true, false), with = cost(true, true);
    ++sums.runs;
    sums.better += with < 0.99 * without ? 1 : 0;
    sums.worse += with > 1.01 * without ? 1 : 0;
    sums.worst = std::max(sums.worst, with / without - 1);
    sums.without += without / never - 1;
    sums.with += with / never - 1;
  }
}

}  // namespace

void bench_waits(unsigned first_seed, unsigned seeds, const Conditions& conditions) {
  std::printf(
      "| loads | other duties | runs | by loads, against never | with waits, against never | better by 1 %% | worse by "
      "1 %% | worst |\n|---|---|---|---|---|---|---|---|\n");
  for (const bool balanced : {true, false})
    for (const Duties& kind : duties) {
      Sums sums;
      for (unsigned seed = first_seed; seed < first_seed + seeds; ++seed)
        for (Recording run : balanced ? balanced_runs(seed) : generated_recordings(seed)) {
          if (run.ranks > 128) continue;
          Random random(seed * 7919U + static_cast<unsigned>(sums.runs));
          std::vector<double> other(run.values.size(), 0.0);
          kind.make(run, other, random);
          add(run, other, conditions, sums);
        }
      std::printf("| %s | %s | %d | %+.2f %% | %+.2f %% | %d | %d | %+.1f %% |\n",
                  balanced ? "balanced" : "as generated", kind.name, sums.runs, 100 * sums.without / sums.runs,
                  100 * sums.with / sums.runs, sums.better, sums.worse, 100 * sums.worst);
      std::fflush(stdout);
    }
}

}  // namespace effort::bench
