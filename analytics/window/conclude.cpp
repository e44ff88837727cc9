// The decision and its reasons: made on node 0 and broadcast.
#include "analytics/window/state.hpp"

#include <algorithm>
#include <numeric>

namespace effort::window {
namespace {

// What node 0 tells the others.
struct Conclusion {
  double imbalance, gain, residual, price, saving, lost;
  Efficiencies efficiencies;
  std::int32_t rebalance;
  std::uint32_t advice;
};

double largest(std::span<const double> v) { return v.empty() ? 0.0 : *std::max_element(v.begin(), v.end()); }
double mean(std::span<const double> v) {
  return v.empty() ? 0.0 : std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}
double excess(std::span<const double> v) {
  const double m = mean(v);
  return m > 0 ? largest(v) / m - 1 : 0.0;
}

std::uint32_t advice_of(const balance::Verdict& v, bool stale) {
  std::uint32_t advice = 0;
  if (stale) advice |= advice_stale;
  if (v.trend) advice |= advice_trend;
  if (v.jump) advice |= advice_jump;
  if (v.balanced) advice |= advice_balanced;
  if (v.no_price) advice |= advice_no_price;
  if (v.too_expensive) advice |= advice_too_expensive;
  return advice;
}

// All ranks equal to within noise, although most of the time is waiting, or although a region that matters is far from
// balanced: then another region holds the waiting that makes up for it, and was not marked as such.
bool waiting_hides_loads(const Pass& pass, double imbalance) {
  constexpr double equal = 0.02, dominating = 0.5, unequal = 0.5, matters = 0.05;
  if (pass.input.n_ranks < 2 || imbalance > equal) return false;
  if (pass.wait_share > dominating) return true;
  double total = 0;
  for (double load : pass.step_total) total += load / pass.steps;
  for (std::size_t g = 0; g < pass.region_peak.size(); ++g) {
    const double mean = pass.row_total[g] / pass.input.n_ranks;
    if (pass.row_total[g] > matters * total && pass.region_peak[g] > (1 + unequal) * mean) return true;
  }
  return false;
}

}  // namespace

void Analyzer::State::decide(Communicator& nodes, Pass& pass) {
  Result& result = pass.result;
  pass.facts.steady_imbalance = steady_imbalance(nodes, pass);
  Conclusion c{};
  if (nodes.rank() == 0) {
    pass.facts.imbalance = excess(result.load);
    pass.facts.predicted_gain = largest(result.predicted) - mean(result.predicted);
    if (!work_trend.empty() && trust.share() > 0)
      pass.facts.foretold_ageing = std::max(0.0, excess(result.predicted) - pass.facts.imbalance);
    const balance::Verdict verdict = decision.decide(pass.facts);
    c.imbalance = pass.facts.imbalance;
    c.gain = pass.facts.predicted_gain;
    c.residual = verdict.residual;
    c.price = verdict.price;
    c.saving = verdict.expected_saving;
    c.lost = verdict.lost;
    c.rebalance = verdict.rebalance ? 1 : 0;
    c.advice = advice_of(verdict, pass.stale);
    if (slow_node) c.advice |= advice_slow_node;
    if (collinear_units) c.advice |= advice_collinear_units;
    if (waiting_hides_loads(pass, c.imbalance)) c.advice |= advice_unmarked_comm;
    for (const auto& row : row_spikes)
      if (row.period().length > 0) c.advice |= advice_periodic;
    double critical = 0, elapsed = 0;
    for (double x : pass.step_largest) critical += x;
    for (double x : pass.wall_largest) elapsed += x;
    c.efficiencies = balance::efficiencies(mean(result.load) * pass.steps, largest(result.load) * pass.steps, critical,
                                           pass.agreed.wall ? elapsed : 0.0);
  }
  nodes.bcast(std::span<Conclusion>(&c, 1), 0);
  result.imbalance = c.imbalance;
  result.gain_per_step = c.gain;
  result.residual = c.residual;
  result.rebalance_cost = c.price;
  result.expected_saving = c.saving;
  result.lost_since_rebalance = c.lost;
  result.rebalance = c.rebalance;
  result.advice = c.advice;
  result.efficiencies = c.efficiencies;
}

// Imbalance of the ranks' loads, each without its own largest step: what one disturbed step per rank can't bring about.
double Analyzer::State::steady_imbalance(Communicator& nodes, Pass& pass) {
  const int steps = pass.steps;
  double top = 0;
  ExactSum sum(2 * pass.agreed.largest_load * n_ranks);
  sum.reserve(1);
  const double* row = pass.input.rank_load.data();
  for (std::size_t i = 0; i < pass.rank_mean.size(); ++i, row += steps) {
    double trimmed = pass.rank_mean[i];
    if (steps >= 4) trimmed = (trimmed * steps - *std::max_element(row, row + steps)) / (steps - 1);
    top = std::max(top, trimmed);
    sum.add_to(0, trimmed);
  }
  nodes.allreduce(std::span<double>(&top, 1), ReduceOp::max);
  sum.reduce(nodes);
  return sum[0] > 0 ? top / (sum[0] / n_ranks) - 1 : 0.0;
}

}  // namespace effort::window
