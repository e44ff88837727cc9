#include "analytics/replay/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace effort::replay {
namespace {

constexpr double most_work = 4e9;  // multiplications that the dynamic programming may take

// Rebalances before the given steps, by the loads of the last `width` steps since the previous rebalance.
double cost_of(const Recording& recording, Rebalancer rebalancer, const std::vector<std::int64_t>& steps, int width,
               Price price) {
  Division division(recording, rebalancer);
  std::vector<std::vector<double>> seen;  // loads since the last rebalance, newest last
  double cost = 0;
  std::size_t next = 0;
  const auto ranks = static_cast<std::size_t>(recording.ranks());
  for (std::int64_t s = 0; s < recording.steps(); ++s) {
    if (next < steps.size() && steps[next] == s) {
      std::vector<double> mean(ranks, 0.0);
      for (const auto& load : seen)
        for (std::size_t r = 0; r < ranks; ++r) mean[r] += load[r] / static_cast<double>(seen.size());
      cost += price.of(division.rebalance(mean, recording.mean_before(s, static_cast<std::int64_t>(seen.size()))));
      seen.clear();
      ++next;
    }
    std::vector<double> load;
    division.loads(s, load);
    double largest = 0;
    for (std::size_t r = 0; r < ranks; ++r)
      if (recording.copies(static_cast<int>(r)) > 0) largest = std::max(largest, load[r]);
    cost += largest;
    seen.push_back(std::move(load));
    if (seen.size() > static_cast<std::size_t>(width)) seen.erase(seen.begin());
  }
  return cost;
}

// Largest load of each step from `first` on, if the work had been divided ideally by the loads of the previous `width`
// steps.
std::vector<double> largest_after(const Recording& recording, std::int64_t first, int width) {
  const auto n = static_cast<std::size_t>(recording.steps() - first);
  std::vector<double> past(static_cast<std::size_t>(recording.ranks()), 1.0);
  if (first > 0) past = recording.mean_before(first, width);
  double mean = 0;
  for (int r = 0; r < recording.ranks(); ++r)
    mean += recording.copies(r) * past[static_cast<std::size_t>(r)] / recording.n_ranks();
  std::vector<double> largest(n, 0.0), sum(n, 0.0);
  for (int r = 0; r < recording.ranks(); ++r) {
    if (recording.copies(r) <= 0) continue;
    const double weight = mean > 0 ? mean / std::max(past[static_cast<std::size_t>(r)], smallest_share * mean) : 1.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double value = recording.at(r, first + static_cast<std::int64_t>(i)) * weight;
      largest[i] = std::max(largest[i], value);
      sum[i] += recording.copies(r) * value;
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    if (sum[i] > 0) largest[i] *= recording.total(first + static_cast<std::int64_t>(i)) / sum[i];
  return largest;
}

Schedule best_ideal(const Recording& recording, double price) {
  const std::int64_t steps = recording.steps();
  const double work = 0.5 * static_cast<double>(averaging_widths.size()) * recording.ranks() *
                      static_cast<double>(steps) * static_cast<double>(steps);
  const auto stride = static_cast<std::int64_t>(std::max(1.0, std::ceil(work / most_work)));
  const auto n = static_cast<std::size_t>(steps) + 1;
  std::vector<double> best(n, std::numeric_limits<double>::infinity());
  std::vector<std::int64_t> previous(n, 0);
  best[0] = 0;  // best[t]: cost up to step t, where a new division begins and is paid for; t = steps: the end
  for (std::int64_t t = 0; t < steps; t += stride) {
    for (std::size_t w = 0; w < (t == 0 ? 1 : averaging_widths.size()); ++w) {
      if (w > 0 && averaging_widths[w - 1] >= t) break;
      const std::vector<double> loss = largest_after(recording, t, averaging_widths[w]);
      double cost = best[static_cast<std::size_t>(t)];
      for (std::int64_t s = t; s < steps; ++s) {
        cost += loss[static_cast<std::size_t>(s - t)];
        const double with = s + 1 < steps ? cost + price : cost;
        if (with < best[static_cast<std::size_t>(s + 1)]) {
          best[static_cast<std::size_t>(s + 1)] = with;
          previous[static_cast<std::size_t>(s + 1)] = t;
        }
      }
    }
  }
  Schedule schedule{{}, best.back(), stride == 1};
  for (std::int64_t t = previous.back(); t > 0; t = previous[static_cast<std::size_t>(t)]) schedule.steps.push_back(t);
  std::reverse(schedule.steps.begin(), schedule.steps.end());
  return schedule;
}

}  // namespace

Schedule fixed_schedule(const Recording& recording, Rebalancer rebalancer, int interval, Price price) {
  Schedule schedule;
  for (std::int64_t s = interval; s < recording.steps(); s += interval) schedule.steps.push_back(s);
  schedule.cost = std::min(cost_of(recording, rebalancer, schedule.steps, 1, price),
                           cost_of(recording, rebalancer, schedule.steps, averaging_widths.back(), price));
  return schedule;
}

double cost_of_never(const Recording& recording) { return cost_of(recording, {}, {}, 1, {}); }

Schedule best_schedule(const Recording& recording, Rebalancer rebalancer, Price price) {
  Schedule best = best_ideal(recording, price.seconds);
  if (rebalancer.kind == Rebalancer::Kind::ideal && price.moving == 0) return best;
  best.exact = false;
  best.cost = std::numeric_limits<double>::infinity();
  const auto consider = [&best](Schedule other) {
    if (other.cost >= best.cost) return;
    best.steps = std::move(other.steps);
    best.cost = other.cost;
  };
  const std::vector<std::int64_t> ideal = best.steps;
  for (int width : averaging_widths) consider({ideal, cost_of(recording, rebalancer, ideal, width, price)});
  for (int interval : fixed_intervals) consider(fixed_schedule(recording, rebalancer, interval, price));
  consider({{}, cost_of_never(recording)});
  return best;
}

}  // namespace effort::replay
