// The sparse dendrogram is that of the whole table of distances.
#include "analytics/communication/sparse_linkage.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>

using namespace effort::communication;
using Catch::Approx;

namespace {

/// The merges by definition: of all groups, the two nearest are merged, with all n^2 distances.
std::vector<Merge> dense(std::size_t n, const std::vector<Distance>& distances, double absent, Linkage linkage) {
  std::vector<std::vector<double>> between(n, std::vector<double>(n, absent));
  for (const Distance& d : distances) between[d.a][d.b] = between[d.b][d.a] = d.distance;
  struct Group {
    std::uint32_t number;
    std::vector<std::size_t> members;
  };
  const auto apart = [&](const Group& a, const Group& b) {
    double sum = 0, least = std::numeric_limits<double>::max();
    for (const std::size_t i : a.members)
      for (const std::size_t j : b.members) {
        sum += between[i][j];
        least = std::min(least, between[i][j]);
      }
    return linkage == Linkage::single ? least : sum / static_cast<double>(a.members.size() * b.members.size());
  };
  std::vector<Group> groups;  // in the order of their numbers
  for (std::size_t i = 0; i < n; ++i) groups.push_back({static_cast<std::uint32_t>(i), {i}});
  std::vector<Merge> out;
  while (groups.size() > 1) {
    std::size_t first = 0, second = 1;
    double least = std::numeric_limits<double>::max();
    for (std::size_t b = 1; b < groups.size(); ++b)
      for (std::size_t a = 0; a < b; ++a)
        if (const double d = apart(groups[a], groups[b]); d < least) {
          least = d;
          first = a;
          second = b;
        }
    Group merged{static_cast<std::uint32_t>(n + out.size()), groups[first].members};
    merged.members.insert(merged.members.end(), groups[second].members.begin(), groups[second].members.end());
    out.push_back(
        {groups[first].number, groups[second].number, least, static_cast<std::uint32_t>(merged.members.size())});
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(second));
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(first));
    groups.push_back(merged);
  }
  return out;
}

}  // namespace

TEST_CASE("the worked example") {
  // 0 and 1 are near, 2 is nearer to 1 than to 0, and 3 meets no other rank.
  const std::vector<Distance> distances = {{0, 1, 1}, {1, 2, 2}, {2, 0, 4}};
  const std::vector<Merge> average = sparse_linkage(4, distances, 8, Linkage::average);
  REQUIRE(average.size() == 3);
  CHECK((average[0].first == 0 && average[0].second == 1 && average[0].distance == 1 && average[0].members == 2));
  CHECK((average[1].first == 2 && average[1].second == 4 && average[1].distance == 3 && average[1].members == 3));
  CHECK((average[2].first == 3 && average[2].second == 5 && average[2].distance == 8 && average[2].members == 4));
  const std::vector<Merge> single = sparse_linkage(4, distances, 8, Linkage::single);
  CHECK(single[1].distance == 2);
  CHECK(single[2].distance == 8);
  CHECK(sparse_linkage(0, {}, 0, Linkage::average).empty());
  CHECK(sparse_linkage(1, {}, 0, Linkage::single).empty());
  CHECK(sparse_linkage(3, {}, 0, Linkage::average).size() == 2);
}

TEST_CASE("random sparse distances give the dendrogram of the whole table") {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> length(0.01, 1);
  for (const Linkage linkage : {Linkage::single, Linkage::average}) {
    for (int round = 0; round < 60; ++round) {
      const std::size_t n = 2 + random() % 40;
      std::vector<Distance> distances;
      double largest = 0;
      for (std::uint32_t a = 0; a < n; ++a) {
        for (std::uint32_t b = a + 1; b < n; ++b) {
          if (random() % 100 >= static_cast<std::uint64_t>(5 + round)) continue;
          distances.push_back({a, b, length(random)});
          largest = std::max(largest, distances.back().distance);
        }
      }
      const std::vector<Merge> merges = sparse_linkage(n, distances, 2 * largest, linkage);
      const std::vector<Merge> expected = dense(n, distances, 2 * largest, linkage);
      REQUIRE(merges.size() == n - 1);
      REQUIRE(expected.size() == n - 1);
      for (std::size_t i = 0; i < merges.size(); ++i) {
        INFO("round " << round << ", merge " << i);
        CHECK(merges[i].distance == Approx(expected[i].distance));
        if (merges[i].distance >= 1.999 * largest) continue;  // ties: which of the groups that never meet
        CHECK(merges[i].first == expected[i].first);
        CHECK(merges[i].second == expected[i].second);
        CHECK(merges[i].members == expected[i].members);
      }
    }
  }
}

TEST_CASE("equal distances: every group is merged once, and distances ascend") {
  constexpr std::uint32_t side = 12;
  std::vector<Distance> distances;
  for (std::uint32_t i = 0; i < side * side; ++i) {
    if (i % side + 1 < side) distances.push_back({i, i + 1, 0.5});
    if (i + side < side * side) distances.push_back({i, i + side, 0.5});
  }
  for (const Linkage linkage : {Linkage::single, Linkage::average}) {
    const std::vector<Merge> merges = sparse_linkage(side * side, distances, 1, linkage);
    REQUIRE(merges.size() == side * side - 1);
    std::set<std::uint32_t> merged;
    for (std::size_t i = 0; i < merges.size(); ++i) {
      CHECK(merges[i].first < merges[i].second);
      CHECK(merges[i].second < side * side + i);
      CHECK(merged.insert(merges[i].first).second);
      CHECK(merged.insert(merges[i].second).second);
      if (i > 0) CHECK(merges[i].distance >= merges[i - 1].distance);
    }
    CHECK(merges.back().members == side * side);
  }
}

TEST_CASE("bad distances are refused") {
  const auto refuse = [](const Distance& d, double absent) {
    CHECK_THROWS_AS(sparse_linkage(3, std::vector<Distance>{d}, absent, Linkage::single), std::invalid_argument);
  };
  refuse({0, 3, 1}, 2);
  refuse({1, 1, 1}, 2);
  refuse({0, 1, -1}, 2);
  refuse({0, 1, 3}, 2);
  refuse({0, 1, std::numeric_limits<double>::quiet_NaN()}, 2);
  refuse({0, 1, 1}, std::numeric_limits<double>::infinity());
}
