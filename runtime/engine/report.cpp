#include "runtime/engine/report.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace effort::engine {
namespace {

template <typename... Args>
std::string line(const char* format, Args... args) {
  char text[512];
  std::snprintf(text, sizeof text, format, args...);
  return std::string(text) + "\n";
}

/// Of the load; run.metrics.size() where no rank has defined it.
std::uint32_t load_metric(const snapshot::Run& run) {
  std::uint32_t m = 0;
  while (m < run.metrics.size() && run.metrics[m].name != run.load_metric) ++m;
  return m;
}

std::string load_unit(const snapshot::Run& run) {
  const std::uint32_t m = load_metric(run);
  return m < run.metrics.size() ? run.metrics[m].unit : std::string();
}

std::string regions_table(const snapshot::Run& run) {
  std::vector<const snapshot::Series*> rows;
  double all = 0;
  const std::uint32_t metric = load_metric(run);
  for (const auto& s : run.series)
    if (s.metric == metric) {
      rows.push_back(&s);
      all += s.mean_over_ranks;
    }
  std::sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->total > b->total; });

  const std::string unit = load_unit(run);
  std::string out = line("  %-28s %-8s %12s %7s %12s %10s %6s", "region", "kind", ("mean [" + (unit.empty() ? "-" : unit) + "]").c_str(), "share",
                         "worst rank", "imbalance", "rank");
  constexpr std::size_t most = 12;
  for (std::size_t i = 0; i < std::min(rows.size(), most); ++i) {
    const auto& s = *rows[i];
    const std::string name = s.phase.empty() ? s.region : s.phase + "/" + s.region;
    out += line("  %-28.28s %-8s %12.4g %6.1f%% %12.4g %9.1f%% %6d", name.c_str(), snapshot::kind_name(s.kind), s.mean_over_ranks,
                all > 0 ? 100 * s.mean_over_ranks / all : 0.0, s.max_over_ranks, 100 * s.imbalance, static_cast<int>(s.max_rank));
  }
  if (rows.size() > most) out += line("  ... and %zu more", rows.size() - most);
  return out;
}

std::string rebalances_table(const snapshot::Run& run, const RunTotals& totals) {
  if (totals.rebalances == 0) {
    const auto wanted = std::count_if(run.windows.begin(), run.windows.end(), [](const auto& w) { return w.rebalance; });
    return wanted == 0 ? line("  no rebalance was recommended") : line("  %d of %zu hints recommended a rebalance; none was done", static_cast<int>(wanted), run.windows.size());
  }
  std::string out = line("  %d rebalances, %.4g s in all (%.4g s each)", totals.rebalances, totals.prices, totals.prices / totals.rebalances);
  int shown = 0;
  for (std::size_t i = 0; i + 1 < run.windows.size() && shown < 10; ++i) {
    const auto& w = run.windows[i];
    if (!w.rebalanced) continue;
    // The first window that lies wholly behind the rebalance tells what it brought.
    const auto after = std::find_if(run.windows.begin() + static_cast<std::ptrdiff_t>(i), run.windows.end(),
                                    [&](const auto& x) { return x.first > w.rebalanced_at; });
    if (after != run.windows.end())
      out += line("    step %8lld: imbalance %5.1f %% -> %5.1f %%", static_cast<long long>(w.rebalanced_at), 100 * w.imbalance, 100 * after->imbalance);
    ++shown;
  }
  return out;
}

}  // namespace

std::string summary(const snapshot::Run& run, const RunTotals& t) {
  std::string out = line("effort: %lld steps on %d ranks, %d node(s), %.4g s; load is %s", static_cast<long long>(run.steps), static_cast<int>(run.ranks),
                         static_cast<int>(run.nodes), run.wall_seconds, run.load_metric.c_str());
  out += regions_table(run);
  out += rebalances_table(run, t);
  if (t.critical_path > 0) {
    const double saved = t.critical_path - t.mean_path;
    const std::string unit = load_unit(run).empty() ? "" : " " + load_unit(run);
    out += line("  critical path %.4g%s, ideal %.4g%s (imbalance %.1f %%)", t.critical_path, unit.c_str(), t.mean_path, unit.c_str(),
                t.mean_path > 0 ? 100 * (t.critical_path / t.mean_path - 1) : 0.0);
    if (run.load_metric == "time" && run.wall_seconds > 0)
      out += line("  ideal balance would run this in %.1f %% less time", 100 * std::min(1.0, saved / run.wall_seconds));
    else
      out += line("  ideal balance would shorten the critical path by %.1f %%", 100 * saved / t.critical_path);
  }
  const double own = run.own_cpu_seconds_total();
  out += line("  effort itself: %.4g s of CPU time in the background (%.3f %% of %d ranks' time)%s", own,
              run.wall_seconds > 0 ? 100 * own / (run.wall_seconds * run.ranks) : 0.0, static_cast<int>(run.ranks),
              run.merged_steps > 0 ? "; some steps were merged, see notes" : "");
  if (run.measuring_seconds >= 0)
    out += line("  measuring itself: %.4g s of the busiest thread where it cost most (%.3f %% of a rank's time)", run.measuring_seconds,
                run.wall_seconds > 0 ? 100 * run.measuring_seconds / run.wall_seconds : 0.0);
  for (const std::string& note : run.notes) out += line("  note: %.480s", note.c_str());
  return out;
}

}  // namespace effort::engine
