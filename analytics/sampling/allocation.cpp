#include "analytics/sampling/allocation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effort::sampling {

Allocation::Allocation(std::span<const std::int64_t> sizes, std::int64_t floor) {
  for (const std::int64_t size : sizes) {
    sizes_.push_back(static_cast<double>(size));
    least_.push_back(static_cast<double>(std::min(size, floor)));
  }
  total_ = std::accumulate(sizes_.begin(), sizes_.end(), 0.0);
}

void Allocation::add_metric(std::span<const double> variance, std::size_t stride, double limit) {
  const std::size_t k = sizes_.size();
  std::vector<double> terms(k, 0.0);
  double complete = limit, all = 0;
  for (std::size_t h = 0; h < k; ++h) {
    if (sizes_[h] == 0) continue;
    const double weight = sizes_[h] / total_;
    terms[h] = weight * weight * variance[h * stride];
    complete += terms[h] / sizes_[h];
    all += terms[h];
  }
  if (all == 0) return;  // nothing varies within the strata
  for (double& term : terms) term /= complete;
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  slack_.push_back(1e-9 * limit / complete);
}

bool Allocation::kept(std::span<const double> n) const {
  if (std::equal(n.begin(), n.end(), sizes_.begin())) return true;  // without error, whatever rounding says
  const std::size_t k = sizes_.size();
  for (std::size_t m = 0; m * k < terms_.size(); ++m) {
    double sum = 0;
    for (std::size_t h = 0; h < k; ++h)
      if (n[h] > 0) sum += terms_[m * k + h] / n[h];
    if (sum > 1 + slack_[m]) return false;
  }
  return true;
}

// Real n_h = sqrt(sum over metrics of multiplier x term).  The multiplier of a metric grows while its limit is exceeded
// and vanishes if the limit is not reached.
std::vector<double> Allocation::relaxed() const {
  const std::size_t k = sizes_.size(), metrics = terms_.size() / k;
  std::vector<double> multiplier(metrics), n(k);
  for (std::size_t m = 0; m < metrics; ++m) {
    double root = 0;
    for (std::size_t h = 0; h < k; ++h) root += std::sqrt(terms_[m * k + h]);
    multiplier[m] = root * root / static_cast<double>(metrics);
  }
  constexpr int steps = 40;
  for (int step = 0;; ++step) {
    std::fill(n.begin(), n.end(), 0.0);
    for (std::size_t m = 0; m < metrics; ++m)
      for (std::size_t h = 0; h < k; ++h) n[h] += multiplier[m] * terms_[m * k + h];
    for (double& value : n) value = std::sqrt(value);
    double worst = 0;
    for (std::size_t m = 0; m < metrics; ++m) {
      double sum = 0;
      for (std::size_t h = 0; h < k; ++h)
        if (n[h] > 0) sum += terms_[m * k + h] / n[h];
      multiplier[m] *= sum * sum;
      worst = std::max(worst, sum);
    }
    if (metrics <= 1 || step == steps) {
      for (double& value : n) value *= worst;  // the largest sum becomes 1
      return n;
    }
  }
}

std::vector<std::int64_t> Allocation::solve() const {
  const std::size_t k = sizes_.size();
  std::vector<double> n = least_;
  if (!terms_.empty()) {
    const std::vector<double> real = relaxed();
    const auto rounded = [&](double factor) {
      for (std::size_t h = 0; h < k; ++h)
        n[h] = std::min(sizes_[h], std::max(least_[h], std::ceil(real[h] * factor * (1 - 1e-12))));
    };
    // If a stratum has fewer members than its share, the other strata must compensate.
    double factor = 1;
    for (rounded(factor); !kept(n); rounded(factor)) factor *= 1.01;
    for (std::size_t h = 0; h < k; ++h) {  // rounding up may have left slack
      while (n[h] > least_[h] && n[h] > 1) {
        n[h] -= 1;
        if (kept(n)) continue;
        n[h] += 1;
        break;
      }
    }
  }
  std::vector<std::int64_t> whole;
  for (const double value : n) whole.push_back(static_cast<std::int64_t>(value));
  return whole;
}

}  // namespace effort::sampling
