#include "analytics/window/judge.hpp"

#include "analytics/balance/efficiency.hpp"

#include <algorithm>
#include <numeric>

namespace effort::window {
namespace {

// Whether waiting is probably counted as load.  All ranks are then equal to within noise although a region of some size
// is far from balanced, because the ranks that are faster in it wait in another region.
bool waiting_hides_loads(const Pass& pass, double imbalance) {
  constexpr double equal = 0.02;       // imbalance up to which ranks count as equal
  constexpr double unequal = 0.5;      // imbalance of a region that is far from balanced
  constexpr double noticeable = 0.05;  // share of a region in the load
  if (pass.input.n_ranks < 2 || imbalance > equal) return false;
  double total = 0;
  for (double load : pass.step_total) total += load / pass.steps;
  for (std::size_t g = 0; g < pass.region_peak.size(); ++g) {
    const double mean = pass.row_total[g] / pass.input.n_ranks;
    if (pass.row_total[g] > noticeable * total && pass.region_peak[g] > (1 + unequal) * mean) return true;
  }
  return false;
}

}  // namespace

std::uint32_t judge(Communicator& nodes, Pass& pass, std::uint32_t advice) {
  struct {
    balance::Efficiencies efficiencies;
    std::uint32_t advice;
  } c{{}, advice};
  if (nodes.rank() == 0) {
    double mean = 0, critical = 0, elapsed = 0;
    for (double x : pass.step_total) mean += x / (static_cast<double>(pass.input.n_ranks) * pass.steps);
    for (double x : pass.step_largest) critical += x;
    for (double x : pass.wall_largest) elapsed += x;
    if (waiting_hides_loads(pass, mean > 0 ? pass.largest_mean / mean - 1 : 0.0)) c.advice |= advice_unmarked_comm;
    c.efficiencies = balance::efficiencies(mean * pass.steps, pass.largest_mean * pass.steps, critical,
                                           pass.agreed.wall ? elapsed : 0.0);
  }
  nodes.bcast(std::span(&c, 1), 0);
  pass.result.load_balance = c.efficiencies.load_balance;
  pass.result.communication_efficiency = c.efficiencies.communication;
  pass.result.parallel_efficiency = c.efficiencies.parallel;
  pass.result.ideal_saving = c.efficiencies.ideal_saving;
  return c.advice;
}

}  // namespace effort::window
