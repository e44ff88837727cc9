// Generated objects for the tests, and the spaces that tests run on.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#ifdef KOKKOS_ENABLE_OPENMP
#define EFFORT_TEST_SPACES Kokkos::Serial, Kokkos::OpenMP
#else
#define EFFORT_TEST_SPACES Kokkos::Serial
#endif

namespace effort::cluster::test {

/// The minimal standard generator (Park & Miller 1988): R and C++ give the same numbers.
class Uniform {
 public:
  explicit Uniform(int seed) : state_(seed) {}
  double operator()() {
    state_ = std::fmod(state_ * 16807, 2147483647);
    return state_ / 2147483647;
  }

 private:
  double state_;
};

/// Groups of objects: uniform centres times `separation`, and each value the sum of three uniforms around it.
inline std::vector<double> groups_of(std::size_t n, std::size_t d, int groups, double separation, int seed) {
  Uniform uniform(seed);
  std::vector<double> centres(static_cast<std::size_t>(groups) * d), values;
  for (double& centre : centres) centre = separation * uniform();
  for (std::size_t i = 0; i < n; ++i) {
    const auto group = static_cast<std::size_t>(std::floor(uniform() * groups));
    for (std::size_t j = 0; j < d; ++j) {
      const double a = uniform(), b = uniform(), c = uniform();
      values.push_back(centres[group * d + j] + (a + b + c - 1.5));
    }
  }
  return values;
}

/// rows[order[i]] as row i.
inline std::vector<double> reordered(std::span<const double> values, std::size_t d,
                                     const std::vector<std::int32_t>& order) {
  std::vector<double> result;
  for (const std::int32_t i : order)
    for (std::size_t j = 0; j < d; ++j) result.push_back(values[static_cast<std::size_t>(i) * d + j]);
  return result;
}

inline std::vector<std::int32_t> shuffled(std::size_t n, int seed) {
  Uniform uniform(seed);
  std::vector<std::int32_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::int32_t>(i);
  for (std::size_t i = n; i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(uniform() * static_cast<double>(i))]);
  return order;
}

}  // namespace effort::cluster::test
