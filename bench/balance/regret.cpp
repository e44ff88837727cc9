#include "analytics/replay/replay.hpp"
#include "bench/balance/parts.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <string>

namespace effort::bench {
namespace {

constexpr int largest_interval = 50;

struct Outcome {
  double never, best, chosen;  // seconds
  double fixed;                // the best fixed interval, known only afterwards, or never
  double interval;             // the best fixed interval up to largest_interval
  std::size_t best_count, chosen_count;

  double possible() const { return (never - best) / never; }
  double realised() const { return never > best ? (never - chosen) / (never - best) : 1; }
  // At least 80 % of the best schedule's saving if that exceeds 5 %, never more than 10 % above the best schedule,
  // nor 2 % above never rebalancing.
  bool saves() const { return possible() <= 0.05 || realised() >= 0.8; }
  bool near_best() const { return chosen <= 1.1 * best; }
  bool harmless() const { return chosen <= 1.02 * never; }
  bool good() const { return saves() && near_best() && harmless(); }
};

Outcome outcome(const Recording& r, double steps, const Conditions& conditions) {
  const replay::Cube cube{r.values, r.regions, r.ranks, r.steps};
  double sum = 0;
  for (double x : r.values) sum += x;
  replay::Options options;
  options.analysis.window = conditions.window;
  options.rebalancer = conditions.rebalancer;
  options.price_known = conditions.price_known;
  options.moving = conditions.moving;
  options.analysis.hint_lag = conditions.window > 0 ? std::min(2, conditions.window) : -1;
  options.price = steps * sum / (static_cast<double>(r.ranks) * static_cast<double>(r.steps));
  const replay::Report report = replay::replay(cube, options);
  double fixed = report.cost_never, interval = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < report.cost_fixed.size(); ++i) {
    fixed = std::min(fixed, report.cost_fixed[i]);
    if (replay::fixed_intervals[i] <= largest_interval) interval = std::min(interval, report.cost_fixed[i]);
  }
  const bool learns = !conditions.price_known && !report.chosen.steps.empty();
  return {report.cost_never,
          report.best.cost,
          report.chosen.cost - (learns ? options.price : 0.0),
          fixed,
          interval,
          report.best.steps.size(),
          report.chosen.steps.size()};
}

void print(const Recording& r, double steps, const Outcome& o) {
  char share[32] = "-";
  if (o.possible() > 0.05) std::snprintf(share, sizeof share, "%.0f %%", 100 * o.realised());
  std::printf("| %s | %g | %.4g | %.4g (%zu) | %.4g (%zu) | %.1f %% | %s | %+.1f %% | %+.1f %% | %+.1f %% |%s\n",
              r.name.c_str(), steps, o.never, o.best, o.best_count, o.chosen, o.chosen_count, 100 * o.possible(), share,
              100 * (o.chosen / o.best - 1), 100 * (o.chosen / o.fixed - 1), 100 * (o.chosen / o.never - 1),
              o.good() ? "" : " missed");
}

constexpr double prices[] = {0.05, 0.5, 2.0, 10.0};

}  // namespace

void bench_regret(const std::vector<Recording>& recordings, const Conditions& conditions) {
  std::printf(
      "| recording | price, mean steps | never, s | best in hindsight, s (rebalances) | on hints, s (rebalances) | "
      "best "
      "saves | of it realised | above best | above best fixed interval | above never |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  int held = 0, all = 0, fixed = 0, interval = 0;
  double worst = 0, worst_interval = 0;
  for (const Recording& r : recordings)
    for (double steps : prices) {
      const Outcome o = outcome(r, steps, conditions);
      print(r, steps, o);
      held += o.good() ? 1 : 0;
      fixed += o.chosen <= o.fixed ? 1 : 0;
      interval += o.chosen <= o.interval ? 1 : 0;
      worst = std::max(worst, o.chosen / o.fixed - 1);
      worst_interval = std::max(worst_interval, o.chosen / o.interval - 1);
      ++all;
    }
  std::printf(
      "\nwithin the targets: %d of %d; at most the best fixed interval or never: %d, worst %+.1f %%; at most the "
      "best interval up to %d: %d, worst %+.1f %%\n",
      held, all, fixed, 100 * worst, largest_interval, interval, 100 * worst_interval);
}

void bench_families(unsigned first_seed, unsigned seeds, const Conditions& conditions) {
  struct Count {
    int all = 0, good = 0, saves = 0, near_best = 0, harmless = 0;
    double excess = 0;
  };
  std::map<std::string, Count> counts;
  for (unsigned seed = first_seed; seed < first_seed + seeds; ++seed)
    for (const Recording& r : generated_recordings(seed))
      for (double steps : prices) {
        const Outcome o = outcome(r, steps, conditions);
        for (Count* c : {&counts[r.name], &counts["~ all"]}) {
          ++c->all;
          c->good += o.good() ? 1 : 0;
          c->saves += o.saves() ? 1 : 0;
          c->near_best += o.near_best() ? 1 : 0;
          c->harmless += o.harmless() ? 1 : 0;
          c->excess += o.chosen / o.best - 1;
        }
      }
  std::printf(
      "| family, window %d | runs | within all targets | 80 %% saved | within 10 %% of best | at most 2 %% above never "
      "| above best, mean |\n|---|---|---|---|---|---|---|\n",
      conditions.window);
  for (const auto& [name, c] : counts)
    std::printf("| %s | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %+.2f %% |\n", name.c_str(), c.all,
                100.0 * c.good / c.all, 100.0 * c.saves / c.all, 100.0 * c.near_best / c.all,
                100.0 * c.harmless / c.all, 100 * c.excess / c.all);
}

}  // namespace effort::bench
