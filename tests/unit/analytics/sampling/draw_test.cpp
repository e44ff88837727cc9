// Draws are reproducible, without replacement, and uniform.
#include "analytics/sampling/draw.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>

using namespace effort::sampling;

TEST_CASE("draws are distinct, ascending and reproducible") {
  for (const std::int64_t n : {1, 2, 10, 1000, 2147483647})
    for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, n / 2, n}) {
      if (count > 5000) continue;
      const auto drawn = draw_without_replacement(n, count, 3, 4);
      REQUIRE(drawn.size() == static_cast<std::size_t>(count));
      REQUIRE(std::adjacent_find(drawn.begin(), drawn.end(), std::greater_equal<>()) == drawn.end());
      for (const std::int32_t i : drawn) REQUIRE((i >= 0 && i < n));
      REQUIRE(drawn == draw_without_replacement(n, count, 3, 4));
    }
  REQUIRE(draw_without_replacement(1000, 20, 1, 0) != draw_without_replacement(1000, 20, 1, 1));
  REQUIRE(draw_without_replacement(1000, 20, 1, 0) != draw_without_replacement(1000, 20, 2, 0));
  REQUIRE_THROWS_AS(draw_without_replacement(5, 6, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(draw_without_replacement(5, -1, 1, 1), std::invalid_argument);
}

TEST_CASE("all members are drawn equally often") {
  std::vector<int> counts(20, 0);
  const int draws = 20000;
  for (int i = 0; i < draws; ++i)
    for (const std::int32_t drawn : draw_without_replacement(20, 7, 11, static_cast<std::uint64_t>(i)))
      ++counts[static_cast<std::size_t>(drawn)];
  double chi_squared = 0;  // each count has mean 7000 and variance 4550
  for (const int count : counts) chi_squared += (count - 7000.0) * (count - 7000.0) / 4550.0;
  REQUIRE(chi_squared < 45.3);  // 19 degrees of freedom (scaled), probability 0.0006
  REQUIRE(chi_squared > 3);
}

TEST_CASE("strata of one size are drawn independently of each other") {
  std::vector<std::int32_t> labels;
  for (std::int32_t i = 0; i < 200; ++i) labels.push_back(i / 100);
  const auto drawn = draw_by_stratum(labels, std::vector<std::int64_t>{20, 20}, {}, 1, 0);
  // The places drawn in the second hundred differ from those in the first.
  CHECK_FALSE(std::equal(drawn.begin(), drawn.begin() + 20, drawn.begin() + 20, drawn.end(),
                         [](std::int32_t a, std::int32_t b) { return a + 100 == b; }));
}

TEST_CASE("strata yield as many members as are allocated to them") {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 90; ++i) labels.push_back(i % 3);
  const std::vector<std::int64_t> allocation = {2, 5, 40};
  const std::vector<std::int32_t> pinned = {0};
  const auto chosen = draw_by_stratum(labels, allocation, pinned, 1, 2);
  std::vector<int> counts(3, 0);
  for (const std::int32_t i : chosen) ++counts[static_cast<std::size_t>(labels[static_cast<std::size_t>(i)])];
  REQUIRE((counts[0] == 2 || counts[0] == 3));
  REQUIRE(counts[1] == 5);
  REQUIRE(counts[2] == 30);
  REQUIRE(chosen.front() == 0);
  REQUIRE_THROWS_AS(draw_by_stratum(labels, std::vector<std::int64_t>{1, 1}, {}, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(draw_by_stratum(labels, allocation, std::vector<std::int32_t>{90}, 1, 1), std::invalid_argument);
}

TEST_CASE("all of very many numbers are equally likely") {
  // There are 8/3 of 2^32 random numbers for each of these. Without rejection, every third would have probability 2/8
  // instead of 1/3.
  constexpr std::int64_t population = 3LL << 29;
  constexpr int draws = 6000;
  int counts[3] = {};
  for (std::uint64_t stream = 0; stream < draws; ++stream)
    ++counts[draw_without_replacement(population, 1, 7, stream)[0] % 3];
  for (const int count : counts) CHECK(std::abs(count - draws / 3) < 200);
}
