#include "analytics/balance/shifts.hpp"

#include <cmath>
#include <cstddef>

namespace effort::balance {
namespace {

constexpr double loss_gain = 0.05;  // share of a new step: a memory of 20 steps
constexpr int least_losses = 5;     // needed before the search for shifts begins
// A loss stands out if it exceeds the mean by `shift_deviations` mean absolute deviations plus `least_loss`.
constexpr double shift_deviations = 5;
constexpr double least_loss = 0.05;
constexpr std::size_t regimes_kept = 8;  // earlier regimes

}  // namespace

bool ShiftFinder::exceeds(double loss) const {
  return steps_ >= least_losses && loss > mean_ + least_loss + shift_deviations * deviation_;
}

void ShiftFinder::learn(double loss) {
  ++steps_;
  const double share = steps_ * loss_gain < 1 ? 1.0 / steps_ : loss_gain;
  if (steps_ > 1) deviation_ += share * (std::fabs(loss - mean_) - deviation_);
  mean_ += share * (loss - mean_);
}

bool ShiftFinder::observe(double last, double before) {
  const bool shifted = suspected_ && before >= 0 && exceeds(before);
  suspected_ = false;
  if (last < 0) return shifted;
  suspected_ = !shifted && exceeds(last);
  if (!exceeds(last)) learn(last);
  return shifted;
}

void Regimes::shift(int ago) {
  lengths_.push_back(age_ - ago);
  if (lengths_.size() > regimes_kept) lengths_.pop_front();
  age_ = ago;
}

double Regimes::remaining(double prior) const {
  double sum = 0.5 * prior, weight = 0.5;
  for (int length : lengths_)
    if (length > age_) {
      sum += length - age_;
      ++weight;
    }
  return sum / weight;
}

}  // namespace effort::balance
