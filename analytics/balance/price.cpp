#include "analytics/balance/price.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace effort::balance {
namespace {

constexpr std::size_t prices_kept = 9, slow_starts_kept = 7, least_slow_starts = 3;
// Prior of the share of the price that is in proportion to the loss, and its deviation (docs/adr/0054).
constexpr double prior_share = 0.5, prior_deviation = 0.5;
// Standard deviation of one price from the line, as a share of the price.
constexpr double price_noise = 0.3;

template <class T>
void keep(std::deque<T>& values, T value, std::size_t most) {
  values.push_back(value);
  if (values.size() > most) values.pop_front();
}

}  // namespace

void Price::add(double seconds, double loss) {
  if (!std::isfinite(seconds) || seconds < 0) return;
  keep(prices_, {seconds, loss}, prices_kept);
  fit();
}

void Price::add_slow_start(double seconds) {
  keep(slow_starts_, seconds, slow_starts_kept);
  if (!prices_.empty()) fit();
}

void Price::fit() {
  const auto n = static_cast<double>(prices_.size());
  std::vector<double> sorted;
  double mean_loss = 0;
  for (const Measured& m : prices_) {
    sorted.push_back(m.seconds);
    mean_loss += m.loss / n;
  }
  std::sort(sorted.begin(), sorted.end());
  const double usual = sorted[2 * (sorted.size() - 1) / 3];
  // Relative to the means, because the line passes through them.
  const auto relative_loss = [&](const Measured& m) { return mean_loss > 0 ? m.loss / mean_loss : 1.0; };
  const auto trusted = [&](const Measured& m) { return std::min(m.seconds, usual * std::max(1.0, relative_loss(m))); };
  double price = 0;
  for (const Measured& m : prices_) price += trusted(m) / n;
  double precision = 1 / (prior_deviation * prior_deviation), sum = prior_share * precision;
  for (const Measured& m : prices_) {
    const double loss = relative_loss(m) - 1;
    const double weight = 1 / (price_noise * price_noise * (1 + std::fabs(loss)));
    precision += weight * loss * loss;
    if (price > 0) sum += weight * loss * (trusted(m) / price - 1);
  }
  const double share = mean_loss > 0 ? std::clamp(sum / precision, 0.0, 1.0) : 0.0;
  if (slow_starts_.size() >= least_slow_starts) {
    sorted.assign(slow_starts_.begin(), slow_starts_.end());
    std::sort(sorted.begin(), sorted.end());
    price += std::clamp(sorted[(sorted.size() - 1) / 2], 0.0, price);
  }
  typical_ = price;
  line_ = {price * (1 - share), share > 0 ? price * share / mean_loss : 0.0};
}

}  // namespace effort::balance
