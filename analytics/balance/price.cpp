#include "analytics/balance/price.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace effort::balance {
namespace {

// Medians are taken over the last three prices and seven slow starts; slow starts count once three are known.
constexpr std::size_t prices_kept = 3, slow_starts_kept = 7, least_slow_starts = 3;

double middle(std::deque<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

void keep(std::deque<double>& values, double value, std::size_t most) {
  values.push_back(value);
  if (values.size() > most) values.pop_front();
}

}  // namespace

void Price::add(double seconds) {
  if (std::isfinite(seconds) && seconds >= 0) keep(prices_, seconds, prices_kept);
}

void Price::add_slow_start(double seconds) { keep(slow_starts_, seconds, slow_starts_kept); }

double Price::value() const {
  if (prices_.empty()) return initial_;
  const double price = middle(prices_);
  const double extra = slow_starts_.size() < least_slow_starts ? 0.0 : middle(slow_starts_);
  return price + std::clamp(extra, 0.0, price);
}

}  // namespace effort::balance
