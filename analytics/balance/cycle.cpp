#include "analytics/balance/cycle.hpp"

#include <algorithm>
#include <cmath>

namespace effort::balance {
namespace {

// Factor per step by which earlier steps fade: a memory of 40 steps.
constexpr double memory = 0.975;
// Sums are scaled down before the weight of a step exceeds this.
constexpr double largest_weight = 1e100;
// A period is found if it explains this share of the variance and its F statistic is at least this large, which noise
// alone seldom reaches (docs/adr/0047).  It is lost below the smaller share.
constexpr double found_share = 0.5, found_f = 15, lost_share = 0.1;
// A longer period must explain this much more than a shorter one.
constexpr double clearly_more = 0.02;
// The search for a period begins once this many periods and this many steps have passed.
constexpr int least_periods = 3, least_history = 10;
// Share of the variance that counts as rounding.
constexpr double rounding = 1e-12;

}  // namespace

Cycle::Cycle() {
  for (Signal& signal : signals_)
    for (std::size_t lag = 2; lag < signal.folded.size(); ++lag) {
      signal.folded[lag].phases.resize(lag);
      signal.folded[lag].empty = lag;
    }
}

void Cycle::Signal::observe(int step, double value, double w) {
  weight += w;
  squared_weights += w * w;
  sum += w * value;
  squares += w * value * value;
  for (std::size_t lag = 2; lag < folded.size(); ++lag) {
    Folded& all = folded[lag];
    Sums& phase = all.phases[static_cast<std::size_t>(step) % lag];
    if (!(phase.weight > 0)) --all.empty;
    all.weighted_square -= phase.weighted_square();
    phase.weight += w;
    phase.value += w * value;
    all.weighted_square += phase.weighted_square();
  }
}

void Cycle::Signal::scale(double factor) {
  weight *= factor;
  squared_weights *= factor * factor;
  sum *= factor;
  squares *= factor;
  for (Folded& all : folded) {
    all.empty = 0;
    all.weighted_square *= factor;
    for (Sums& phase : all.phases) {
      phase = {phase.weight * factor, phase.value * factor};
      if (!(phase.weight > 0)) ++all.empty;
    }
  }
}

Cycle::Fit Cycle::Signal::fit(int period) const {
  const double n = squared_weights > 0 ? weight * weight / squared_weights : 0.0;  // steps of equal weight
  const Folded& all = folded[static_cast<std::size_t>(period)];
  if (n < period + 1 || all.empty > 0) return {};
  const double between = all.weighted_square - sum * sum / weight, total = squares - sum * sum / weight;
  if (!(total > rounding * squares)) return {};
  const double within = std::max(total - between, rounding * total) / (n - period);
  return {1 - within / (total / (n - 1)), between / (period - 1) / within};
}

Cycle::Fit Cycle::fit(int period) const {
  const Fit a = signals_[0].fit(period), b = signals_[1].fit(period);
  return a.share > b.share ? a : b;
}

void Cycle::observe(double mean, double loss) {
  if (last_mean_ > 0) signals_[0].observe(steps_, std::log(mean / last_mean_), weight_);
  if (loss >= 0) signals_[1].observe(steps_, loss, weight_);
  last_mean_ = mean;
  ++steps_;
  weight_ /= memory;
  if (weight_ > largest_weight) {
    for (Signal& signal : signals_) signal.scale(1 / weight_);
    weight_ = 1;
  }
  if (period_ > 0 && fit(period_).share > lost_share) return;
  period_ = 0;
  double best = found_share;
  for (int lag = 2; lag <= longest && std::max(least_history, least_periods * lag) <= steps_; ++lag) {
    const Fit f = fit(lag);
    if (f.share <= best || f.f < found_f) continue;
    best = f.share + clearly_more;
    period_ = lag;
  }
}

}  // namespace effort::balance
