// Reductions of traces: ten methods by four criteria on the programs of Mohror & Karavanic 2009, and the time that a
// decision takes.
//   bench_reduction [time | thresholds]
// Without an argument: a line per method and program, and sums per method.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "analytics/reduction/reduction.hpp"
#include "analytics/reduction/representatives.hpp"
#include "tests/unit/analytics/reduction/programs.hpp"

using namespace effort::reduction;

namespace {

struct Sums {
  double size = 0, degree = 0, distance90_ns = 0;
  int retained = 0;
};

void table(const std::vector<Method>& methods) {
  std::vector<Sums> sums(methods.size());
  const std::vector<std::string> names = test::program_names();
  for (const std::string& name : names) {
    const effort::communication::Record record = test::program(name);
    const Segments segments = test::iterations(record);
    Reducer reducer(record, segments);
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const Reduced r = reducer.reduce(methods[m]);
      const double share = static_cast<double>(r.size_bytes) / static_cast<double>(r.full_bytes);
      std::printf("%-26s %-16s %7llu segments, %6llu stored, degree %.3f, size %6.2f %%, distance %9.3f us, %s (%zu)\n",
                  name.c_str(), method_text(r.method).c_str(), static_cast<unsigned long long>(r.segments),
                  static_cast<unsigned long long>(r.stored), r.degree, 100 * share,
                  1e-3 * static_cast<double>(r.distance90_ns), r.violations.empty() ? "retained" : "LOST",
                  r.violations.size());
      sums[m].size += share;
      sums[m].degree += r.degree;
      sums[m].distance90_ns += static_cast<double>(r.distance90_ns);
      sums[m].retained += r.violations.empty() ? 1 : 0;
    }
  }
  const auto n = static_cast<double>(names.size());
  for (std::size_t m = 0; m < methods.size(); ++m)
    std::printf("%-16s retains %2d of %zu, mean size %6.2f %%, degree %.3f, distance %9.3f us\n",
                method_text(methods[m]).c_str(), sums[m].retained, names.size(), 100 * sums[m].size / n,
                sums[m].degree / n, 1e-3 * sums[m].distance90_ns / n);
}

/// A million segments of 100 stamps, with 1 % of noise and every hundredth up to twice as long.
void time() {
  constexpr int n = 1'000'000, stamps = 100;
  for (std::size_t s = 0; s < n_similarities; ++s) {
    const auto similarity = static_cast<Similarity>(s);
    Representatives kept({similarity, default_threshold(similarity)}, 5000);
    std::mt19937_64 random(1);
    std::vector<double> x(stamps);
    double seconds = 0;
    for (int i = 0; i < n; ++i) {
      double at = 0;
      const double factor = i % 100 == 0 ? 1 + static_cast<double>(random() % 1000) / 1000 : 1;
      for (double& v : x) v = at += factor * (10'000 + static_cast<double>(random() % 100));
      const auto begin = std::chrono::steady_clock::now();
      kept.add(1, x);
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    std::printf("%-10s %.2f s for a million segments, %zu stored\n", std::string(similarity_text(similarity)).c_str(),
                seconds, kept.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "time") == 0) {
    time();
    return 0;
  }
  std::vector<Method> methods;
  for (std::size_t s = 0; s < n_similarities; ++s) {
    const auto similarity = static_cast<Similarity>(s);
    if (argc > 1)
      for (const double t : studied_thresholds(similarity)) methods.push_back({similarity, t});
    else
      methods.push_back({similarity, default_threshold(similarity)});
  }
  table(methods);
}
