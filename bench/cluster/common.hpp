// Data, clock and medians of the clustering benchmarks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <random>
#include <string>
#include <vector>

namespace effort::bench {

/// CPU seconds of the calling thread, which other work on the machine disturbs less than wall time.
inline double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Normal clouds of deviation 1 around `groups` centres, which are normal with deviation `separation`.
inline std::vector<double> clouds(std::size_t n, std::size_t d, int groups, double separation, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> centres(static_cast<std::size_t>(groups) * d), values(n * d);
  for (double& centre : centres) centre = separation * normal(random);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t group = random() % static_cast<std::size_t>(groups);
    for (std::size_t j = 0; j < d; ++j) values[i * d + j] = centres[group * d + j] + normal(random);
  }
  return values;
}

template <typename Body>
double seconds_of(const Body& body) {
  const double start = cpu_seconds();
  body();
  return cpu_seconds() - start;
}

/// Prints the measured figure and its target.
void report(const std::string& what, double measured, const char* relation, double target,
            const std::string& more = "");

/// Compares the quality mode with full searches on all pairs, on many kinds of objects.
void bench_kinds();

/// Measures the stratification of windows on one node and over simulated nodes.
void bench_windows();

}  // namespace effort::bench
