#include "analytics/balance/spikes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <vector>

using effort::balance::SpikeFinder;

namespace {

/// Whether the peaks of `height` in the given steps are found to recur.  The others take 1, give or take a hundredth.
bool recur(const std::vector<int>& peaks, double height, int steps = 40, int window = 10) {
  SpikeFinder finder;
  for (int first = 0; first < steps; first += window) {
    std::vector<double> values;
    for (int s = first; s < first + window; ++s) values.push_back(1 + 0.01 * (s * 7 % 3 - 1));
    for (const int peak : peaks)
      if (peak >= first && peak < first + window) values[static_cast<std::size_t>(peak - first)] = height;
    finder.observe(first, values);
  }
  return finder.recurs();
}

}  // namespace

TEST_CASE("three peaks at equal distances recur") {
  CHECK(recur({3, 13, 23}, 2));
  CHECK(recur({1, 8, 15, 22, 29, 36}, 2));
  CHECK(recur({5, 13, 23, 33}, 2));  // the last three count
  CHECK_FALSE(recur({13, 23}, 2));
  CHECK_FALSE(recur({3, 13, 24}, 2));
}

TEST_CASE("a step stands out by more than a quarter") {
  CHECK(recur({3, 13, 23}, 1.3));
  CHECK_FALSE(recur({3, 13, 23}, 1.2));
}

TEST_CASE("if more than a third of a window's steps are higher, it is a new level") {
  CHECK(recur({0, 3, 6, 10, 13, 16}, 2, 20));
  CHECK_FALSE(recur({0, 3, 6, 9, 10, 13, 16, 19}, 2, 20));
}
