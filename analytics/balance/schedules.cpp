#include "analytics/balance/schedules.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace effort::balance {
namespace {

// Numbers of steps that are compared, until the first rebalance and between rebalances; roughly geometric.
constexpr int delays[] = {1, 2, 3, 5, 8, 12, 18, 27, 40, 60};
constexpr int lengths[] = {1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 180, 256};

// The given numbers of steps, and 1 to the length of the cycle.  All are raised to the soonest possible step and
// rounded up to multiples of the spacing; only those below the horizon remain.
std::vector<int> candidates(const Prospects& prospects, std::span<const int> some) {
  std::vector<int> steps(some.begin(), some.end());
  const int period = static_cast<int>(prospects.fresh.size());
  for (int n = 1; period > 1 && n <= period; ++n) steps.push_back(n);
  for (int& n : steps)
    n = (std::max(n, prospects.soonest) + prospects.spacing - 1) / prospects.spacing * prospects.spacing;
  std::erase_if(steps, [&](int n) { return n >= prospects.horizon; });
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

struct Segment {
  double cost = std::numeric_limits<double>::infinity();
  int length = 0;
};

}  // namespace

Ageing::Ageing(std::vector<double> loss, double more) : loss_(std::move(loss)), sum_(loss_.size(), 0.0) {
  for (std::size_t a = 1; a < loss_.size(); ++a) {
    loss_[a] += more;
    sum_[a] = sum_[a - 1] + loss_[a];
  }
}

double Ageing::at(int age) const { return loss_[std::min(static_cast<std::size_t>(age), loss_.size() - 1)]; }

double Ageing::sum(int age) const {
  const int last = static_cast<int>(loss_.size()) - 1;
  return age <= last ? sum_[static_cast<std::size_t>(age)] : sum_.back() + (age - last) * loss_.back();
}

double Prospects::above(double before) const { return std::min(before, effect.after(before) + doubt); }

ScheduleCosts compare_schedules(const Prospects& prospects) {
  const int horizon = prospects.horizon;
  const auto excess = [&](int delay) {
    return std::max(0.0, prospects.present_at(delay) - prospects.made(delay).at(1));
  };
  const std::vector<int> possible = candidates(prospects, lengths);
  // A rebalancer that moves only part of the way leaves less each time.  Two rebalances in a row stand for all later
  // ones.
  const double lasting = prospects.effect.after(prospects.effect.after(excess(0)));
  // Cost from a rebalance in a step onwards, without the price of that rebalance.
  std::vector<double> least(static_cast<std::size_t>(horizon) + 1, 0.0);

  // The cheapest continuation from a rebalance in step t, which leaves an excess of `left(n)` in each of n steps.
  const auto from = [&](int t, auto&& left) {
    const Ageing& fresh = prospects.made(t);
    Segment best;
    const auto take = [&](int n, double then) {
      const double cost = fresh.sum(n) + n * left(n) + then;
      if (cost < best.cost) best = {cost, n};
    };
    for (int n : possible) {
      if (t + n >= horizon) break;
      take(n, prospects.price.at(fresh.at(n) + left(n)) +
                  least[static_cast<std::size_t>(t) + static_cast<std::size_t>(n)]);
    }
    take(horizon - t, 0.0);
    return best;
  };
  for (int t = horizon - 1; t > 0; --t) {
    const Ageing& fresh = prospects.made(t);
    least[static_cast<std::size_t>(t)] =
        from(t, [&](int n) { return prospects.above(std::max(0.0, fresh.at(n) - fresh.at(1)) + lasting); }).cost;
  }
  const auto first_after = [&](int delay) {
    const double above = prospects.above(excess(delay));
    Segment first = from(delay, [above](int) { return above; });
    first.cost += prospects.price.at(std::max(0.0, prospects.present_at(delay))) + prospects.present_sum(delay);
    return first;
  };
  const Segment now = first_after(0);
  ScheduleCosts costs;
  costs.now = now.cost;
  costs.length = now.length;
  costs.never = costs.later = prospects.present_sum(horizon);
  costs.delay = horizon;
  for (int delay : candidates(prospects, delays)) {
    const double cost = first_after(delay).cost;
    if (cost >= costs.later) continue;
    costs.later = cost;
    costs.delay = delay;
  }
  return costs;
}

}  // namespace effort::balance
