// Dendrograms against R and against a naive search for the nearest pair.
#include "analytics/cluster_offline/hierarchical.hpp"
#include "measures.hpp"

#include "sets.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace effort::cluster;
using namespace effort::cluster::test;
using Catch::Approx;

namespace {

std::vector<int> sizes_of(const std::vector<std::int32_t>& labels) {
  std::map<std::int32_t, int> counts;
  for (const std::int32_t label : labels) ++counts[label];
  std::vector<int> sizes;
  for (const auto& [label, count] : counts) sizes.push_back(count);
  return sizes;
}

struct Reference {
  Linkage linkage;
  double sum, highest;
  std::vector<int> sizes;  // of five groups, in order of first appearance
};

}  // namespace

TEMPLATE_TEST_CASE("heights and groups are those of R", "", EFFORT_TEST_SPACES) {
  // R 4.2.2: hclust(dist(x), method) on groups_of(60, 3, 4, 2, 21).
  const std::vector<Reference> references = {
      {Linkage::single, 28.852611504109056, 0.85585338551261136, {55, 1, 2, 1, 1}},
      {Linkage::complete, 55.700165058075065, 4.5781805199177219, {3, 21, 13, 15, 8}},
      {Linkage::average, 42.782109962527343, 2.6045037548944494, {24, 3, 11, 20, 2}},
      {Linkage::ward, 72.66970624254634, 11.828616714332432, {15, 14, 11, 10, 10}},
  };
  const auto values = groups_of(60, 3, 4, 2, 21);
  for (const Reference& r : references) {
    const auto dendrogram = hierarchical(TestType{}, {values, 60, 3}, r.linkage);
    REQUIRE(dendrogram.merges.size() == 59);
    double sum = 0;
    for (std::size_t i = 0; i < 59; ++i) {
      const Merge& merge = dendrogram.merges[i];
      sum += merge.height;
      REQUIRE(merge.first < merge.second);
      REQUIRE(merge.second < static_cast<std::int32_t>(60 + i));
      if (i > 0) REQUIRE(merge.height >= dendrogram.merges[i - 1].height);
    }
    REQUIRE(sum == Approx(r.sum).epsilon(1e-12));
    REQUIRE(dendrogram.merges.back().height == Approx(r.highest).epsilon(1e-12));
    REQUIRE(dendrogram.merges.back().size == 60);
    REQUIRE(sizes_of(cut_to_number(dendrogram, 5)) == r.sizes);
  }
}

TEST_CASE("single linkage merges along the minimum spanning tree") {
  const auto values = groups_of(40, 2, 3, 3, 8);
  std::vector<double> in_tree(40, std::numeric_limits<double>::max()), edges;
  std::vector<char> done(40, 0);
  in_tree[0] = 0;
  for (int step = 0; step < 40; ++step) {
    std::size_t best = 40;
    for (std::size_t i = 0; i < 40; ++i)
      if (!done[i] && (best == 40 || in_tree[i] < in_tree[best])) best = i;
    done[best] = 1;
    if (step > 0) edges.push_back(in_tree[best]);
    for (std::size_t i = 0; i < 40; ++i)
      in_tree[i] =
          std::min(in_tree[i], std::hypot(values[2 * i] - values[2 * best], values[2 * i + 1] - values[2 * best + 1]));
  }
  std::sort(edges.begin(), edges.end());
  const auto dendrogram = hierarchical(Kokkos::Serial{}, {values, 40, 2}, Linkage::single);
  for (std::size_t i = 0; i < edges.size(); ++i)
    REQUIRE(dendrogram.merges[i].height == Approx(edges[i]).epsilon(1e-12));
}

TEST_CASE("shapes are compared independently of level and size") {
  std::vector<double> values;
  for (int region = 0; region < 6; ++region)
    for (int j = 0; j < 50; ++j) {
      const double shape = region % 2 ? std::sin(0.2 * j) : 0.1 * j * j;
      values.push_back((1 + region) * shape + 100 * region);
    }
  values.insert(values.end(), 50, 7.0);  // a region without shape
  normalise_shapes(values, 7, 50);
  const Dendrogram dendrogram = hierarchical(Kokkos::Serial{}, {values, 7, 50}, Linkage::average);
  REQUIRE(dendrogram.merges[3].height < 1e-6);
  REQUIRE(dendrogram.merges[4].height > 1e-6);
  const auto labels = cut_to_number(dendrogram, 3);
  REQUIRE(labels == std::vector<std::int32_t>{0, 1, 0, 1, 0, 1, 2});
  const auto strata = with_medoids(Kokkos::Serial{}, {values, 7, 50}, labels);
  REQUIRE(strata.k == 3);
  REQUIRE(strata.sizes == std::vector<std::int64_t>{3, 3, 1});
}

TEST_CASE("medoids of given groups") {
  const auto values = groups_of(90, 4, 3, 8, 3);
  const auto labels = cut_to_number(hierarchical(Kokkos::Serial{}, {values, 90, 4}, Linkage::average), 3);
  const auto strata = with_medoids(Kokkos::Serial{}, {values, 90, 4}, labels);
  REQUIRE(verify({values, 90, 4}, strata) == "");  // far groups: each object is nearest to its own medoid
}

TEST_CASE("edge cases of hierarchical clustering") {
  const std::vector<double> one = {3, 4};
  REQUIRE(hierarchical(Kokkos::Serial{}, {one, 1, 2}, Linkage::ward).merges.empty());
  REQUIRE(cut_to_number(hierarchical(Kokkos::Serial{}, {one, 1, 2}, Linkage::ward), 1) == std::vector<std::int32_t>{0});
  const std::vector<double> same(20, 1.5);
  for (const Linkage linkage : {Linkage::single, Linkage::complete, Linkage::average, Linkage::ward}) {
    const auto dendrogram = hierarchical(Kokkos::Serial{}, {same, 10, 2}, linkage);
    REQUIRE(dendrogram.merges.size() == 9);
    REQUIRE(dendrogram.merges.back().height == 0);
    REQUIRE(sizes_of(cut_to_number(dendrogram, 4)).size() == 4);
  }
  const auto dendrogram = hierarchical(Kokkos::Serial{}, {same, 10, 2}, Linkage::single);
  REQUIRE_THROWS_AS(cut_to_number(dendrogram, 11), std::invalid_argument);
  REQUIRE_THROWS_AS(cut_to_number(dendrogram, 0), std::invalid_argument);
  std::vector<double> bad = same;
  bad[5] = std::numeric_limits<double>::quiet_NaN();
  REQUIRE_THROWS_AS(hierarchical(Kokkos::Serial{}, {bad, 10, 2}, Linkage::single), std::invalid_argument);
}
