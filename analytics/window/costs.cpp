// Costs per unit of work and node speeds: every node logs its own ranks, node 0 fits, all are told.
#include "analytics/window/state.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>

namespace effort::window {
namespace {

constexpr std::size_t windows_fitted = 6;

}  // namespace

void Analyzer::State::fit_costs(Communicator& nodes, Pass& pass) {
  const Input& in = pass.input;
  Result& result = pass.result;
  const auto units = static_cast<std::size_t>(in.n_units), regions = static_cast<std::size_t>(in.n_regions);
  slow_node = collinear_units = false;
  if (in.n_units == 0) return;
  if (!work_logs.empty() && (work_logs.front().units() != in.n_units || logged_regions != in.n_regions)) work_logs.clear();
  logged_regions = in.n_regions;
  // What a unit of work costs does not depend on where it is done: windows before a rebalance count as well.
  balance::WorkLog log(in.n_units, in.n_regions);
  const double floor = std::max(1e-3 * std::accumulate(pass.step_total.begin(), pass.step_total.end(), 0.0) /
                                    (static_cast<double>(in.n_ranks) * pass.steps), 1e-300);
  log.add(in.work, in.rank_load, in.region_load, static_cast<int>(in.ranks.size()), pass.steps, floor);
  work_logs.push_front(std::move(log));
  if (work_logs.size() > windows_fitted) work_logs.pop_back();
  balance::WorkLog recent(in.n_units, in.n_regions);
  for (const balance::WorkLog& each : work_logs) recent.add(each);

  const std::vector<double> packed = recent.pack();
  const Gathered<double> all = nodes.gatherv(std::span<const double>(packed), 0);
  std::vector<double> told(2 * units + regions * units + static_cast<std::size_t>(nodes.size()) + 2, -1.0);
  if (nodes.rank() == 0) conclude_costs(nodes, in, all, told);
  nodes.bcast(std::span<double>(told), 0);
  auto position = told.cbegin();
  const auto take = [&position](std::size_t n) {
    const auto first = position;
    position += static_cast<std::ptrdiff_t>(n);
    return std::vector<double>(first, position);
  };
  result.unit_cost = take(units);
  result.unit_cost_error = take(units);
  result.region_unit_cost = take(regions * units);
  const std::vector<double> node_speed = take(static_cast<std::size_t>(nodes.size()));
  const std::vector<double> flags = take(2);
  collinear_units = flags[0] > 0;
  slow_node = flags[1] > 0;
  result.speed.assign(static_cast<std::size_t>(n_ranks), 1.0);
  for (int node = 0; node < nodes.size(); ++node)
    for (int rank : layout.of(node)) result.speed[rank] = node_speed[node] > 0 ? node_speed[node] : 1.0;
}

void Analyzer::State::conclude_costs(Communicator& nodes, const Input& in, const Gathered<double>& all,
                                     std::vector<double>& told) const {
  std::vector<balance::WorkLog> logs;
  std::vector<double> weights;
  for (int node = 0; node < nodes.size(); ++node) {
    logs.push_back(balance::WorkLog::unpack(all.of(node), in.n_units, in.n_regions));
    weights.push_back(static_cast<double>(layout.of(node).size()));
  }
  try {
    const balance::CostModel model = balance::fit_costs(logs, weights, in.n_regions);
    auto out = std::copy(model.unit_cost.begin(), model.unit_cost.end(), told.begin());
    out = std::copy(model.unit_cost_error.begin(), model.unit_cost_error.end(), out);
    out = std::copy(model.region_unit_cost.begin(), model.region_unit_cost.end(), out);
    out = std::copy(model.node_speed.begin(), model.node_speed.end(), out);
    *out++ = model.collinear ? 1 : 0;
    *out++ = model.slow_node ? 1 : 0;
  } catch (const std::exception&) {
    std::fill(told.begin(), told.end(), -1.0);  // amounts beyond all bounds: costs stay unknown, the rest goes on
  }
}

}  // namespace effort::window
