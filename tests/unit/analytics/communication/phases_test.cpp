// Jensen-Shannon segmentation compared with one that follows the formulas literally.
#include "analytics/communication/phases.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace effort::communication;
using Catch::Approx;

namespace {

using Sequence = std::vector<std::uint32_t>;

/// Equation (1) with its minus sign, times the length, of the counts of a part.
long double n_entropy(const std::vector<std::size_t>& counts, std::size_t n) {
  long double sum = 0;
  for (const std::size_t count : counts) {
    if (count > 0)
      sum -= static_cast<long double>(count) * std::log(static_cast<long double>(count) / static_cast<long double>(n));
  }
  return sum;
}

std::size_t different(const std::vector<std::size_t>& counts) {
  return static_cast<std::size_t>(std::count_if(counts.begin(), counts.end(), [](std::size_t c) { return c > 0; }));
}

/// Cost: O(N k) for each part.
void cut(const Sequence& s, std::size_t symbols, const PhaseOptions& options, Split part, Phases& out) {
  const std::size_t n = part.end - part.first;
  long double best = 0;
  std::size_t parameters = 1;
  if (part.depth < options.depth && n >= options.length) {
    std::vector<std::size_t> left(symbols), right(symbols);
    for (std::size_t i = part.first; i < part.end; ++i) ++right[s[i]];
    const long double whole = n_entropy(right, n);
    const std::size_t all = different(right);
    for (std::size_t i = part.first + 1; i < part.end; ++i) {
      ++left[s[i - 1]], --right[s[i - 1]];
      const long double gain = whole - n_entropy(left, i - part.first) - n_entropy(right, part.end - i);
      if (gain <= best + 1e-10L) continue;
      best = gain, part.split = i, parameters = different(left) + different(right) + 1 - all;
    }
  }
  const auto length = static_cast<long double>(n);
  const long double threshold = options.criterion == Criterion::aic
                                    ? 2 * static_cast<long double>(parameters)
                                    : static_cast<long double>(parameters) * std::log(length);
  if (best == 0 || 2 * best <= threshold * (1 + 1e-12L)) {
    if (n > 0) out.leaves.push_back({part.first, part.end});
    return;
  }
  part.divergence = static_cast<double>(best / length);
  part.strength = static_cast<double>((2 * best - threshold) / threshold);
  out.tree.push_back(part);
  cut(s, symbols, options, {part.first, part.split, 0, part.depth + 1}, out);
  cut(s, symbols, options, {part.split, part.end, 0, part.depth + 1}, out);
}

std::size_t check(const Sequence& s, std::size_t symbols, const PhaseOptions& options = {}) {
  Phases expected;
  cut(s, symbols, options, {0, s.size(), 0, 0}, expected);
  const Phases phases = find_phases(s, symbols, options);
  REQUIRE(phases.tree.size() == expected.tree.size());
  std::size_t deepest = 0;
  for (std::size_t i = 0; i < phases.tree.size(); ++i) {
    const Split &a = phases.tree[i], &b = expected.tree[i];
    REQUIRE(a.first == b.first);
    REQUIRE(a.end == b.end);
    REQUIRE(a.split == b.split);
    REQUIRE(a.depth == b.depth);
    REQUIRE(a.divergence == Approx(b.divergence).epsilon(1e-8));
    REQUIRE(a.strength == Approx(b.strength).epsilon(1e-7).margin(1e-8));
    deepest = std::max(deepest, a.depth + 1);
  }
  REQUIRE(phases.leaves.size() == expected.leaves.size());
  for (std::size_t i = 0; i < phases.leaves.size(); ++i) {
    REQUIRE(phases.leaves[i].first == expected.leaves[i].first);
    REQUIRE(phases.leaves[i].end == expected.leaves[i].end);
  }
  return deepest;
}

Sequence random_sequence(std::mt19937& random, std::size_t n, std::size_t symbols) {
  const auto below = [&](std::size_t end) { return static_cast<std::uint32_t>(random() % end); };
  const std::size_t kind = random() % 5, run = 1 + random() % 6;
  Sequence period(5 + random() % 60), s(n);
  for (std::uint32_t& symbol : period) symbol = below(symbols);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t recurring = period[i % period.size()], random_symbol = below(symbols);
    s[i] = kind == 0   ? random_symbol
           : kind == 1 ? static_cast<std::uint32_t>(i / run % symbols)
           : kind == 2 ? recurring
           : kind == 3 ? (random() % 50 == 0 ? random_symbol : recurring)
                       : static_cast<std::uint32_t>((i * 5 / n + i / run) % symbols);
  }
  return s;
}

}  // namespace

TEST_CASE("table 5 of Alawneh & Hamou-Lhadj 2022 is cut at 3") {
  const Sequence s = {0, 0, 0, 1, 2, 3, 0, 1, 2, 3};
  const Phases phases = find_phases(s, 4);
  REQUIRE(phases.tree.size() == 1);
  REQUIRE(phases.tree[0].split == 3);
  REQUIRE(phases.tree[0].divergence == Approx(0.386).margin(5e-4));
  REQUIRE(phases.tree[0].strength == Approx(0.93).margin(5e-3));
  REQUIRE(phases.leaves.size() == 2);
  // BIC asks for more: here 2 x 3.86 > 2 log 10.
  const Phases bic = find_phases(s, 4, {Criterion::bic});
  REQUIRE(bic.tree.size() == 1);
  REQUIRE(bic.tree[0].strength == Approx((7.7186 - 2 * std::log(10)) / (2 * std::log(10))).epsilon(1e-4));
}

TEST_CASE("short sequences") {
  REQUIRE(find_phases({}, 0).leaves.empty());
  REQUIRE(find_phases(Sequence{0}, 1).leaves.size() == 1);
  REQUIRE(find_phases(Sequence{0, 0}, 1).leaves.size() == 1);
  REQUIRE(find_phases(Sequence{0, 1}, 2).tree.size() == 1);
  REQUIRE(find_phases(Sequence(100, 3), 4).tree.empty());
}

TEST_CASE("cuts are those of the formulas") {
  std::mt19937 random(8);
  for (int round = 0; round < 400; ++round) {
    const std::size_t symbols = 1 + random() % 8;
    const Sequence s = random_sequence(random, 1 + random() % 120, symbols);
    PhaseOptions options;
    options.criterion = random() % 2 == 0 ? Criterion::aic : Criterion::bic;
    if (random() % 3 == 0) options.depth = random() % 4;
    if (random() % 3 == 0) options.length = random() % 20;
    check(s, symbols, options);
  }
}

TEST_CASE("a tree with less depth is that of a search with less depth") {
  std::mt19937 random(10);
  for (int round = 0; round < 100; ++round) {
    const Sequence s = random_sequence(random, 1 + random() % 200, 4);
    const Phases all = find_phases(s, 4);
    for (std::size_t depth = 0; depth < 5; ++depth) {
      const Phases expected = find_phases(s, 4, {Criterion::aic, depth});
      const Phases phases = at_depth(all, depth);
      REQUIRE(phases.tree.size() == expected.tree.size());
      for (std::size_t i = 0; i < phases.tree.size(); ++i) REQUIRE(phases.tree[i].split == expected.tree[i].split);
      REQUIRE(phases.leaves.size() == expected.leaves.size());
      for (std::size_t i = 0; i < phases.leaves.size(); ++i) REQUIRE(phases.leaves[i].end == expected.leaves[i].end);
    }
  }
  REQUIRE(at_depth({}, 3).leaves.empty());
}

TEST_CASE("of several best places the first counts") {
  // Both ends of a run of one symbol in the middle are equally good.
  for (const std::size_t n : {5, 9, 20}) {
    Sequence s(3 * n, 0);
    std::fill(s.begin() + static_cast<std::ptrdiff_t>(n), s.begin() + static_cast<std::ptrdiff_t>(2 * n), 1);
    check(s, 2);
    REQUIRE(find_phases(s, 2).tree.front().split == n);
  }
}

TEST_CASE("deep trees of iterative programs") {
  // Long enough for searches of the ends alone.
  std::mt19937 random(9);
  std::size_t deepest = 0;
  for (int round = 0; round < 24; ++round) {
    const std::size_t symbols = 2 + random() % 5;
    deepest = std::max(deepest, check(random_sequence(random, 1500 + random() % 2000, symbols), symbols));
  }
  Sequence s(3000);
  for (std::size_t i = 0; i < s.size(); ++i) s[i] = i % 14 < 3 ? 0 : i % 14 < 4 ? 1 : i % 14 < 10 ? 2 : 3;
  deepest = std::max(deepest, check(s, 4));
  for (std::size_t i = 0; i < s.size(); ++i) s[i] = static_cast<std::uint32_t>(i / 3 % 10);
  deepest = std::max(deepest, check(s, 10));
  REQUIRE(deepest > 500);
}

TEST_CASE("the depth of a tree needs no stack") {
  Sequence s(200000);
  for (std::size_t i = 0; i < s.size(); ++i) s[i] = i / 3 % 2;
  const Phases phases = find_phases(s, 2);
  REQUIRE(phases.leaves.size() == phases.tree.size() + 1);
  std::size_t deepest = 0;
  for (const Split& split : phases.tree) deepest = std::max(deepest, split.depth);
  REQUIRE(deepest > 50000);
}
