#include "analytics/balance/cycle.hpp"

#include <algorithm>
#include <cmath>

namespace effort::balance {
namespace {

// Factor per step by which earlier differences fade: a memory of 40 steps.
constexpr double memory = 0.975;
// Share of the usual difference below which a lag is a period, and above which it no longer is one.
constexpr double found = 0.5, lost = 0.7;
// Periods that must have passed.
constexpr int least_periods = 3, least_steps = 12;

}  // namespace

void Cycle::Signal::observe(double value) {
  for (std::size_t lag = 1; lag <= past.size(); ++lag) {
    difference[lag] = memory * difference[lag] + std::fabs(value - past[lag - 1]);
    weight[lag] = memory * weight[lag] + 1;
  }
  past.push_front(value);
  if (past.size() > longest) past.pop_back();
}

// Mean difference at a lag, as a share of that at all shorter lags.
double Cycle::Signal::ratio(int lag) const {
  double sum = 0, count = 0;
  for (int other = 1; other < lag; ++other) {
    const auto i = static_cast<std::size_t>(other);
    if (!(weight[i] > 0)) return 1;
    sum += difference[i] / weight[i];
    ++count;
  }
  const auto i = static_cast<std::size_t>(lag);
  return sum > 0 && weight[i] > 0 ? difference[i] / weight[i] * count / sum : 1.0;
}

void Cycle::observe(double mean, double loss) {
  ++steps_;
  mean_.observe(std::log(mean));
  loss_.observe(loss >= 0 ? loss : loss_.past.empty() ? 0.0 : loss_.past.front());
  const auto ratio = [&](int lag) { return std::min(mean_.ratio(lag), loss_.ratio(lag)); };
  if (period_ > 0 && ratio(period_) < lost) return;
  period_ = 0;
  for (int lag = 2; lag <= longest && std::max(least_steps, least_periods * lag) <= steps_; ++lag)
    if (ratio(lag) < found) {
      period_ = lag;
      return;
    }
}

}  // namespace effort::balance
