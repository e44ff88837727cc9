// Strata keep their numbers from window to window.
#include "analytics/cluster/stable_strata.hpp"

#include "sets.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <numeric>

using namespace effort::cluster;
using namespace effort::cluster::test;

namespace {

StrataMatch match_labels(const std::vector<std::int32_t>& before, int k_before, const std::vector<std::int32_t>& now,
                         int k_now) {
  std::vector<std::int64_t> overlap(static_cast<std::size_t>(k_before * k_now));
  for (std::size_t i = 0; i < before.size(); ++i) ++overlap[static_cast<std::size_t>(before[i] * k_now + now[i])];
  return match_strata(overlap, k_before, k_now);
}

}  // namespace

TEST_CASE("renumbered strata get their old numbers back") {
  const std::vector<std::int32_t> before = {0, 0, 0, 1, 1, 2, 2, 2};
  const std::vector<std::int32_t> now = {2, 2, 2, 0, 0, 1, 1, 1};
  const auto match = match_labels(before, 3, now, 3);
  REQUIRE(match.renamed == std::vector<std::int32_t>{1, 2, 0});
  REQUIRE(match.previous == std::vector<std::int32_t>{0, 1, 2});
  REQUIRE(match.agreement == 1);
}

TEST_CASE("new strata fill the gaps, vanished ones leave them") {
  const std::vector<std::int32_t> before = {0, 0, 1, 1, 2, 2};
  const auto fewer = match_labels(before, 3, std::vector<std::int32_t>{0, 0, 1, 1, 1, 1}, 2);
  REQUIRE(fewer.renamed == std::vector<std::int32_t>{0, 1});
  REQUIRE(fewer.agreement == 4.0 / 6);
  const auto more = match_labels(before, 3, std::vector<std::int32_t>{3, 3, 0, 1, 2, 2}, 4);
  REQUIRE(more.renamed[3] == 0);
  REQUIRE(more.renamed[2] == 2);
  REQUIRE(std::vector<std::int32_t>{more.renamed[0], more.renamed[1]} == std::vector<std::int32_t>{1, 3});
  REQUIRE(more.previous == std::vector<std::int32_t>{0, 1, 2, -1});
  const auto first = match_labels({}, 0, std::vector<std::int32_t>{1, 0}, 2);
  REQUIRE(first.renamed == std::vector<std::int32_t>{0, 1});
  REQUIRE(first.previous == std::vector<std::int32_t>{-1, -1});
}

TEST_CASE("the matching has the largest overlap of all") {
  for (int seed = 1; seed <= 60; ++seed) {
    Uniform uniform(seed);
    const int k_before = 1 + static_cast<int>(uniform() * 5), k_now = 1 + static_cast<int>(uniform() * 5);
    std::vector<std::int64_t> overlap;
    for (int i = 0; i < k_before * k_now; ++i) overlap.push_back(static_cast<std::int64_t>(uniform() * 20));
    const auto match = match_strata(overlap, k_before, k_now);
    auto sorted = match.renamed;
    std::sort(sorted.begin(), sorted.end());
    for (int j = 0; j < k_now; ++j) REQUIRE(sorted[static_cast<std::size_t>(j)] == j);
    std::vector<int> order(static_cast<std::size_t>(std::max(k_before, k_now)));
    std::iota(order.begin(), order.end(), 0);
    std::int64_t best = 0, all = std::accumulate(overlap.begin(), overlap.end(), std::int64_t{0});
    do {
      std::int64_t sum = 0;
      for (int j = 0; j < k_now; ++j)
        if (const int i = order[static_cast<std::size_t>(j)]; i < k_before)
          sum += overlap[static_cast<std::size_t>(i * k_now + j)];
      best = std::max(best, sum);
    } while (std::next_permutation(order.begin(), order.end()));
    REQUIRE(match.agreement == (all ? static_cast<double>(best) / static_cast<double>(all) : 0));
  }
}

TEST_CASE("many strata are matched greedily") {
  const int k = 80;
  std::vector<std::int32_t> before, now;
  for (int i = 0; i < 800; ++i) {
    before.push_back(i % k);
    now.push_back((i % k + 7) % k);
  }
  const auto match = match_labels(before, k, now, k);
  for (int j = 0; j < k; ++j) REQUIRE(match.renamed[static_cast<std::size_t>((j + 7) % k)] == j);
  REQUIRE(match.agreement == 1);
}

TEST_CASE("an overlap of another size is refused") {
  REQUIRE_THROWS_AS(match_strata(std::vector<std::int64_t>{1, 2}, 2, 2), std::invalid_argument);
}

TEST_CASE("strata without a common object do not continue each other") {
  for (const int k : {2, 70}) {  // exactly, greedily
    CAPTURE(k);
    const auto size = static_cast<std::size_t>(k);
    std::vector<std::int64_t> overlap(size * size, 0);
    overlap[0] = 5;
    const StrataMatch match = match_strata(std::span<const std::int64_t>(overlap), k, k);
    CHECK(match.previous[0] == 0);
    for (std::size_t j = 1; j < size; ++j) CHECK(match.previous[j] == -1);
  }
}
