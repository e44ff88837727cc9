#include "tools/files/replay_snapshot.hpp"

#include <algorithm>
#include <utility>

#include "record/step_load_log.hpp"
#include "record/writer.hpp"

namespace effort::tools {

ReplayRecorder::ReplayRecorder(std::vector<std::string> regions, int nodes, int passes, bool exact)
    : regions_(std::move(regions)), passes_(passes), exact_(exact), nodes_(static_cast<std::size_t>(nodes)) {}

void ReplayRecorder::start(Node& node, const window::Input& input) const {
  node.ranks.assign(input.ranks.begin(), input.ranks.end());
  for (std::size_t g = 0; g < regions_.size(); ++g)
    node.series.emplace_back(0, codec::History(node.ranks.size(), codec::Target::passes(passes_)));
}

void ReplayRecorder::add(int index, const window::Input& input, const window::Result& result) {
  Node& node = nodes_[static_cast<std::size_t>(index)];
  if (node.series.empty()) start(node, input);
  const auto steps = static_cast<std::size_t>(input.last_step - input.first_step + 1);
  const std::size_t plane = node.ranks.size() * steps;
  for (std::size_t g = 0; g < regions_.size(); ++g)
    node.series[g].append(input.region_load.subspan(g * plane, plane), steps);
  add_step_loads(node, input);
  if (exact_) {
    record::ExactBlock block;
    block.first_step = input.first_step;
    block.steps = static_cast<std::int32_t>(steps);
    for (std::uint32_t g = 0; g < regions_.size(); ++g) block.series.push_back(g);
    block.values.assign(input.region_load.begin(), input.region_load.end());
    node.exact.push_back(std::move(block));
  }
  for (double seconds : result.stage_seconds) node.cpu_seconds += seconds;
  node.bytes = static_cast<std::int64_t>(result.bytes);
  if (index == 0 && !result.medoid_rank.empty())
    strata_.add(
        {input.first_step, input.last_step, result.stratum, result.medoid_rank, regions_, result.stratum_region_load});
}

void ReplayRecorder::add_step_loads(Node& node, const window::Input& input) {
  const auto steps = static_cast<std::size_t>(input.last_step - input.first_step + 1);
  for (std::size_t c = 0; c < steps; ++c) {
    double largest = 0, sum = 0;
    for (std::size_t r = 0; r < node.ranks.size(); ++r) {
      const double load = input.rank_load[r * steps + c];
      largest = std::max(largest, load);
      sum += load;
    }
    node.step_largest.push_back(largest);
    node.step_sum.push_back(sum);
  }
}

/// The loads of the run's steps, from the nodes' parts.
void ReplayRecorder::describe_steps(record::Run& run) const {
  const std::size_t steps = nodes_[0].step_sum.size();
  std::vector<double> loads(2 * steps);
  for (const Node& node : nodes_) {
    for (std::size_t c = 0; c < node.step_sum.size(); ++c) {
      loads[c] = std::max(loads[c], node.step_largest[c]);
      loads[steps + c] += node.step_sum[c] / run.ranks;
    }
  }
  record::StepLoadLog log;
  log.append(loads);
  log.describe(run, true);
}

void ReplayRecorder::describe(record::Run& run) const {
  std::vector<std::int32_t> node_of_rank;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    node_of_rank.insert(node_of_rank.end(), nodes_[i].ranks.size(), static_cast<std::int32_t>(i));
    run.own_cpu_seconds.push_back(nodes_[i].cpu_seconds);
    run.own_bytes.push_back(nodes_[i].bytes);
  }
  run.place(node_of_rank);
  run.metrics = {{"time", "s"}};
  run.load_metric = "time";
  for (std::size_t g = 0; g < regions_.size(); ++g) {
    record::Totals totals;
    for (const Node& node : nodes_)
      if (!node.series.empty()) node.series[g].add_to(totals, node.ranks);
    record::Series& series = run.series.emplace_back();
    series.region = regions_[g];
    series.set_totals(totals, run.ranks);
  }
  strata_.describe(run);
  describe_steps(run);
}

void ReplayRecorder::write(const std::filesystem::path& path, const std::string& name, const replay::Options& options,
                           const replay::Report& report) {
  record::Run run;
  run.version = EFFORT_VERSION_TEXT;
  run.name = name;
  run.job = "replay";
  run.steps = report.windows.empty() ? 0 : report.windows.back().last + 1;
  run.window = options.analysis.window;
  run.hint_lag = std::max(0, options.analysis.hint_lag);
  run.wall_seconds = report.chosen.cost;
  describe(run);
  for (const replay::WindowReport& w : report.windows) run.windows.push_back(to_window(w, regions_));
  run.notes = {"replayed from a recording: wall time is the critical path of the schedule chosen"};
  std::vector<std::vector<std::byte>> parts;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    record::NodePart part;
    part.node = static_cast<std::int32_t>(i);
    for (std::uint32_t g = 0; g < nodes_[i].series.size(); ++g) part.tiles.push_back(nodes_[i].series[g].tile(g, true));
    part.exact = std::move(nodes_[i].exact);
    parts.push_back(record::encode_part(part));
  }
  record::write_file(path, record::encode(run, parts));
}

record::Window to_window(const replay::WindowReport& w, const std::vector<std::string>& regions) {
  record::Window out;
  static_cast<window::Report&>(out) = static_cast<const window::Report&>(w);
  out.rebalanced = w.rebalanced_at >= 0;
  out.rebalanced_at = w.rebalanced_at;
  if (w.worst_region >= 0) out.worst_region_name = regions.at(static_cast<std::size_t>(w.worst_region));
  return out;
}

}  // namespace effort::tools
