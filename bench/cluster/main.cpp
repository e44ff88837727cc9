// Compares clustering with R's cluster package and with one read of the data, all in the same run and on one core.
// Times are CPU seconds of one thread; every comparison is a ratio.  bench_cluster [PART] runs only the parts of that
// name: clara, large (n = 1,048,576; needs 2 GiB of memory), quality, kinds, pam, windows.
#include "common.hpp"
#include "reference.hpp"

#include "analytics/cluster/clara.hpp"
#include "analytics/cluster_offline/pam.hpp"
#include "analytics/cluster_offline/quality.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstring>
#include <string>

namespace effort::bench {

void report(const std::string& what, double measured, const char* relation, double target, const std::string& more) {
  const bool reached = relation[0] == '<' ? measured < target : measured >= target;
  std::printf("%-78s %9.3f  %s %g%s  %s\n", what.c_str(), measured, relation, target, reached ? "" : "  MISSED",
              more.c_str());
  std::fflush(stdout);
}

namespace {

using cluster::Signatures;

constexpr int k = 5;
volatile double sink;

// One read of the data with one multiplication and one addition per value, in eight independent sums.
double pass_seconds(const std::vector<double>& values) {
  return seconds_of([&] {
    double sums[8] = {};
    for (std::size_t i = 0; i + 8 <= values.size(); i += 8)
      for (std::size_t l = 0; l < 8; ++l) sums[l] += values[i + l] * 1.0001;
    for (const double sum : sums) sink = sum;
  });
}

void bench_clara(std::size_t n, std::size_t d, double least_ratio, double most_passes, bool costs) {
  const auto values = clouds(n, d, 7, 0.3, 1);
  const std::string name = "CLARA n=" + std::to_string(n) + " d=" + std::to_string(d);
  std::vector<double> times, passes;
  cluster::ClaraParameters parameters;
  parameters.k = k;
  const auto measure = [&](int repeats) {
    for (int i = 0; i < repeats; ++i) {
      passes.push_back(pass_seconds(values));
      times.push_back(seconds_of([&] { cluster::clara(Kokkos::Serial{}, Signatures{values, n, d}, parameters); }));
    }
  };
  const int repeats = n > 500000 ? 3 : 15;
  measure(repeats);
  std::vector<double> r;
  if (least_ratio > 0) r = numbers(reference(values, n, d, k, "clara"), "clara");
  measure(repeats);
  char more[96];
  std::snprintf(more, sizeof more, "(%.2f ms, pass %.2f ms)", 1e3 * median(times), 1e3 * median(passes));
  if (most_passes > 0) report(name + ": passes over the data", median(times) / median(passes), "<", most_passes, more);
  if (least_ratio <= 0) return;
  if (r.empty())
    std::printf("%s: not compared, Rscript or its package cluster is missing\n", name.c_str());
  else
    report(name + ": times as fast as R", r[0] / median(times), ">=", least_ratio);
  if (!costs || r.empty()) return;
  std::vector<double> mine;
  for (parameters.seed = 1; parameters.seed <= 20; ++parameters.seed)
    mine.push_back(cluster::clara(Kokkos::Serial{}, Signatures{values, n, d}, parameters).cost);
  report(name + ": median cost / R's", median(mine) / median(numbers(reference(values, n, d, k, "costs"), "cost")), "<",
         1 + 1e-12);
}

void bench_quality(std::size_t d, double separation) {
  const std::size_t n = 16384;
  const auto values = clouds(n, d, 7, separation, 1);
  const std::string name =
      "quality n=16384 d=" + std::to_string(d) + " separation " + std::to_string(separation).substr(0, 3);
  std::vector<double> times, costs;
  double best = 1e300;
  cluster::QualityParameters parameters;
  parameters.k = k;
  for (parameters.seed = 1; parameters.seed <= 11; ++parameters.seed)
    times.push_back(seconds_of([&] {
      costs.push_back(cluster::quality(Kokkos::Serial{}, Signatures{values, n, d}, parameters).cost);
    }));
  parameters.starts = 40;
  for (parameters.seed = 1; parameters.seed <= 5; ++parameters.seed)
    best = std::min(best, cluster::quality(Kokkos::Serial{}, Signatures{values, n, d}, parameters).cost);
  for (const double cost : costs) best = std::min(best, cost);
  report(name + ": median cost / best known", median(costs) / best, "<", 1.01,
         "(worst of 11 seeds " + std::to_string(*std::max_element(costs.begin(), costs.end()) / best) + ")");
  if (const auto r = numbers(reference(values, n, d, k, "clara"), "clara"); !r.empty())
    report(name + ": time / R clara's", median(times) / r[0], "<", 1);
}

void bench_pam(double separation) {
  const std::size_t n = 4096, d = 120;
  const auto values = clouds(n, d, 7, separation, 2);
  const std::string name = "PAM n=4096 d=120 separation " + std::to_string(separation).substr(0, 3);
  cluster::PamParameters parameters;
  parameters.k = k;
  std::vector<double> times;
  std::vector<std::int32_t> medoids;
  const auto measure = [&] {
    for (int i = 0; i < 5; ++i)
      times.push_back(seconds_of([&] {
        medoids = cluster::pam(Kokkos::Serial{}, Signatures{values, n, d}, parameters).medoids;
      }));
  };
  measure();
  const Figures figures = reference(values, n, d, k, "pam");
  measure();
  if (numbers(figures, "original").empty()) {
    std::printf("%s: not compared, Rscript or its package cluster is missing (%.1f ms)\n", name.c_str(),
                1e3 * median(times));
    return;
  }
  const auto expected = numbers(figures, "medoids");
  report(name + ": times as fast as R's original", numbers(figures, "original")[0] / median(times), ">=", 30,
         "(" + std::to_string(1e3 * median(times)) + " ms)");
  report(name + ": times as fast as R's pamonce = 6", numbers(figures, "pamonce6")[0] / median(times), ">=", 8);
  report(
      name + ": medoids in common with R",
      static_cast<double>(std::count_if(
          medoids.begin(), medoids.end(),
          [&](std::int32_t medoid) { return std::find(expected.begin(), expected.end(), medoid) != expected.end(); })),
      ">=", k);
}

}  // namespace
}  // namespace effort::bench

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos;
  using namespace effort::bench;
  const auto wanted = [&](const char* part) { return argc < 2 || std::strcmp(argv[1], part) == 0; };
  if (wanted("clara")) {
    bench_clara(16384, 120, 10, 8, true);
    bench_clara(16384, 16, 4, 8, true);
    bench_clara(131072, 120, 7, 0, false);
  }
  if (wanted("large")) {
    bench_clara(1048576, 16, 5, 0, false);
    bench_clara(1048576, 120, 0, 4, false);
  }
  if (wanted("quality"))
    for (const std::size_t d : {16, 120})
      for (const double separation : {0.3, 1.0}) bench_quality(d, separation);
  if (wanted("kinds")) bench_kinds();
  if (wanted("pam"))
    for (const double separation : {0.3, 1.0}) bench_pam(separation);
  if (wanted("windows")) bench_windows();
}
