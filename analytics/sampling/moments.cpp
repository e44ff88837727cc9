#include "analytics/sampling/moments.hpp"

#include "analytics/sampling/sample_size.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace effort::sampling {
namespace {

/// Of a part.
struct Sums {
  double origin = 0, differences = 0, squares = 0;
  std::int64_t size = 0;

  void add(double value) {
    const double difference = value - origin;
    differences += difference;
    squares += difference * difference;
    ++size;
  }
  void add(const Sums& other) {
    differences += other.differences;
    squares += other.squares;
    size += other.size;
  }
};

/// False if squares overflow or vanish, here or where means are compared.
bool finish(std::span<const Sums> sums, Moments& out) {
  out = {std::vector<std::int64_t>(sums.size()), std::vector<double>(sums.size()), std::vector<double>(sums.size()), 1};
  double largest = 0;
  bool finite = true;
  for (std::size_t h = 0; h < sums.size(); ++h) {
    const Sums& s = sums[h];
    out.size[h] = s.size;
    if (s.size == 0) continue;
    const auto n = static_cast<double>(s.size);
    out.mean[h] = s.origin + s.differences / n;
    if (s.size > 1) out.variance[h] = std::max(0.0, s.squares - s.differences * s.differences / n) / (n - 1);
    finite = finite && std::isfinite(out.mean[h]) && std::isfinite(s.squares);
    largest = std::max({largest, std::abs(out.mean[h]), std::abs(s.origin)});
  }
  return finite && largest < 1e140 && (largest > 1e-140 || largest == 0);
}

/// A power of two that makes the largest value about 1.
double factor_for(std::span<const double> values) {
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      throw std::invalid_argument("value of rank " + std::to_string(i) +
                                  " is not finite: measure again or leave the rank out");
    largest = std::max(largest, std::abs(values[i]));
  }
  return largest > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000)) : 1;
}

}  // namespace

Moments moments_of(std::span<const double> values, std::span<const std::int32_t> part, std::size_t parts) {
  // Each sum waits for the one before it, so neighbouring ranks are added up separately.
  constexpr std::size_t lanes = 4;
  std::vector<Sums> sums(parts * lanes);
  const auto part_of = [&](std::size_t r) { return part.empty() ? 0 : part[r]; };
  const auto counts = [&](std::int32_t h) { return h >= 0 && static_cast<std::size_t>(h) < parts; };
  const auto add_all = [&](double factor) {
    std::fill(sums.begin(), sums.end(), Sums{});
    std::size_t found = 0;
    std::vector<bool> is_found(parts);
    for (std::size_t r = 0; r < values.size() && found < parts; ++r) {
      const std::int32_t h = part_of(r);
      if (!counts(h) || is_found[static_cast<std::size_t>(h)]) continue;
      is_found[static_cast<std::size_t>(h)] = true;
      ++found;
      for (std::size_t lane = 0; lane < lanes; ++lane)
        sums[static_cast<std::size_t>(h) * lanes + lane].origin = values[r] * factor;
    }
    for (std::size_t r = 0; r < values.size(); ++r) {
      const std::int32_t h = part_of(r);
      if (h == no_stratum) continue;
      if (!counts(h))
        throw std::invalid_argument("rank " + std::to_string(r) + " is in part " + std::to_string(h) +
                                    ": there are parts 0 to " + std::to_string(parts - 1));
      sums[static_cast<std::size_t>(h) * lanes + r % lanes].add(values[r] * factor);
    }
    for (std::size_t h = 0; h < parts; ++h) {
      sums[h] = sums[h * lanes];
      for (std::size_t lane = 1; lane < lanes; ++lane) sums[h].add(sums[h * lanes + lane]);
    }
    return std::span<const Sums>(sums).first(parts);
  };
  Moments out;
  if (finish(add_all(1), out)) return out;
  const double factor = factor_for(values);
  finish(add_all(factor), out);
  out.factor = factor;
  return out;
}

double Moments::total() const {
  double sum = 0;
  for (std::size_t h = 0; h < size.size(); ++h) sum += mean[h] * static_cast<double>(size[h]);
  return sum;
}

double Moments::mean_of_all() const {
  const std::int64_t n = std::accumulate(size.begin(), size.end(), std::int64_t{0});
  return total() / static_cast<double>(std::max<std::int64_t>(1, n));
}

}  // namespace effort::sampling
