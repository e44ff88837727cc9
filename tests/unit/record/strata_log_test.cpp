// Compares the log with a plain copy of all labels: what it keeps must hold in the windows that it names.
#include "record/strata_log.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <map>
#include <random>
#include <utility>

using namespace effort::record;

namespace {

using Labels = std::vector<std::int32_t>;

/// Window number `w` of ten steps.
Strata window(int w, std::int32_t strata, Labels label) {
  return {10 * w, 10 * w + 9, std::move(label), Labels(static_cast<std::size_t>(strata)), {}, {}};
}

/// Labels of windows in which some stretches of ranks change stratum.
std::vector<Labels> random_windows(int ranks, int windows, int strata, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(n)); };
  std::vector<Labels> out;
  Labels now(static_cast<std::size_t>(ranks));
  for (std::int32_t& label : now) label = below(strata);
  for (int w = 0; w < windows; ++w) {
    for (int change = below(4); change > 0; --change) {
      const std::int32_t first = below(ranks), count = 1 + below(ranks - first), label = below(strata);
      std::fill_n(now.begin() + first, count, label);
    }
    out.push_back(now);
  }
  return out;
}

/// Adds all windows and checks everything that is kept. Returns the number of moves.
std::size_t check_log(const std::vector<Labels>& windows, int strata, std::size_t bound) {
  StrataLog log(bound);
  for (std::size_t w = 0; w < windows.size(); ++w) log.add(window(static_cast<int>(w), strata, windows[w]));
  std::size_t runs = 0;
  std::int64_t before = static_cast<std::int64_t>(10 * windows.size());
  for (const StrataMove& move : log.moves()) runs += move.runs.size();
  CHECK(runs <= bound);
  each_earlier(log.moves(), windows.back(), [&](const StrataMove& move, std::span<const std::int32_t> label) {
    CHECK(move.first < before);
    before = move.first;
    CHECK(move.last == move.first + 9);
    CHECK(move.strata == strata);
    const Labels& wanted = windows.at(static_cast<std::size_t>(move.first / 10));
    CHECK(std::equal(label.begin(), label.end(), wanted.begin(), wanted.end()));
    std::int32_t at = 0;
    for (const LabelRun& run : move.runs) {
      CHECK(run.first >= at);
      CHECK(run.count >= 1);
      at = run.first + run.count;
    }
    CHECK(at <= static_cast<std::int32_t>(wanted.size()));
  });
  return log.moves().size();
}

}  // namespace

TEST_CASE("with enough space, every window is kept") {
  const int ranks = GENERATE(1, 2, 7, 100);
  const auto windows = random_windows(ranks, 40, 3, static_cast<unsigned>(ranks));
  CHECK(check_log(windows, 3, 100000) == windows.size() - 1);
}

TEST_CASE("without enough space, windows are omitted, and the kept ones stay right") {
  const unsigned seed = GENERATE(Catch::Generators::range(0u, 30u));
  const int ranks = 1 + static_cast<int>(seed * 7 % 60);
  const auto windows = random_windows(ranks, 120, 4, seed);
  const std::size_t bound = 1 + seed * 3;
  CHECK(check_log(windows, 4, bound) < windows.size());
}

TEST_CASE("a run without moves keeps thousands of windows in no space, but not arbitrarily many") {
  StrataLog log(10);
  const Labels label = {0, 1, 1, 0};
  for (int w = 0; w < 20000; ++w) log.add(window(w, 2, label));
  CHECK(log.moves().size() >= 2000);
  CHECK(log.moves().size() <= 4096);
  CHECK(log.moves().front().first == 0);
}

TEST_CASE("the first window has no moves, and all windows must have the same ranks") {
  StrataLog log(10);
  log.add(window(0, 1, {0, 0}));
  CHECK(log.moves().empty());
  CHECK_THROWS_AS(log.add(window(1, 1, {0})), std::invalid_argument);
}
