#include "analytics/balance/peaks.hpp"

#include <cmath>

namespace effort::balance {
namespace {

constexpr double usual_gain = 0.1;
constexpr double change_memory = 0.95;  // factor per step by which earlier squared changes fade: a memory of 20 steps
constexpr double least_rise = 0.5;      // rise of a peak, as a share of the largest load before it
constexpr double rise_deviations = 6;   // rise of a peak beyond that, in root mean square changes of the loss

}  // namespace

StepKind PeakFinder::observe(double largest, double mean) {
  const bool first = steps_++ == 0;
  if (first || !(usual_ > 0)) usual_ = mean;
  const double loss = usual_ > 0 ? largest / usual_ - 1 : 0.0;
  const double change = loss - last_;
  const bool high =
      steps_ > 2 && weight_ > 0 && change > least_rise * (1 + last_) + rise_deviations * std::sqrt(square_ / weight_);
  if (high && !peak_) {
    peak_ = true;
    return StepKind::peak;
  }
  peak_ = false;
  usual_ = high ? mean : usual_ + usual_gain * (mean - usual_);
  last_ = usual_ > 0 ? largest / usual_ - 1 : 0.0;
  if (high) return StepKind::new_level;
  if (!first) {
    square_ = change_memory * square_ + change * change;
    weight_ = change_memory * weight_ + 1;
  }
  return StepKind::ordinary;
}

}  // namespace effort::balance
