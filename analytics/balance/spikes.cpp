#include "analytics/balance/spikes.hpp"

#include <algorithm>
#include <cmath>

namespace effort::balance {
namespace {

constexpr double spike_deviations = 6.0;     // of the window's steps, above the median
constexpr double mad_to_deviation = 1.4826;  // from median absolute to standard deviation, normal distribution
constexpr double least_excess = 0.25;        // above the median, as a share of it
constexpr std::size_t spikes_kept = 8;

double median_of(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

}  // namespace

int Period::count(std::int64_t first, int n) const {
  int found = 0;
  for (int i = 0; i < n; ++i) found += holds(first + i) ? 1 : 0;
  return found;
}

void SpikeFinder::reset() {
  spikes_.clear();
  period_ = {};
}

std::vector<char> SpikeFinder::observe(std::int64_t first_step, std::span<const double> values) {
  std::vector<char> out(values.size(), 0);
  if (values.empty()) return out;
  std::vector<double> window(values.begin(), values.end());
  const double level = median_of(window);
  for (double& v : window) v = std::fabs(v - level);
  const double scatter = median_of(window) * mad_to_deviation;
  std::size_t n = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[i] = values[i] > level + std::max(spike_deviations * scatter, least_excess * level) ? 1 : 0;
    n += static_cast<std::size_t>(out[i]);
  }
  if (3 * n > values.size()) std::fill(out.begin(), out.end(), 0);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (out[i]) spikes_.push_back(first_step + static_cast<std::int64_t>(i));
  if (spikes_.size() > spikes_kept) spikes_.erase(spikes_.begin(), spikes_.end() - spikes_kept);
  find_period();
  return out;
}

void SpikeFinder::find_period() {
  period_ = {};
  const std::size_t n = spikes_.size();
  if (n < 3) return;
  const std::int64_t distance = spikes_[n - 1] - spikes_[n - 2];
  if (distance == spikes_[n - 2] - spikes_[n - 3]) period_ = {distance, spikes_[n - 1]};
}

}  // namespace effort::balance
