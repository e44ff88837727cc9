#include "analytics/balance/work_log.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effort::balance {
namespace {

constexpr int bits = 60;        // of the scaled sums: two bits of headroom in an int64_t
constexpr double most = 1e240;  // of sums of squares: roots stay below 2^400

// The exponent of the smallest power of two above the root of a sum of squares.
int exponent_of(double squares) {
  if (!(squares > 0)) return 0;
  int exponent = 0;
  std::frexp(std::sqrt(squares), &exponent);
  return std::clamp(exponent, -400, 400);
}

std::size_t sums_of(int units) { return static_cast<std::size_t>(units) * (static_cast<std::size_t>(units) + 1) + 2; }

}  // namespace

WorkScale::WorkScale(int units, std::span<const double> largest, int ranks) : units_(units) {
  int all = 0;
  std::frexp(static_cast<double>(ranks), &all);
  const auto n = static_cast<std::size_t>(units);
  const int load = exponent_of(largest[n]);
  const auto add = [this, all](int exponent) { unit_.push_back(std::ldexp(1.0, exponent + all - bits)); };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) add(exponent_of(largest[i]) + exponent_of(largest[j]));
  for (std::size_t i = 0; i < n; ++i) add(exponent_of(largest[i]) + load);
  add(2 * load);
  unit_.push_back(1.0);  // observations
}

bool WorkScale::fits(std::span<const double> largest) {
  return std::all_of(largest.begin(), largest.end(), [](double v) { return v < most; });
}

std::int64_t WorkScale::rounded(std::size_t sum, double value) const {
  const double v = value / unit_[sum];
  return static_cast<std::int64_t>(v < 0 ? v - 0.5 : v + 0.5);
}

NormalEquations WorkScale::whole(std::span<const std::int64_t> sums) const {
  NormalEquations e(units_);
  std::size_t next = 0;
  for (double& v : e.xx) v = value(sums, next++);
  for (double& v : e.xy) v = value(sums, next++);
  e.yy = value(sums, width() - 2);
  e.m = value(sums, width() - 1);
  return e;
}

WorkLog::WorkLog(int units, int ranks)
    : units_(units), ranks_(ranks), values_(width() * static_cast<std::size_t>(ranks), 0.0) {}

std::size_t WorkLog::width() const { return sums_of(units_); }

void WorkLog::observe(std::span<double> row, std::span<const double> x, double y, double weight) const {
  const auto n = static_cast<std::size_t>(units_);
  double* xx = row.data();
  double* xy = xx + n * n;
  for (std::size_t i = 0; i < n; ++i) {
    xy[i] += weight * x[i] * y;
    for (std::size_t j = 0; j < n; ++j) xx[i * n + j] += weight * x[i] * x[j];
  }
  row[row.size() - 2] += weight * y * y;
  row[row.size() - 1] += 1;
}

void WorkLog::add(std::span<const double> work, std::span<const double> load, int steps, double floor) {
  const auto n = static_cast<std::size_t>(units_);
  const std::size_t plane = static_cast<std::size_t>(ranks_) * steps;
  std::vector<double> x(n);
  for (int r = 0; r < ranks_; ++r) {
    const std::size_t first = static_cast<std::size_t>(r) * steps;
    const auto loads = load.subspan(first, static_cast<std::size_t>(steps));
    const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) / steps;
    if (!(mean > 0)) continue;
    const double weight = 1 / (std::max(mean, floor) * std::max(mean, floor));
    const std::span<double> sums = row(r);
    for (std::size_t at = first; at < first + steps; ++at) {
      bool any = false;
      for (std::size_t u = 0; u < n; ++u) {
        x[u] = work[u * plane + at];
        any = any || x[u] > 0;
      }
      if (any) observe(sums, x, load[at], weight);
    }
  }
}

void WorkLog::add(const WorkLog& other) {
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += other.values_[i];
}

NormalEquations WorkLog::rank(int r) const {
  NormalEquations e(units_);
  const std::span<const double> sums = row(r);
  std::copy_n(sums.begin(), e.xx.size(), e.xx.begin());
  std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(e.xx.size()), e.xy.size(), e.xy.begin());
  e.yy = sums[sums.size() - 2];
  e.m = sums[sums.size() - 1];
  return e;
}

std::vector<double> WorkLog::largest() const {
  const auto n = static_cast<std::size_t>(units_);
  std::vector<double> squares(n + 1, 0.0);
  for (int r = 0; r < ranks_; ++r) {
    const std::span<const double> sums = row(r);
    for (std::size_t u = 0; u < n; ++u) squares[u] = std::max(squares[u], sums[u * n + u]);
    squares[n] = std::max(squares[n], sums[sums.size() - 2]);
  }
  return squares;
}

std::vector<std::int64_t> WorkLog::sums(const WorkScale& scale, std::span<const char> left_out) const {
  std::vector<std::int64_t> out(scale.width(), 0);
  for (int r = 0; r < ranks_; ++r) {
    if (!left_out.empty() && left_out[static_cast<std::size_t>(r)]) continue;
    const std::span<const double> sums = row(r);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += scale.rounded(i, sums[i]);
  }
  return out;
}

}  // namespace effort::balance
