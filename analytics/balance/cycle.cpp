#include "analytics/balance/cycle.hpp"

#include <algorithm>
#include <cmath>

namespace effort::balance {
namespace {

// Factor per step by which earlier differences fade: a memory of 40 steps.
constexpr double difference_memory = 0.975;
// A lag becomes a period when its ratio falls below `found`, and stops being one above `lost` (see ratios()).
constexpr double found = 0.5, lost = 0.7;
// A period is looked for once this many periods and this many steps have passed.
constexpr int least_periods = 3, least_history = 12;

}  // namespace

void Cycle::Signal::observe(double value) {
  for (std::size_t lag = 1; lag <= past.size(); ++lag) {
    difference[lag] = difference_memory * difference[lag] + std::fabs(value - past[lag - 1]);
    weight[lag] = difference_memory * weight[lag] + 1;
  }
  past.push_front(value);
  if (past.size() > longest) past.pop_back();
}

// Change of the signal over each lag, as a share of its mean change over shorter lags; 1 if not known.
std::array<double, Cycle::longest + 1> Cycle::Signal::ratios() const {
  std::array<double, longest + 1> out;
  out.fill(1);
  double sum = 0;
  for (std::size_t lag = 1; lag < out.size() && weight[lag] > 0; ++lag) {
    const double change = difference[lag] / weight[lag];
    if (sum > 0) out[lag] = change * static_cast<double>(lag - 1) / sum;
    sum += change;
  }
  return out;
}

void Cycle::observe(double mean, double loss) {
  ++steps_;
  mean_.observe(std::log(mean));
  const auto before = static_cast<std::size_t>(std::max(1, period_));
  loss_.observe(loss >= 0 ? loss : before <= loss_.past.size() ? loss_.past[before - 1] : 0.0);
  const auto by_mean = mean_.ratios(), by_loss = loss_.ratios();
  const auto ratio = [&](int lag) {
    return std::min(by_mean[static_cast<std::size_t>(lag)], by_loss[static_cast<std::size_t>(lag)]);
  };
  if (period_ > 0 && ratio(period_) < lost) return;
  period_ = 0;
  for (int lag = 2; lag <= longest && std::max(least_history, least_periods * lag) <= steps_; ++lag)
    if (ratio(lag) < found) {
      period_ = lag;
      return;
    }
}

}  // namespace effort::balance
