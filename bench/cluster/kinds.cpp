// Compares the quality mode with the best of several searches on all pairs, on objects of many kinds.
#include "common.hpp"

#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster_offline/quality.hpp"
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

}  // namespace

void bench_kinds() {
  const int strata[] = {2, 5, 8, 10, 20};
  std::vector<double> ratios;
  std::string worst;
  std::size_t next = 0;
  for (const Shape& shape : {Shape{500, 16, 8}, Shape{1500, 2, 8}, Shape{2500, 24, 6}, Shape{4000, 1, 6},
                             Shape{7000, 24, 4}, Shape{7000, 120, 3}})
    for (const Kind& kind : cluster::test::all_kinds()) {
      const auto values = cluster::test::Maker(kind, shape.d, static_cast<unsigned>(500 + next)).objects(shape.n);
      cluster::QualityParameters parameters;
      parameters.k = strata[next++ % 5];
      const double cost = cluster::quality(Kokkos::Serial{}, {values, shape.n, shape.d}, parameters).cost;
      const double best =
          std::min(cost, cluster::test::best_of_runs({values, shape.n, shape.d}, parameters.k, shape.runs));
      ratios.push_back(best == 0 ? 1 : cost / best);
      if (ratios.back() < *std::max_element(ratios.begin(), ratios.end())) continue;
      worst = "(worst: " + kind.name() + ", " + std::to_string(shape.n) + " x " + std::to_string(shape.d) +
              ", k = " + std::to_string(parameters.k) + ")";
    }
  std::sort(ratios.begin(), ratios.end());
  const auto share = [&](double limit) {
    return static_cast<double>(std::upper_bound(ratios.begin(), ratios.end(), limit) - ratios.begin()) /
           static_cast<double>(ratios.size());
  };
  report("quality, " + std::to_string(ratios.size()) + " sets of 17 kinds: median cost / best known", median(ratios),
         "<", 1.01);
  report("quality, the same: share within 0.1 %", share(1.001), ">=", 0);
  report("quality, the same: share within 1 %", share(1.01), ">=", 1, worst);
  report("quality, the same: worst", ratios.back(), "<", 1.01);
}

}  // namespace effort::bench
