#include "tools/view/snapshot_view.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace effort::tools {

std::vector<RegionRow> regions_of(const record::Run& run) {
  std::vector<RegionRow> rows;
  std::map<std::tuple<std::string, record::Kind, std::string>, std::size_t> known;
  for (std::size_t i = 0; i < run.series.size(); ++i) {
    const record::Series& s = run.series[i];
    const auto [at, fresh] = known.try_emplace({s.region, s.kind, s.phase}, rows.size());
    if (fresh) rows.push_back({s.region, s.kind, s.phase, std::vector<std::int64_t>(run.metrics.size(), -1)});
    rows[at->second].series[s.metric] = static_cast<std::int64_t>(i);
  }
  return rows;
}

double largest_nrmse(const record::Run& run, const record::SeriesReader& series) {
  double largest = record::absent;
  for (std::uint32_t i = 0; i < run.series.size(); ++i) largest = std::max(largest, series.nrmse(i));
  return largest;
}

std::size_t load_metric_of(const record::Run& run) {
  for (std::size_t i = 0; i < run.metrics.size(); ++i) {
    if (run.metrics[i].name == run.load_metric) return i;
  }
  return 0;
}

double mean_over_windows(const record::Run& run, double record::Window::*value) {
  double sum = 0, steps = 0;
  for (const record::Window& w : run.windows) {
    if (!(w.*value >= 0)) continue;
    const auto weight = static_cast<double>(w.last - w.first + 1);
    sum += weight * (w.*value);
    steps += weight;
  }
  return steps > 0 ? sum / steps : record::absent;
}

double mean_imbalance(const record::Run& run) {
  if (run.critical_path >= 0 && run.mean_path > 0) return run.critical_path / run.mean_path - 1;
  return mean_over_windows(run, &record::Window::imbalance);
}

std::optional<IdealSaving> ideal_saving(const record::Run& run) {
  if (!(run.critical_path > 0) || !(run.mean_path >= 0)) return std::nullopt;
  const double saved = run.critical_path - run.mean_path;
  if (run.load_metric == "time" && run.wall_seconds > 0)
    return IdealSaving{std::min(1.0, saved / run.wall_seconds), true};
  return IdealSaving{saved / run.critical_path, false};
}

std::vector<std::string> advice_names(std::uint32_t bits) {
  std::vector<std::string> out;
#define EFFORT_BIT(name, c_name, bit) \
  if ((bits & window::advice_##name) != 0) out.push_back(#name);
  EFFORT_ADVICE_BITS(EFFORT_BIT)
#undef EFFORT_BIT
#define EFFORT_BIT(name, c_name, bit) | window::advice_##name
  constexpr std::uint32_t known = 0 EFFORT_ADVICE_BITS(EFFORT_BIT);
#undef EFFORT_BIT
  for (int i = 0; i < 32; ++i)
    if ((bits & ~known) >> i & 1) out.push_back("bit_" + std::to_string(i));
  return out;
}

}  // namespace effort::tools
