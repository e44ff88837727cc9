#include "analytics/replay/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace effort::replay {
namespace {

constexpr double smallest_share = 0.05;  // of the mean over ranks: no rank's weight grows beyond 20

void check(std::span<const double> load, int ranks, std::int64_t steps, int window, int lag, std::size_t copies) {
  if (ranks < 1 || steps < 1)
    throw std::invalid_argument("a recording needs ranks and steps (" + std::to_string(ranks) + " x " +
                                std::to_string(steps) + "), give at least 1 of each");
  if (load.size() != static_cast<std::size_t>(ranks) * static_cast<std::size_t>(steps))
    throw std::invalid_argument("the recording holds " + std::to_string(load.size()) + " values (expected " +
                                std::to_string(ranks) + " x " + std::to_string(steps) + "), check the dimensions");
  if (window < 1 || lag < 0)
    throw std::invalid_argument("window " + std::to_string(window) + " or lag " + std::to_string(lag) +
                                " is out of range, use window >= 1 and lag >= 0");
  if (copies != 0 && copies != static_cast<std::size_t>(ranks))
    throw std::invalid_argument("copies are given for " + std::to_string(copies) + " of " + std::to_string(ranks) +
                                " ranks, give one per rank");
  for (std::size_t i = 0; i < load.size(); ++i)
    if (!std::isfinite(load[i]) || load[i] < 0)
      throw std::invalid_argument("the load of rank " + std::to_string(i / static_cast<std::size_t>(steps)) +
                                  " in step " + std::to_string(i % static_cast<std::size_t>(steps)) +
                                  " is not a finite number >= 0, repair the recording");
}

}  // namespace

LoadModel::LoadModel(std::span<const double> load, int ranks, std::int64_t steps, int window, int lag,
                     std::span<const std::int64_t> copies)
    : ranks_(ranks), steps_(steps), window_(window), lag_(lag), opportunities_(0) {
  check(load, ranks, steps, window, lag, copies.size());
  load_.assign(load.begin(), load.end());
  copies_.assign(static_cast<std::size_t>(ranks), 1.0);
  for (std::size_t r = 0; r < copies.size(); ++r) copies_[r] = static_cast<double>(copies[r]);
  if (*std::max_element(copies_.begin(), copies_.end()) <= 0 || *std::min_element(copies_.begin(), copies_.end()) < 0)
    throw std::invalid_argument("copies must be >= 0 and not all zero, count every rank");
  while (effective_step(opportunities_) < steps_) ++opportunities_;
  total_.assign(static_cast<std::size_t>(steps), 0.0);
  for (int r = 0; r < ranks; ++r)
    for (std::int64_t s = 0; s < steps; ++s) total_[s] += copies_[r] * recorded(r, s);
}

double LoadModel::mean_step(std::int64_t first) const {
  double sum = 0, n = 0;
  for (std::int64_t s = first; s < steps_; ++s) sum += total_[s];
  for (double c : copies_) n += c;
  return first < steps_ ? sum / (n * static_cast<double>(steps_ - first)) : 0.0;
}

std::vector<double> LoadModel::weights(int k) const {
  std::vector<double> w(static_cast<std::size_t>(ranks_), 1.0);
  if (k < 0) return w;
  const std::int64_t end = static_cast<std::int64_t>(k + 1) * window_;
  double mean = 0, n = 0;
  for (int r = 0; r < ranks_; ++r) {
    double sum = 0;
    for (std::int64_t s = end - window_; s < end; ++s) sum += recorded(r, s);
    w[r] = sum / window_;
    mean += copies_[r] * w[r];
    n += copies_[r];
  }
  mean /= n;
  if (mean <= 0) return std::vector<double>(static_cast<std::size_t>(ranks_), 1.0);
  for (double& value : w) value = mean / std::max(value, smallest_share * mean);
  return w;
}

double LoadModel::rescale(std::span<const double> weights, std::int64_t step) const {
  double sum = 0;
  for (int r = 0; r < ranks_; ++r) sum += copies_[r] * recorded(r, step) * weights[r];
  return sum > 0 ? total_[step] / sum : 1.0;
}

std::vector<double> LoadModel::largest(std::span<const double> weights, std::int64_t first, std::int64_t last) const {
  // Ranks outside, steps inside: the recording is read in the order in which it lies.
  const auto n = static_cast<std::size_t>(std::max<std::int64_t>(last - first, 0));
  std::vector<double> peak(n, 0.0), sum(n, 0.0);
  for (int r = 0; r < ranks_; ++r) {
    if (copies_[r] <= 0) continue;
    const double* row = &load_[static_cast<std::size_t>(r) * steps_ + first];
    const double w = weights[r], c = copies_[r];
    for (std::size_t i = 0; i < n; ++i) {
      const double value = row[i] * w;
      peak[i] = std::max(peak[i], value);
      sum[i] += c * value;
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    if (sum[i] > 0) peak[i] *= total_[first + static_cast<std::int64_t>(i)] / sum[i];
  return peak;
}

double schedule_cost(const LoadModel& model, std::span<const int> windows, double price) {
  double cost = 0;
  std::int64_t from = 0;
  int current = -1;
  for (std::size_t i = 0; i <= windows.size(); ++i) {
    const bool end = i == windows.size();
    if (!end && (windows[i] <= current || windows[i] >= model.opportunities()))
      throw std::invalid_argument("window " + std::to_string(windows[i]) + " can't follow window " +
                                  std::to_string(current) + " in a schedule of " +
                                  std::to_string(model.opportunities()) + " opportunities, list them ascending");
    const std::int64_t to = end ? model.steps() : model.effective_step(windows[i]);
    for (double step : model.largest(model.weights(current), from, to)) cost += step;
    if (end) break;
    cost += price;
    current = windows[i];
    from = to;
  }
  return cost;
}

Schedule best_schedule(const LoadModel& model, double price, int minimum_distance) {
  // State k: the last rebalance was on window k - 1's hint (0: none yet).  best[k] is the cheapest way to get there,
  // counted up to the step where it takes effect.
  const int n = model.opportunities();
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<double> best(static_cast<std::size_t>(n) + 1, infinite);
  std::vector<int> previous(static_cast<std::size_t>(n) + 1, 0);
  best[0] = 0;
  double cheapest = infinite;
  int last = 0;
  for (int j = 0; j <= n; ++j) {
    // All predecessors of j are final, so its weights' losses are needed only now, and only once.
    const std::int64_t from = j == 0 ? 0 : model.effective_step(j - 1);
    const std::vector<double> loss = model.largest(model.weights(j - 1), from, model.steps());
    double sum = 0;
    std::int64_t step = from;
    for (int k = j + 1; k <= n; ++k) {
      for (; step < model.effective_step(k - 1); ++step) sum += loss[step - from];
      if (j > 0 && k - j < minimum_distance) continue;
      if (best[j] + sum + price < best[k]) {
        best[k] = best[j] + sum + price;
        previous[k] = j;
      }
    }
    for (; step < model.steps(); ++step) sum += loss[step - from];
    if (best[j] + sum < cheapest) {
      cheapest = best[j] + sum;
      last = j;
    }
  }
  Schedule schedule;
  schedule.cost = cheapest;
  for (int k = last; k > 0; k = previous[k]) schedule.windows.push_back(k - 1);
  std::reverse(schedule.windows.begin(), schedule.windows.end());
  return schedule;
}

}  // namespace effort::replay
