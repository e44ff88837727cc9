// The loads of one window: what each rank did, what the largest did, and what older distributions would have made of it.
#include "analytics/window/state.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effort::window {
namespace {

constexpr double largest_weight = 20.0;  // of weigh_steps()

// Of the sums over all ranks of loads, weighted or not.
ExactSum load_scale(const Pass& pass) {
  return ExactSum(pass.agreed.largest_load * pass.input.n_ranks * largest_weight);
}

double ordinary_mean(std::span<const double> values, std::span<const char> outlier) {
  double sum = 0, n = 0;
  for (std::size_t s = 0; s < values.size(); ++s) {
    if (outlier[s]) continue;
    sum += values[s];
    n += 1;
  }
  return n > 0 ? sum / n : 0.0;
}

// Steps right behind a rebalance that stand out (new neighbour lists, cold caches): what they cost more than the others.
double slow_start(const Pass& pass, double ordinary) {
  double seconds = 0;
  for (int s = 0; pass.begins_fresh && s < pass.steps && pass.outlier[s]; ++s) seconds += pass.step_largest[s] - ordinary;
  return std::max(seconds, 0.0);
}

// Largest load over mean load, averaged over the ordinary steps, under old weights.
double aged_critical(const Pass& pass, const WeightedSteps& w, int n_ranks) {
  double critical = 0, mean = 0;
  for (int s = 0; s < pass.steps; ++s) {
    if (pass.outlier[s] || !(w.sum[s] > 0)) continue;
    critical += w.largest[s] / w.sum[s] * pass.step_total[s];
    mean += pass.step_total[s] / n_ranks;
  }
  return mean > 0 ? critical / mean : -1.0;
}

// The same from the median step: half a window is few steps, and one that stands out must not spoil the first guess.
double aged_median(const Pass& pass, const WeightedSteps& w, int from, int n_ranks) {
  std::vector<double> ratio;
  for (int s = from; s < pass.steps; ++s)
    if (w.sum[s] > 0) ratio.push_back(w.largest[s] / w.sum[s] * n_ranks);
  if (ratio.empty()) return -1.0;
  std::sort(ratio.begin(), ratio.end());
  return 0.5 * (ratio[(ratio.size() - 1) / 2] + ratio[ratio.size() / 2]);
}

}  // namespace

void fill_rest(Pass& pass) {
  const std::size_t n = pass.rank_mean.size();
  double* rest = pass.row_mean.data() + n * static_cast<std::size_t>(pass.rows - 1);
  std::copy(pass.rank_mean.begin(), pass.rank_mean.end(), rest);
  for (int row = 0; row + 1 < pass.rows; ++row)
    for (std::size_t i = 0; i < n; ++i) rest[i] -= pass.row_mean[static_cast<std::size_t>(row) * n + i];
}

void Analyzer::State::measure(Communicator& nodes, Pass& pass) {
  weigh(nodes, pass);
  exchange_maxima(nodes, pass);
  exchange_sums(nodes, pass);
  balance::WindowFacts& facts = pass.facts;
  facts.first_step = pass.input.first_step;
  facts.last_step = pass.input.last_step;
  facts.stale = pass.stale;
  const int n = pass.input.n_ranks;
  facts.mean = ordinary_mean(pass.step_total, pass.outlier) / n;
  facts.critical = ordinary_mean(pass.step_largest, pass.outlier);
  const std::vector<char> none(static_cast<std::size_t>(pass.steps), 0);
  facts.all_mean = ordinary_mean(pass.step_total, none) / n;
  facts.all_critical = ordinary_mean(pass.step_largest, none);
  facts.after_rebalance = slow_start(pass, facts.critical);
  facts.aged.fill(-1);
  if (!pass.aged[0].sum.empty()) facts.aged[0] = aged_median(pass, pass.aged[0], pass.half, n);
  for (std::size_t a = 1; a < pass.aged.size() && a < facts.aged.size(); ++a)
    facts.aged[a] = aged_critical(pass, pass.aged[a], n);
}

// The weights of earlier windows on this one's loads; without any, those of its first half on its second.
void Analyzer::State::weigh(Communicator& nodes, Pass& pass) {
  const Input& in = pass.input;
  const ExactSum scale = load_scale(pass);
  pass.aged.resize(1);
  if (pass.stale) return;
  for (int a = 1; a <= history.size(); ++a)
    pass.aged.push_back(weigh_steps(in.rank_load, pass.steps, history.load(a), history.mean(a), scale));
  if (history.size() > 0 || pass.steps < 4) return;
  pass.half = pass.steps / 2;
  std::vector<char> first_half(static_cast<std::size_t>(pass.steps), 0);
  std::fill_n(first_half.begin(), pass.half, 1);
  std::vector<double> past(pass.rank_mean.size());
  flagged_means(in.rank_load, first_half, 1, past);
  ExactSum sum = scale;
  sum.total(past);
  sum.reduce(nodes);
  if (sum[0] > 0) pass.aged[0] = weigh_steps(in.rank_load, pass.steps, past, sum[0] / in.n_ranks, scale);
}

// Largest values of each step over all ranks: loads, weighted loads, wall time, and each region's loads.
void Analyzer::State::exchange_maxima(Communicator& nodes, Pass& pass) {
  const Input& in = pass.input;
  const auto steps = static_cast<std::size_t>(pass.steps);
  std::vector<double> maxima(steps);
  step_maxima(in.rank_load, maxima);
  for (const WeightedSteps& w : pass.aged) maxima.insert(maxima.end(), w.largest.begin(), w.largest.end());
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
  for (WeightedSteps& w : pass.aged)
    if (!w.largest.empty()) take(w.largest);
  take(pass.wall_largest);
  pass.outlier = pass.stale ? std::vector<char>(steps, 0) : rank_spikes.observe(in.first_step, pass.step_largest);
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
  pass.row_outlier.assign(static_cast<std::size_t>(pass.rows), std::vector<char>(steps, 0));
  if (pass.stale) return;
  for (std::size_t row = 0; row < row_spikes.size(); ++row) {
    const bool rest = row + 1 == row_spikes.size();
    pass.row_outlier[row] = row_spikes[row].observe(
        pass.input.first_step, rest ? std::span<const double>(pass.step_largest) : region_maxima.subspan(row * steps, steps));
  }
}

// Sums over all ranks, exact in any order: of each step's load, weighted loads, and each row's mean.
void Analyzer::State::exchange_sums(Communicator& nodes, Pass& pass) {
  const Input& in = pass.input;
  const auto steps = static_cast<std::size_t>(pass.steps);
  const std::size_t n = in.ranks.size();
  ExactSum sum = load_scale(pass);
  sum.reserve(steps);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t s = 0; s < steps; ++s) sum.add_to(s, in.rank_load[i * steps + s]);
  for (const WeightedSteps& w : pass.aged) sum.add(w.local);
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
  for (WeightedSteps& w : pass.aged) take(w.sum, w.local.size());
  take(pass.row_total, static_cast<std::size_t>(pass.rows));
}

}  // namespace effort::window
