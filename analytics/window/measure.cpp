#include "analytics/window/measure.hpp"

#include "analytics/window/exchange.hpp"
#include "analytics/window/local_loads.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effort::window {
namespace {

// The scale for sums of loads over all ranks.
ExactSum load_scale(const Pass& pass) { return ExactSum(pass.agreed.largest_load * pass.input.n_ranks); }

// Fills the last row of row_mean: the part of a rank's load that no region accounts for, such as work outside regions.
void fill_rest(Pass& pass) {
  const std::size_t n = pass.rank_mean.size();
  double* rest = pass.row_mean.data() + n * static_cast<std::size_t>(pass.rows - 1);
  std::copy(pass.rank_mean.begin(), pass.rank_mean.end(), rest);
  for (int row = 0; row + 1 < pass.rows; ++row)
    for (std::size_t i = 0; i < n; ++i) rest[i] -= pass.row_mean[static_cast<std::size_t>(row) * n + i];
}

double median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

// Exchanges the maxima over all ranks: of the mean load, and in each step of load, wall time and each region's load.
void exchange_maxima(Communicator& nodes, Pass& pass, RowPeaks& peaks) {
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
  const std::span<const double> regions(next, steps * static_cast<std::size_t>(in.n_regions));
  for (std::size_t at = 0; at < regions.size(); at += steps)
    pass.region_peak.push_back(median(regions.subspan(at, steps)));
  peaks.observe(pass, regions);
}

// Exchanges sums over all ranks, exact in any order: of each step's load and each row's mean.
void exchange_sums(Communicator& nodes, Pass& pass) {
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
  ExactSum waits(pass.agreed.largest_wait * in.n_ranks * pass.steps);
  waits.total(in.rank_wait);
  waits.reduce(nodes);
  pass.mean_wait = waits[0] / (static_cast<double>(in.n_ranks) * pass.steps);

  std::size_t next = 0;
  const auto take = [&](std::vector<double>& out, std::size_t size) {
    out.resize(size);
    for (double& value : out) value = sum[next++];
  };
  take(pass.step_total, steps);
  take(pass.row_total, static_cast<std::size_t>(pass.rows));
}

}  // namespace

void RowPeaks::observe(const Pass& pass, std::span<const double> region_maxima) {
  const auto steps = static_cast<std::size_t>(pass.steps);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const bool rest = row + 1 == rows_.size();
    rows_[row].observe(pass.input.first_step,
                       rest ? std::span<const double>(pass.step_largest) : region_maxima.subspan(row * steps, steps));
  }
}

bool RowPeaks::periodic() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const auto& row) { return row.recurs(); });
}

std::string take_means(Pass& pass) {
  const Input& in = pass.input;
  const std::size_t n = in.ranks.size(), regions = n * static_cast<std::size_t>(in.n_regions);
  pass.steps = n_steps(in);
  pass.rows = in.n_regions + 1;
  pass.rank_mean.resize(n);
  pass.row_mean.resize(n * static_cast<std::size_t>(pass.rows));
  std::vector<double> amounts(n * static_cast<std::size_t>(in.n_units));
  const bool finite = row_means(in.rank_load, pass.steps, pass.rank_mean) &&
                      row_means(in.region_load, pass.steps, std::span(pass.row_mean).first(regions));
  if (!finite) return "a load is not finite: leave such steps out";
  if (!row_means(in.work, pass.steps, amounts)) return "an amount of work is not finite: leave such steps out";
  fill_rest(pass);
  return "";
}

void measure(Communicator& nodes, Pass& pass, RowPeaks& peaks) {
  exchange_maxima(nodes, pass, peaks);
  exchange_sums(nodes, pass);
}

}  // namespace effort::window
