// The quality mode against the best of several searches on all pairs, on objects of many kinds.
#include "common.hpp"

#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster/quality.hpp"
#include "analytics/sampling/draw.hpp"
#include "tests/unit/analytics/cluster/kinds.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <limits>

namespace effort::bench {
namespace {

using cluster::test::Kind;

struct Shape {
  std::size_t n, d;
  int runs;  // of the search on all pairs
};

// FasterPAM from BUILD and from random medoids: the least mean cost.
double best_of_runs(const cluster::Signatures& objects, int k, int runs) {
  const cluster::KokkosWorkers<Kokkos::Serial> workers(Kokkos::Serial{});
  const auto all = cluster::all_distances(workers, objects);
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < runs; ++run) {
    auto medoids = run == 0 ? cluster::build_medoids(workers, all, k)
                            : sampling::draw_without_replacement(static_cast<std::int64_t>(objects.n), k, 77,
                                                                 static_cast<std::uint64_t>(run));
    cluster::swap_medoids(workers, all, medoids, cluster::SwapRule::eager, std::numeric_limits<int>::max());
    double cost = 0;
    for (std::size_t j = 0; j < objects.n; ++j) {
      double nearest = std::numeric_limits<double>::max();
      for (const std::int32_t medoid : medoids) nearest = std::min(nearest, all.row(j)[medoid]);
      cost += nearest;
    }
    best = std::min(best, cost / static_cast<double>(objects.n));
  }
  return best;
}

}  // namespace

void bench_kinds() {
  const int strata[] = {2, 5, 8, 10, 20};
  std::vector<double> ratios;
  std::string worst;
  std::size_t next = 0;
  for (const Shape& shape : {Shape{500, 16, 8}, Shape{1500, 2, 8}, Shape{2500, 24, 6}, Shape{4000, 1, 6}, Shape{7000, 24, 4},
                             Shape{7000, 120, 3}})
    for (const Kind& kind : cluster::test::all_kinds()) {
      const auto values = cluster::test::Maker(kind, shape.d, static_cast<unsigned>(500 + next)).objects(shape.n);
      cluster::QualityParameters parameters;
      parameters.k = strata[next++ % 5];
      const double cost = cluster::quality(Kokkos::Serial{}, {values, shape.n, shape.d}, parameters).cost;
      const double best = std::min(cost, best_of_runs({values, shape.n, shape.d}, parameters.k, shape.runs));
      ratios.push_back(best == 0 ? 1 : cost / best);
      if (ratios.back() < *std::max_element(ratios.begin(), ratios.end())) continue;
      worst = "(worst: " + kind.name() + ", " + std::to_string(shape.n) + " x " + std::to_string(shape.d) + ", k = " +
              std::to_string(parameters.k) + ")";
    }
  std::sort(ratios.begin(), ratios.end());
  const auto share = [&](double limit) {
    return static_cast<double>(std::upper_bound(ratios.begin(), ratios.end(), limit) - ratios.begin()) /
           static_cast<double>(ratios.size());
  };
  report("quality, " + std::to_string(ratios.size()) + " sets of 17 kinds: median cost / best known", median(ratios), "<", 1.01);
  report("quality, the same: share within 0.1 %", share(1.001), ">=", 0);
  report("quality, the same: share within 1 %", share(1.01), ">=", 1, worst);
  report("quality, the same: worst", ratios.back(), "<", 1.01);
}

}  // namespace effort::bench
