#include "analytics/replay/replay.hpp"
#include "bench/balance/parts.hpp"

#include <cstdio>

namespace effort::bench {
namespace {

struct Target {
  int held = 0, missed = 0;
};

void one(const Recording& r, double steps, Target& target) {
  const replay::Cube cube{r.values, r.regions, r.ranks, r.steps};
  std::vector<double> load(static_cast<std::size_t>(r.ranks) * static_cast<std::size_t>(r.steps), 0.0);
  for (std::size_t i = 0; i < r.values.size(); ++i) load[i % load.size()] += r.values[i];
  replay::Options options;
  options.price = steps * replay::LoadModel(load, r.ranks, r.steps, options.analysis.window, options.analysis.hint_lag).mean_step();
  const replay::Report report = replay::replay(cube, options);
  const double never = report.cost_never, best = report.best.cost, chosen = report.chosen.cost;
  const double possible = (never - best) / never;
  const double realised = never > best ? (never - chosen) / (never - best) : 1;
  // At least 80 % of the best schedule's saving where that exceeds 5 %, never more than 10 % above the best schedule,
  // nor 2 % above never rebalancing.
  const bool good = (possible <= 0.05 || realised >= 0.8) && chosen <= 1.1 * best && chosen <= 1.02 * never;
  ++(good ? target.held : target.missed);
  char share[32] = "-";
  if (possible > 0.05) std::snprintf(share, sizeof share, "%.0f %%", 100 * realised);
  std::printf("| %s | %g | %.4g | %.4g (%zu) | %.4g (%zu) | %.1f %% | %s | %+.1f %% | %+.1f %% |%s\n", r.name.c_str(), steps, never, best,
              report.best.windows.size(), chosen, report.chosen.windows.size(), 100 * possible, share, 100 * (chosen / best - 1),
              100 * (chosen / never - 1), good ? "" : " missed");
}

}  // namespace

void bench_regret(const std::vector<Recording>& recordings) {
  std::printf("| recording | price, mean steps | never, s | best afterwards, s (rebalances) | on hints, s (rebalances) | best saves | of it realised | above best | above never |\n"
              "|---|---|---|---|---|---|---|---|---|\n");
  Target target;
  for (const Recording& r : recordings)
    for (double steps : {0.5, 2.0, 10.0}) one(r, steps, target);
  std::printf("\nwithin the targets: %d of %d\n", target.held, target.held + target.missed);
}

}  // namespace effort::bench
