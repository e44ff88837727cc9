#include "runtime/trace/sample_rules.hpp"

#include <algorithm>

namespace effort::engine {

using measure::Definition;

namespace {

/// The ranks of the run in the ranges.
std::vector<std::int32_t> ranks_in(const config::RankRanges& ranges, int n_ranks) {
  std::vector<std::int32_t> out;
  for (const auto& [first, last] : ranges)
    for (std::int32_t r = first; r <= std::min(last, n_ranks - 1); ++r) out.push_back(r);
  return out;
}

sampling::Accuracy with_default(double confidence, double error, const sampling::Accuracy& whole) {
  return {confidence >= 0 ? confidence : whole.confidence, error >= 0 ? error : whole.error};
}

}  // namespace

std::string absent_ranks(const config::Trace& settings, int n_ranks) {
  const auto note = [&](std::int32_t rank, const std::string& where) {
    return "rank " + std::to_string(rank) + " is pinned for the trace, but the run has only " +
           std::to_string(n_ranks) + (n_ranks == 1 ? " rank" : " ranks") + ": correct " + where +
           " (ranks count from 0)";
  };
  // A range that begins in the run may extend beyond it: 0-1023 means all ranks.
  for (std::size_t i = 0; i < settings.pinned.size(); ++i) {
    const std::int32_t rank = settings.pinned[i];
    if (rank >= n_ranks && (i == 0 || settings.pinned[i - 1] != rank - 1)) return note(rank, "TRACE_PIN");
    if (rank >= n_ranks) break;
  }
  for (const config::TraceGroup& group : settings.groups)
    for (const auto& [first, last] : group.pinned)
      if (first >= n_ranks) return note(first, "`pinned` of trace_group '" + group.name + "'");
  return "";
}

SampleRules::SampleRules(const config::Settings& settings, int n_ranks, const std::vector<int>& ranks,
                         const NameUnion& names)
    : n_ranks_(n_ranks),
      ranks_(ranks),
      names_(names),
      accuracy_{settings.trace.confidence, settings.trace.error},
      pinned_(settings.trace.pinned) {
  const config::Trace& s = settings.trace;
  const auto metric = [&](const std::string& name) { return name == "load" ? settings.load_metric : name; };
  if (s.guide != "load") {
    const std::size_t at = s.guide.find('@');
    guided_ = true;
    columns_.push_back(
        {metric(s.guide.substr(0, at)), at == std::string::npos ? "" : s.guide.substr(at + 1), accuracy_});
  }
  for (const config::TracePolicy& p : s.policies)
    if (p.guides()) columns_.push_back({"time", p.region, with_default(p.confidence, p.error, accuracy_)});
  for (const config::TraceGroup& g : s.groups) {
    groups_.push_back({ranks_in(g.members, n_ranks), ranks_in(g.pinned, n_ranks),
                       with_default(g.confidence, g.error, accuracy_), g.sample_size});
    pinned_.insert(pinned_.end(), groups_.back().pinned.begin(), groups_.back().pinned.end());
  }
  std::sort(pinned_.begin(), pinned_.end());
  pinned_.erase(std::unique(pinned_.begin(), pinned_.end()), pinned_.end());
}

/// Adds the column's sums over the steps [first, end) of the block to rows[local][1 + at].
void SampleRules::add_series(const Column& column, const WindowBlock& block, std::size_t first, std::size_t end,
                             std::size_t at, std::vector<double>& rows) const {
  const std::size_t width = 1 + columns_.size(), steps = static_cast<std::size_t>(block.steps);
  for (const auto& [key, values] : block.series) {
    const RunSeries run = names_.global(key);
    if (names_.run().at(Definition::metric, run.metric).name != column.metric) continue;
    if (!column.region.empty() && names_.run().at(Definition::region, run.region).name != column.region) continue;
    for (std::size_t l = 0; l < ranks_.size(); ++l)
      for (std::size_t s = first; s < end; ++s) rows[l * width + 1 + at] += values[l * steps + s];
  }
}

void SampleRules::measure(Communicator& nodes, const WindowBlock& block, std::int64_t first, std::int64_t last) {
  if (columns_.empty()) return;
  const std::size_t width = 1 + columns_.size();
  std::vector<double> rows(ranks_.size() * width);  // rank, values
  const auto from = static_cast<std::size_t>(std::max<std::int64_t>(0, first - block.first_step));
  const auto end = static_cast<std::size_t>(last + 1 - block.first_step);
  for (std::size_t l = 0; l < ranks_.size(); ++l) rows[l * width] = ranks_[l];
  for (std::size_t c = 0; c < columns_.size(); ++c) add_series(columns_[c], block, from, end, c, rows);
  const auto all = nodes.allgatherv(std::span<const double>(rows)).values;
  values_.assign(columns_.size(), std::vector<double>(static_cast<std::size_t>(n_ranks_)));
  measured_ = false;
  for (std::size_t row = 0; row + width <= all.size(); row += width)
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      // A correction of sampled times may make a sum slightly negative.
      const double value = std::max(0.0, all[row + 1 + c]);
      values_[c][static_cast<std::size_t>(all[row])] = value;
      measured_ = measured_ || (c == 0 && value > 0);
    }
}

std::vector<sampling::Target> SampleRules::targets(std::span<const double> load) const {
  std::vector<sampling::Target> out;
  if (!guided_ || !measured_) out.push_back({load, accuracy_});
  for (std::size_t c = 0; c < values_.size(); ++c)
    if (c > 0 || !guided_ || measured_) out.push_back({values_[c], columns_[c].accuracy});
  return out;
}

}  // namespace effort::engine
