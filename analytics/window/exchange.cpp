#include "analytics/window/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

namespace effort::window {

namespace {

constexpr int most_exponent = 900;

double usable(double bound) {
  return std::isfinite(bound) && bound > 0 ? std::min(bound, std::ldexp(1.0, most_exponent - 1)) : 1.0;
}

}  // namespace

ExactSum::ExactSum(double bound) : unit_(1), inverse_(1), bound_(usable(bound)) {
  int exponent = 0;
  std::frexp(bound_, &exponent);  // bound < 2^exponent
  exponent = std::max(exponent, -most_exponent);
  unit_ = std::ldexp(1.0, exponent - 60);
  inverse_ = std::ldexp(1.0, 60 - exponent);
}

std::size_t ExactSum::reserve(std::size_t n) {
  values_.resize(values_.size() + n, 0);
  return values_.size() - n;
}

std::size_t ExactSum::add(std::span<const std::int64_t> values) {
  values_.insert(values_.end(), values.begin(), values.end());
  return values_.size() - values.size();
}

std::size_t ExactSum::total(std::span<const double> values) {
  std::int64_t sum = 0;
  for (double v : values) sum += rounded(v);
  values_.push_back(sum);
  return values_.size() - 1;
}

void ExactSum::reduce(Communicator& nodes) { nodes.allreduce(std::span<std::int64_t>(values_), ReduceOp::sum); }

bool same_shape(Communicator& nodes, bool good, std::span<const double> shape, std::span<double> largest) {
  // Every number of the shape and its negative: one reduction to maxima gives the largest and the smallest.
  constexpr double none = -std::numeric_limits<double>::infinity();
  std::vector<double> all{good ? 0.0 : 1.0};
  for (const double x : shape) {
    all.push_back(good ? x : none);
    all.push_back(good ? -x : none);
  }
  for (const double x : largest) all.push_back(good ? x : none);
  nodes.allreduce(std::span<double>(all), ReduceOp::max);
  bool same = all[0] == 0;
  for (std::size_t i = 0; i < shape.size(); ++i) same = same && all[1 + 2 * i] == -all[2 + 2 * i];
  std::copy(all.end() - std::ssize(largest), all.end(), largest.begin());
  return same;
}

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace effort::window
