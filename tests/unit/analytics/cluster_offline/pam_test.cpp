// PAM against R, against brute force, and under changes that must not affect it.
#include "analytics/cluster_offline/pam.hpp"

#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster_offline/screened.hpp"
#include "kinds.hpp"
#include "measures.hpp"
#include "sets.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

using namespace effort::cluster;
using namespace effort::cluster::test;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

template <typename Space = Kokkos::Serial>
Clustering pam_of(std::span<const double> values, std::size_t d, int k, SwapRule rule = SwapRule::steepest) {
  PamParameters parameters;
  parameters.k = k;
  parameters.swap = rule;
  return pam(Space{}, {values, values.size() / d, d}, parameters);
}

struct Reference {
  std::size_t n, d;
  int groups;
  double separation;
  int seed, k;
  std::vector<std::int32_t> medoids;
  double cost, silhouette;
};

// R 4.2.2, package cluster 2.1.4: pam(x, k, variant = "original"), on groups_of(n, d, groups, separation, seed).
const std::vector<Reference> references = {
    {200, 5, 4, 3, 11, 4, {12, 46, 63, 181}, 1.0855053612179033, 0.29306540972542833},
    {300, 2, 6, 4, 12, 6, {12, 47, 52, 57, 242, 267}, 0.53965679078897844, 0.36284742392226654},
    {257, 17, 3, 1, 13, 5, {33, 111, 122, 134, 147}, 2.1616640388284192, 0.056839561335993376},
    {400, 40, 5, 0.7, 15, 7, {51, 69, 230, 244, 251, 280, 328}, 3.6610613005699344, 0.012561427398563413},
    {150, 3, 1, 0, 16, 2, {79, 91}, 0.71842057107763291, 0.2097508520243721},
    {333, 8, 4, 2, 17, 1, {52}, 2.2200547921467324, 0},
    {1500, 10, 5, 2, 18, 5, {551, 931, 982, 990, 1451}, 1.6713128553898389, 0.23073069627103518},
    {1100, 3, 6, 5, 19, 8, {198, 248, 296, 563, 576, 756, 760, 1005}, 0.75529697867024148, 0.42327492766879332},
};

double cost_of(const Signatures& objects, const std::vector<std::int32_t>& medoids) {
  double total = 0;
  for (std::size_t i = 0; i < objects.n; ++i) {
    double least = std::numeric_limits<double>::max();
    for (const std::int32_t medoid : medoids) {
      double sum = 0;
      for (std::size_t j = 0; j < objects.d; ++j) {
        const double difference = objects.row(i)[j] - objects.row(static_cast<std::size_t>(medoid))[j];
        sum += difference * difference;
      }
      least = std::min(least, std::sqrt(sum));
    }
    total += least;
  }
  return total / static_cast<double>(objects.n);
}

// Calls visit for every set of k of n objects.
template <typename Visit>
void for_subsets(int n, int k, const Visit& visit) {
  std::vector<std::int32_t> chosen(static_cast<std::size_t>(k));
  std::iota(chosen.begin(), chosen.end(), 0);
  for (;;) {
    visit(chosen);
    int i = k - 1;
    while (i >= 0 && chosen[static_cast<std::size_t>(i)] == n - k + i) --i;
    if (i < 0) return;
    ++chosen[static_cast<std::size_t>(i)];
    for (int j = i + 1; j < k; ++j) chosen[static_cast<std::size_t>(j)] = chosen[static_cast<std::size_t>(j - 1)] + 1;
  }
}

}  // namespace

TEMPLATE_TEST_CASE("the medoids are those of R", "", EFFORT_TEST_SPACES) {
  for (const Reference& r : references) {
    const auto values = groups_of(r.n, r.d, r.groups, r.separation, r.seed);
    const auto found = pam_of<TestType>(values, r.d, r.k);
    CAPTURE(r.n, r.d, r.k);
    REQUIRE(found.medoids == r.medoids);
    REQUIRE(found.cost == Approx(r.cost).epsilon(1e-13));
    REQUIRE(verify({values, r.n, r.d}, found) == "");
    if (r.k > 1)
      REQUIRE(average_silhouette({values, r.n, r.d}, found.labels, r.k) == Approx(r.silhouette).epsilon(1e-11));
  }
}

TEST_CASE("if medians tie, as for d = 1, the cost is that of R") {
  // R as above found {5, 19, 44}; strata of even size have two best medoids.
  REQUIRE(pam_of(groups_of(100, 1, 3, 5, 14), 1, 3).cost == Approx(0.36509084063353525).epsilon(1e-13));
}

TEST_CASE("a shift by 2^24 and a scale change no medoid") {
  for (const Reference& r : references) {
    const auto values = groups_of(r.n, r.d, r.groups, r.separation, r.seed);
    // Shifted values are rounded to 2^-28. The values are rounded in the same way first, so that distances are the
    // same.
    auto rounded = values, shifted = values, scaled = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      shifted[i] = values[i] + 0x1p24;
      rounded[i] = shifted[i] - 0x1p24;
      scaled[i] = rounded[i] * 0x1p-70;
    }
    const auto expected = pam_of(rounded, r.d, r.k);
    REQUIRE(expected.medoids == r.medoids);
    const auto after_shift = pam_of(shifted, r.d, r.k);
    REQUIRE(after_shift.medoids == r.medoids);
    REQUIRE(after_shift.cost == expected.cost);
    const auto after_scale = pam_of(scaled, r.d, r.k);
    REQUIRE(after_scale.medoids == r.medoids);
    REQUIRE(after_scale.cost == std::ldexp(expected.cost, -70));
  }
}

TEST_CASE("permuted objects give permuted medoids") {
  for (const Reference& r : references) {
    const auto values = groups_of(r.n, r.d, r.groups, r.separation, r.seed);
    const auto order = shuffled(r.n, r.seed + 100);
    const auto found = pam_of(reordered(values, r.d, order), r.d, r.k);
    std::vector<std::int32_t> original;
    for (const std::int32_t medoid : found.medoids) original.push_back(order[static_cast<std::size_t>(medoid)]);
    std::sort(original.begin(), original.end());
    REQUIRE(original == r.medoids);
  }
}

TEST_CASE("no single swap improves the result, and brute force is rarely better") {
  int best = 0, cases = 0;
  for (int seed = 1; seed <= 40; ++seed)
    for (int n : {1, 2, 3, 7, 12})
      for (int k = 1; k <= std::min(n, 4); ++k, ++cases) {
        const auto values = groups_of(static_cast<std::size_t>(n), 3, 3, 2, seed * 31 + n);
        const Signatures objects{values, static_cast<std::size_t>(n), 3};
        const auto found = pam_of(values, 3, k, seed % 2 ? SwapRule::steepest : SwapRule::eager);
        REQUIRE(verify(objects, found) == "");
        double least = std::numeric_limits<double>::max();
        for_subsets(n, k, [&](const std::vector<std::int32_t>& medoids) {
          const double cost = cost_of(objects, medoids);
          least = std::min(least, cost);
          std::vector<std::int32_t> common;
          std::set_intersection(medoids.begin(), medoids.end(), found.medoids.begin(), found.medoids.end(),
                                std::back_inserter(common));
          if (common.size() + 1 == medoids.size()) REQUIRE(cost >= found.cost * (1 - 1e-12));
        });
        if (k == 1 || k == n) REQUIRE(found.cost <= least * (1 + 1e-12));
        best += found.cost <= least * (1 + 1e-12);
      }
  REQUIRE(best > cases * 9 / 10);
}

TEST_CASE("threads do not change the result, and the eager rule also ends in a local optimum") {
  const auto values = groups_of(1500, 6, 5, 2, 77);
  const auto serial = pam_of(values, 6, 5);
#ifdef KOKKOS_ENABLE_OPENMP
  const auto threads = pam_of<Kokkos::OpenMP>(values, 6, 5);
  REQUIRE(threads.medoids == serial.medoids);
  REQUIRE(threads.labels == serial.labels);
  REQUIRE(threads.cost == serial.cost);
  const auto eager_threads = pam_of<Kokkos::OpenMP>(values, 6, 5, SwapRule::eager);
  REQUIRE(eager_threads.medoids == pam_of(values, 6, 5, SwapRule::eager).medoids);
#endif
  const auto eager = pam_of(values, 6, 5, SwapRule::eager);
  REQUIRE(verify({values, 1500, 6}, eager) == "");
  REQUIRE(eager.cost < serial.cost * 1.02);
}

TEST_CASE("fewer distinct points than strata still give k medoids and no empty stratum") {
  const int distinct = GENERATE(1, 2, 3);
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.insert(values.end(), {double(i % distinct), 5.0, -3.0 * (i % distinct)});
  for (int k = distinct; k <= 6; ++k) {
    const auto found = pam_of(values, 3, k);
    REQUIRE(found.k == k);
    REQUIRE(found.cost == 0);
    REQUIRE(verify({values, 20, 3}, found) == "");
    REQUIRE(*std::min_element(found.sizes.begin(), found.sizes.end()) >= 1);
    REQUIRE(found.lone.empty());
  }
}

TEST_CASE("screening in single precision changes nothing") {
  const KernelsOn<Kokkos::Serial> kernels(Kokkos::Serial{});
  const auto exact = [&](const Signatures& objects, int k, int max_swaps) {
    const DistanceTable table = kernels.all_distances(objects);
    auto medoids = build_medoids(kernels, table, k);
    const int swaps = swap_medoids(kernels, table, medoids, SwapRule::steepest, max_swaps);
    return std::pair(medoids, swaps);
  };
  for (const std::size_t n : {17, 300, 1300})
    for (const int k : {1, 2, 6})
      for (int seed = 1; seed <= 4; ++seed) {
        auto values = groups_of(n, 5, 4, 2, seed * 7 + k);
        for (double& value : values) value = (value + 100) / 128;  // an offset that costs single precision seven bits
        const Signatures objects{values, n, 5};
        REQUIRE(screened_medoids(kernels, objects, k, 1000) == exact(objects, k, 1000).first);
      }
  // Objects far away, of all sizes, and in ties.
  std::size_t screened = 0;
  for (const Kind& kind : all_kinds())
    for (const std::size_t d : {1, 24}) {
      auto values = Maker(kind, d, 5).objects(900);
      const double most = *std::max_element(values.begin(), values.end());
      for (double& value : values) value /= most;
      const Signatures objects{values, 900, d};
      const auto medoids = screened_medoids(kernels, objects, 7, 1000);
      INFO(kind.name() << ", d = " << d);
      REQUIRE((medoids.empty() || medoids == exact(objects, 7, 1000).first));
      screened += !medoids.empty();
    }
  REQUIRE(screened >= all_kinds().size());
  // Many swaps, and a limit to their number.
  auto many = groups_of(1500, 2, 40, 4, 5);
  for (double& value : many) value /= 8;
  const auto [medoids, swaps] = exact({many, 1500, 2}, 60, 1000);
  REQUIRE(swaps > 8);
  REQUIRE(screened_medoids(kernels, {many, 1500, 2}, 60, 1000) == medoids);
  REQUIRE(screened_medoids(kernels, {many, 1500, 2}, 60, 3) == exact({many, 1500, 2}, 60, 3).first);
  // Many candidates are equally good: the table in double precision decides.
  const std::vector<double> same(2000 * 2, 0.5);
  REQUIRE(screened_medoids(kernels, {same, 2000, 2}, 3, 1000).empty());
  REQUIRE(pam_of(same, 2, 3).cost == 0);
}

TEST_CASE("very large and very small values") {
  const Reference& r = references[0];
  const auto values = groups_of(r.n, r.d, r.groups, r.separation, r.seed);
  for (const double factor : {1e160, 1e-300, 1e300, 0x1p-1000}) {
    auto scaled = values;
    for (double& value : scaled) value *= factor;
    const auto found = pam_of(scaled, r.d, r.k);
    REQUIRE(found.medoids == r.medoids);
    REQUIRE(found.cost / factor == Approx(r.cost).epsilon(1e-12));
  }
}

TEST_CASE("a far object takes a medoid of its own, and this is reported") {
  auto values = groups_of(60, 4, 1, 0, 9);
  for (std::size_t j = 0; j < 4; ++j) values[17 * 4 + j] += 1000;
  const auto found = pam_of(values, 4, 2);
  REQUIRE(found.medoids[found.medoids[0] == 17 ? 0 : 1] == 17);
  REQUIRE(found.lone.size() == 1);
  REQUIRE(found.medoids[static_cast<std::size_t>(found.lone[0])] == 17);
}

TEST_CASE("bad input is refused with its place") {
  std::vector<double> values(12, 1.0);
  REQUIRE_THROWS_WITH(pam_of(values, 3, 5), ContainsSubstring("more strata than objects") && ContainsSubstring("5"));
  REQUIRE_THROWS_WITH(pam_of(values, 3, 0), ContainsSubstring("at least 1"));
  values[7] = std::numeric_limits<double>::quiet_NaN();
  REQUIRE_THROWS_WITH(pam_of(values, 3, 2), ContainsSubstring("row 2") && ContainsSubstring("column 1"));
  values[7] = -std::numeric_limits<double>::infinity();
  REQUIRE_THROWS_WITH(pam_of(values, 3, 2), ContainsSubstring("infinite") && ContainsSubstring("row 2"));
  const PamParameters one;
  REQUIRE_THROWS_AS(pam(Kokkos::Serial{}, {{}, 0, 3}, one), std::invalid_argument);
  REQUIRE_THROWS_AS(pam(Kokkos::Serial{}, {{}, 3, 0}, one), std::invalid_argument);
  REQUIRE_THROWS_AS(pam(Kokkos::Serial{}, {values, 5, 3}, one), std::invalid_argument);
}
