#include "analytics/window/waiting.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace effort::window {
namespace {

/// The regions in which this node's ranks exceed the mean of all ranks most; -1 outside all regions, or in none.
std::vector<std::int32_t> largest_excess(const Pass& pass, const std::vector<double>& delay) {
  const std::size_t n = delay.size();
  std::vector<std::int32_t> out(n, -1);
  for (std::size_t i = 0; i < n; ++i) {
    if (delay[i] <= 0) continue;
    double most = 0;
    for (int g = 0; g < pass.input.n_regions; ++g) {
      const auto row = static_cast<std::size_t>(g);
      const double excess = pass.row_mean[row * n + i] - pass.row_total[row] / pass.input.n_ranks;
      if (excess <= most) continue;
      most = excess;
      out[i] = g;
    }
  }
  return out;
}

/// How much of the ranks' delays their mean loads explain: at most the time that ranks with smaller loads wait for
/// them.
double explained(const std::vector<double>& load, const std::vector<double>& delay) {
  std::vector<std::size_t> order(load.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return load[a] < load[b]; });
  double out = 0, below = 0;  // sum of the smaller loads
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t r = order[i];
    out += std::min(delay[r], load[r] * static_cast<double>(i) - below);
    below += load[r];
  }
  return out;
}

/// The part of the loss that makes no rank wait.  All communication except transfer counts as waiting.
double unawaited_loss_of(const Pass& pass, double mean_transfer) {
  if (!pass.agreed.synchronized_steps || pass.mean_wait <= 0) return 0;  // unknown
  const double largest = std::accumulate(pass.step_largest.begin(), pass.step_largest.end(), 0.0);
  const double total = std::accumulate(pass.step_total.begin(), pass.step_total.end(), 0.0);
  const double loss = (largest - total / pass.input.n_ranks) / pass.steps;
  return std::max(0.0, loss - std::max(0.0, pass.mean_wait - mean_transfer));
}

}  // namespace

Waiting find_waiting(Communicator& nodes, const Layout& layout, Pass& pass) {
  Result& result = pass.result;
  result.delay.clear();
  result.delay_region.clear();
  result.transfer_efficiency = -1;
  if (!pass.agreed.waits) return {};
  const std::size_t n = pass.input.ranks.size();
  const auto mean = [&](std::span<const double> values) {
    std::vector<double> out(n);
    for (std::size_t i = 0; i < n; ++i)
      out[i] = std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(i) * pass.steps,
                               values.begin() + static_cast<std::ptrdiff_t>(i + 1) * pass.steps, 0.0) /
               pass.steps;
    return out;
  };
  const std::vector<double> mine = mean(pass.input.delay);
  result.delay = layout.gather(nodes, mine);
  result.delay_region = layout.gather(nodes, largest_excess(pass, mine));
  const std::vector<double> load = layout.gather(nodes, pass.rank_mean);
  const std::vector<double> transfer = layout.gather(nodes, mean(pass.input.transfer));

  Waiting out;
  out.unawaited = unawaited_loss_of(pass, std::accumulate(transfer.begin(), transfer.end(), 0.0) / pass.input.n_ranks);

  const double elapsed = std::accumulate(pass.wall_largest.begin(), pass.wall_largest.end(), 0.0) / pass.steps;
  if (!pass.agreed.wall || elapsed <= 0) return out;
  const double least = std::max(0.0, *std::min_element(transfer.begin(), transfer.end()));
  result.transfer_efficiency = std::clamp(1 - least / elapsed, 0.0, 1.0);

  constexpr double noticeable = 0.05;  // share of the ranks' time
  const double waiting = std::accumulate(result.delay.begin(), result.delay.end(), 0.0);
  const double by_load = explained(load, result.delay);
  const double rest = waiting - by_load + least * pass.input.n_ranks;
  if (rest > noticeable * elapsed * pass.input.n_ranks && rest > by_load) out.advice = advice_transfer;
  return out;
}

}  // namespace effort::window
