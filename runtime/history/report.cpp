#include "runtime/history/report.hpp"

#include "analytics/number_text.hpp"
#include "record/text.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <vector>

namespace effort::engine {
namespace {

using record::visible;

/// Numbers with decimals are passed as text: printf would write them in the host's locale.
template <typename... Args>
std::string line(const char* format, Args... args) {
  char text[512];
  std::snprintf(text, sizeof text, format, args...);
  return std::string(text) + "\n";
}

/// Names for the rows of a table, each at most `width` long.  A longer name is cut to its beginning and the part in
/// which it differs from the most similar name.
std::vector<std::string> names_apart(const std::vector<std::string>& names, std::size_t width) {
  constexpr std::size_t head = 8;
  std::vector<std::string> out;
  std::map<std::string, int> shown;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    std::size_t alike = 0;  // length of the common prefix with the most similar name
    for (std::size_t j = 0; j < names.size(); ++j)
      if (j != i && names[j] != name)
        alike = std::max<std::size_t>(
            alike, std::mismatch(name.begin(), name.end(), names[j].begin(), names[j].end()).first - name.begin());
    std::string text = name.substr(0, width);
    if (name.size() > width && alike >= width) {
      const std::size_t rest = width - head - 2;
      text = name.substr(0, head) + ".." + name.substr(std::min(alike - rest / 2, name.size() - rest), rest);
    }
    if (const int n = ++shown[text]; n > 1) {
      const std::string mark = " #" + std::to_string(n);
      text = text.substr(0, width - mark.size()) + mark;
    }
    out.push_back(std::move(text));
  }
  return out;
}

/// "MPI_Wait [app+0x12]" for "MPI_Wait [app+0x12 app+0x3 libc.so+0x45]", for sentences.
std::string innermost_frames(const std::string& region) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t open = region.find(" ["); open != std::string::npos; open = region.find(" [", at)) {
    const std::size_t close = region.find(']', open), address = region.find("+0x", open);
    if (close == std::string::npos) break;
    out += region.substr(at, std::min(region.find(' ', address), close) - at);
    at = close;
  }
  return out + region.substr(at);
}

/// Index of the load metric; run.metrics.size() if no rank has defined it.
std::uint32_t load_metric(const record::Run& run) {
  std::uint32_t m = 0;
  while (m < run.metrics.size() && run.metrics[m].name != run.load_metric) ++m;
  return m;
}

std::string load_unit(const record::Run& run) {
  const std::uint32_t m = load_metric(run);
  return m < run.metrics.size() ? run.metrics[m].unit : std::string();
}

std::string regions_table(const record::Run& run) {
  std::vector<const record::Series*> rows;
  std::size_t left_out = 0;
  double all = 0;
  const std::uint32_t metric = load_metric(run);
  for (const auto& s : run.series)
    if (s.metric == metric) {
      rows.push_back(&s);
      all += s.mean_over_ranks;
    }
  std::sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->total > b->total; });

  const std::string unit = load_unit(run);
  constexpr std::size_t most = 12;
  if (rows.size() > most) left_out = rows.size() - most;
  rows.resize(std::min(rows.size(), most));
  std::vector<std::string> names;
  for (const auto* s : rows) names.push_back(visible(s->phase.empty() ? s->region : s->phase + "/" + s->region));
  const bool long_ones =
      std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.size() > 28; });
  const int width = long_ones ? 48 : 28;
  names = names_apart(names, static_cast<std::size_t>(width));
  std::string out =
      line("  %-*s %-8s %12s %7s %12s %10s %6s", width, "region", "kind",
           ("mean [" + (unit.empty() ? "-" : visible(unit)) + "]").c_str(), "share", "worst rank", "imbalance", "rank");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& s = *rows[i];
    out += line("  %-*s %-8s %12s %6s%% %12s %9s%% %6d", width, names[i].c_str(), record::kind_name(s.kind),
                general_text(s.mean_over_ranks, 4).c_str(),
                fixed_text(all > 0 ? 100 * s.mean_over_ranks / all : 0.0, 1).c_str(),
                general_text(s.max_over_ranks, 4).c_str(), fixed_text(100 * s.imbalance, 1).c_str(),
                static_cast<int>(s.max_rank));
  }
  if (left_out > 0) out += line("  ... and %zu more", left_out);
  return out;
}

std::string rebalances_table(const record::Run& run, const RunTotals& totals) {
  if (totals.rebalances == 0) {
    const auto wanted =
        std::count_if(run.windows.begin(), run.windows.end(), [](const auto& w) { return w.rebalance; });
    return wanted == 0 ? "  no rebalance was recommended\n"
                       : line("  %d of %zu hints recommended a rebalance; none was done", static_cast<int>(wanted),
                              run.windows.size());
  }
  std::string out =
      line("  %d rebalances, %s s in all (%s s each)", totals.rebalances, general_text(totals.prices, 4).c_str(),
           general_text(totals.prices / totals.rebalances, 4).c_str());
  int shown = 0;
  for (std::size_t i = 0; i + 1 < run.windows.size() && shown < 10; ++i) {
    const auto& w = run.windows[i];
    if (!w.rebalanced) continue;
    // The first window entirely after the rebalance shows its effect.
    const auto after = std::find_if(run.windows.begin() + static_cast<std::ptrdiff_t>(i), run.windows.end(),
                                    [&](const auto& x) { return x.first > w.rebalanced_at; });
    if (after != run.windows.end())
      out += line("    step %8lld: imbalance %5s %% -> %5s %%", static_cast<long long>(w.rebalanced_at),
                  fixed_text(100 * w.imbalance, 1).c_str(), fixed_text(100 * after->imbalance, 1).c_str());
    ++shown;
  }
  return out;
}

}  // namespace

std::string summary(const record::Run& run, const RunTotals& totals) {
  std::string out = line("effort: %lld steps on %d ranks, %d node(s), %s s; load is %s",
                         static_cast<long long>(run.steps), static_cast<int>(run.ranks), static_cast<int>(run.nodes),
                         general_text(run.wall_seconds, 4).c_str(), visible(run.load_metric).c_str());
  out += regions_table(run);
  out += rebalances_table(run, totals);
  if (run.critical_path > 0) {
    const double saved = run.critical_path - run.mean_path;
    const std::string unit = load_unit(run).empty() ? "" : " " + visible(load_unit(run));
    out += line("  critical path %s%s, ideal %s%s (imbalance %s %%)", general_text(run.critical_path, 4).c_str(),
                unit.c_str(), general_text(run.mean_path, 4).c_str(), unit.c_str(),
                fixed_text(run.mean_path > 0 ? 100 * (run.critical_path / run.mean_path - 1) : 0.0, 1).c_str());
    if (run.load_metric == "time" && run.wall_seconds > 0)
      out += line("  ideal balance would run this in %s %% less time",
                  fixed_text(100 * std::min(1.0, saved / run.wall_seconds), 1).c_str());
    else
      out += line("  ideal balance would shorten the critical path by %s %%",
                  fixed_text(100 * saved / run.critical_path, 1).c_str());
  }
  if (const std::optional<record::MostAwaited> most = record::most_to_blame(run))
    out += line("  rank %d made the others wait %s s at collectives%s, %s %% of all such waiting%s%s",
                static_cast<int>(most->rank), general_text(most->seconds, 4).c_str(),
                most->followed_back ? " and for messages" : "", fixed_text(100 * most->share, 1).c_str(),
                most->region.empty() ? "" : "; it exceeds the mean rank most in ",
                visible(innermost_frames(most->region)).substr(0, 200).c_str());
  out += line("  effort itself: %s s of CPU time in the background (%s %% of what %d ranks computed)%s",
              general_text(run.own_cpu_seconds_total(), 4).c_str(),
              fixed_text(100 * std::max(0.0, run.own_cpu_share()), 3).c_str(), static_cast<int>(run.ranks),
              run.merged_steps > 0 ? "; some steps were merged, see notes" : "");
  if (run.measuring_seconds >= 0)
    out += line("  measuring: %s s in the busiest thread of the most affected rank (%s %% of its time)",
                general_text(run.measuring_seconds, 4).c_str(),
                fixed_text(run.wall_seconds > 0 ? 100 * run.measuring_seconds / run.wall_seconds : 0.0, 3).c_str());
  for (const std::string& note : run.notes) out += line("  note: %.480s", visible(note).c_str());
  return out;
}

}  // namespace effort::engine
