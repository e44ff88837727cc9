#include "analytics/balance/spikes.hpp"

#include <algorithm>
#include <cmath>

namespace effort::balance {
namespace {

constexpr double spike_deviations = 6.0;     // of the window's steps, above the median
constexpr double mad_to_deviation = 1.4826;  // from median absolute to standard deviation, normal distribution
constexpr double least_excess = 0.25;        // above the median, as a share of it
constexpr std::size_t spikes_kept = 3;

double median_of(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

}  // namespace

void SpikeFinder::observe(std::int64_t first_step, std::span<const double> values) {
  if (values.empty()) return;
  std::vector<double> window(values.begin(), values.end());
  const double level = median_of(window);
  for (double& v : window) v = std::fabs(v - level);
  const double limit = level + std::max(spike_deviations * median_of(window) * mad_to_deviation, least_excess * level);
  const auto stands_out = [limit](double value) { return value > limit; };
  if (3 * std::count_if(values.begin(), values.end(), stands_out) > std::ssize(values)) return;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (stands_out(values[i])) spikes_.push_back(first_step + static_cast<std::int64_t>(i));
  if (spikes_.size() > spikes_kept) spikes_.erase(spikes_.begin(), spikes_.end() - spikes_kept);
}

bool SpikeFinder::recurs() const {
  const std::size_t n = spikes_.size();
  return n >= 3 && spikes_[n - 1] - spikes_[n - 2] == spikes_[n - 2] - spikes_[n - 3];
}

}  // namespace effort::balance
