// The loads of one window: maxima and sums over all ranks.
#include "analytics/window/state.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effort::window {
namespace {

// The scale for sums of loads over all ranks.
ExactSum load_scale(const Pass& pass) { return ExactSum(pass.agreed.largest_load * pass.input.n_ranks); }

}  // namespace

void fill_rest(Pass& pass) {
  const std::size_t n = pass.rank_mean.size();
  double* rest = pass.row_mean.data() + n * static_cast<std::size_t>(pass.rows - 1);
  std::copy(pass.rank_mean.begin(), pass.rank_mean.end(), rest);
  for (int row = 0; row + 1 < pass.rows; ++row)
    for (std::size_t i = 0; i < n; ++i) rest[i] -= pass.row_mean[static_cast<std::size_t>(row) * n + i];
}

void Analyzer::State::measure(Communicator& nodes, Pass& pass) {
  exchange_maxima(nodes, pass);
  exchange_sums(nodes, pass);
}

// Exchanges the maxima over all ranks: of the mean load, and in each step of load, wall time and each region's load.
void Analyzer::State::exchange_maxima(Communicator& nodes, Pass& pass) {
  const Input& in = pass.input;
  const auto steps = static_cast<std::size_t>(pass.steps);
  std::vector<double> maxima(steps);
  step_maxima(in.rank_load, maxima);
  maxima.push_back(pass.rank_mean.empty() ? 0.0 : *std::max_element(pass.rank_mean.begin(), pass.rank_mean.end()));
  const std::size_t wall_at = maxima.size(), regions_at = wall_at + steps;
  maxima.resize(regions_at + steps * static_cast<std::size_t>(in.n_regions));
  step_maxima(in.step_wall, std::span<double>(maxima).subspan(wall_at, steps));
  const std::size_t row_size = in.ranks.size() * steps;
  for (std::size_t g = 0; g < static_cast<std::size_t>(in.n_regions); ++g)
    step_maxima(in.region_load.subspan(g * row_size, row_size),
                std::span<double>(maxima).subspan(regions_at + g * steps, steps));
  nodes.allreduce(std::span<double>(maxima), ReduceOp::max);

  const double* next = maxima.data();
  const auto take = [&](std::vector<double>& out) {
    out.assign(next, next + steps);
    next += steps;
  };
  take(pass.step_largest);
  pass.largest_mean = *next++;
  take(pass.wall_largest);
  find_row_peaks(pass, std::span<const double>(next, steps * static_cast<std::size_t>(in.n_regions)));
}

void Analyzer::State::find_row_peaks(Pass& pass, std::span<const double> region_maxima) {
  const auto steps = static_cast<std::size_t>(pass.steps);
  for (std::size_t at = 0; at < region_maxima.size(); at += steps) {
    std::vector<double> maxima(region_maxima.begin() + static_cast<std::ptrdiff_t>(at),
                               region_maxima.begin() + static_cast<std::ptrdiff_t>(at + steps));
    std::nth_element(maxima.begin(), maxima.begin() + static_cast<std::ptrdiff_t>(steps / 2), maxima.end());
    pass.region_peak.push_back(maxima[steps / 2]);
  }
  for (std::size_t row = 0; row < row_spikes.size(); ++row) {
    const bool rest = row + 1 == row_spikes.size();
    row_spikes[row].observe(pass.input.first_step, rest ? std::span<const double>(pass.step_largest)
                                                        : region_maxima.subspan(row * steps, steps));
  }
}

// Exchanges sums over all ranks, exact in any order: of each step's load and each row's mean.
void Analyzer::State::exchange_sums(Communicator& nodes, Pass& pass) {
  const Input& in = pass.input;
  const auto steps = static_cast<std::size_t>(pass.steps);
  const std::size_t n = in.ranks.size();
  ExactSum sum = load_scale(pass);
  sum.reserve(steps);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t s = 0; s < steps; ++s) sum.add_to(s, in.rank_load[i * steps + s]);
  for (std::size_t row = 0; row < static_cast<std::size_t>(pass.rows); ++row)
    sum.total(std::span<const double>(pass.row_mean).subspan(row * n, n));
  sum.reduce(nodes);
  ExactSum waits((pass.agreed.largest_wait + pass.agreed.largest_wall) * in.n_ranks * pass.steps);
  waits.total(in.rank_wait);
  waits.total(in.step_wall);
  waits.reduce(nodes);
  pass.wait_share = waits[1] > 0 ? waits[0] / waits[1] : 0.0;

  std::size_t next = 0;
  const auto take = [&](std::vector<double>& out, std::size_t size) {
    out.resize(size);
    for (double& value : out) value = sum[next++];
  };
  take(pass.step_total, steps);
  take(pass.row_total, static_cast<std::size_t>(pass.rows));
}

}  // namespace effort::window
