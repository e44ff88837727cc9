// All variants of the kernels give the same bits, those of a plain loop.
#include "analytics/cluster/kernels.hpp"

#include "sets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <bit>
#include <limits>
#include <numeric>

using namespace effort::cluster;
using namespace effort::cluster::test;
using kernels::lanes;

namespace {

std::vector<const kernels::Table*> variants() {
  const kernels::Table* tables[3];
  const std::size_t count = kernels::available(tables);
  return {tables, tables + count};
}

}  // namespace

TEST_CASE("tiles hold the rows, the last one repeated") {
  const std::size_t d = GENERATE(1, 7, 8, 19);
  const std::size_t count = GENERATE(1, 5, 16);
  const auto values = groups_of(lanes, d, 2, 1, 3);
  for (const auto* table : variants()) {
    std::vector<double> tile(lanes * d);
    table->load_tile(values.data(), d, count, d, tile.data());
    for (std::size_t l = 0; l < lanes; ++l)
      for (std::size_t j = 0; j < d; ++j) REQUIRE(tile[j * lanes + l] == values[std::min(l, count - 1) * d + j]);
  }
}

TEST_CASE("squared distances add up in the order of the columns") {
  const std::size_t d = GENERATE(1, 16, 33, 120);
  const std::size_t points = GENERATE(1, 2, 3, 5, 6, 7, 13);
  const auto values = groups_of(lanes + points, d, 3, 2, 4);
  for (const auto* table : variants()) {
    std::vector<double> tile(lanes * d), out(points * lanes);
    table->load_tile(values.data(), d, lanes, d, tile.data());
    table->squared(tile.data(), values.data() + lanes * d, points, d, out.data());
    for (std::size_t p = 0; p < points; ++p)
      for (std::size_t l = 0; l < lanes; ++l) {
        double sum = 0;
        for (std::size_t j = 0; j < d; ++j) {
          const double difference = values[l * d + j] - values[(lanes + p) * d + j];
          sum += difference * difference;
        }
        REQUIRE(out[p * lanes + l] == sum);
      }
  }
}

TEST_CASE("the largest magnitude is seen, and so is what is not finite") {
  constexpr std::uint64_t infinite = 0x7ff0000000000000;
  for (const auto* table : variants())
    for (std::size_t n = 1; n < 40; ++n)
      for (std::size_t at = 0; at < n; ++at) {
        std::vector<double> values(n, 1.0);
        values[at] = -2.5;
        REQUIRE(std::bit_cast<double>(table->largest_bits(values.data(), n)) == 2.5);
        values[at] = -std::numeric_limits<double>::infinity();
        REQUIRE(table->largest_bits(values.data(), n) >= infinite);
        values[at] = std::numeric_limits<double>::quiet_NaN();
        REQUIRE(table->largest_bits(values.data(), n) >= infinite);
      }
}

TEST_CASE("the first of several nearest medoids counts") {
  std::vector<double> squares(3 * lanes, 2.0);
  for (std::size_t l = 0; l < lanes; ++l) squares[(l % 3) * lanes + l] = l % 2 ? 1.0 : 2.0;
  const std::int32_t slots[3] = {2, 0, 1};
  const std::int64_t expected_slot[3] = {1, 2, 0};
  for (const auto* table : variants()) {
    double best[lanes];
    std::int64_t index[lanes];
    table->nearest(squares.data(), slots, 3, best, index);
    for (std::size_t l = 0; l < lanes; ++l) {
      REQUIRE(best[l] == (l % 2 ? 1.0 : 2.0));
      REQUIRE(index[l] == (l % 2 ? expected_slot[l % 3] : 0));
    }
  }
}

TEST_CASE("sums of distances are exact") {
  const kernels::FixedPoint fixed{0x1p30, 0x1p30};
  const auto values = groups_of(lanes, 1, 1, 0, 5);
  for (const auto* table : variants()) {
    std::vector<double> high(lanes, 0.0), low(lanes, 0.0), distances(values);
    for (double& value : distances) value = std::abs(value);
    table->root(distances.data(), lanes);
    double largest = 0;
    for (int i = 0; i < 3; ++i) largest = table->accumulate(distances.data(), fixed, high.data(), low.data());
    double expected_largest = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
      const double distance = std::sqrt(std::abs(values[l]));
      REQUIRE(distances[l] == distance);
      expected_largest = std::max(expected_largest, distance);
      REQUIRE(high[l] == std::trunc(high[l]));
      REQUIRE(low[l] == std::trunc(low[l]));
      REQUIRE(std::abs(static_cast<long double>(high[l]) * 0x1p-30L + static_cast<long double>(low[l]) * 0x1p-60L -
                       3 * static_cast<long double>(distance)) < 0x1p-58L);
    }
    REQUIRE(largest == expected_largest);
  }
}

TEST_CASE("what a swap changes is the difference of two costs") {
  const std::size_t n = 37, k = 3;
  const auto objects = groups_of(n, 4, 3, 3, 6);
  std::vector<double> distances(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t c = 0; c < 4; ++c) sum += (objects[i * 4 + c] - objects[j * 4 + c]) * (objects[i * 4 + c] - objects[j * 4 + c]);
      distances[i * n + j] = std::sqrt(sum);
    }
  const std::size_t medoids[k] = {4, 9, 30};
  const auto cost = [&](const std::size_t* of) {
    double total = 0;
    for (std::size_t j = 0; j < n; ++j)
      total += std::min({distances[j * n + of[0]], distances[j * n + of[1]], distances[j * n + of[2]]});
    return total;
  };
  std::vector<std::int32_t> nearest(n), order;
  std::vector<double> first(n), second(n), loss(k, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    std::size_t by[k] = {0, 1, 2};
    std::sort(by, by + k, [&](std::size_t a, std::size_t b) { return distances[j * n + medoids[a]] < distances[j * n + medoids[b]]; });
    nearest[j] = static_cast<std::int32_t>(by[0]);
    first[j] = distances[j * n + medoids[by[0]]];
    second[j] = distances[j * n + medoids[by[1]]];
    loss[by[0]] += second[j] - first[j];
  }
  for (std::int32_t slot = 0; slot < 3; ++slot)
    for (std::size_t j = 0; j < n; ++j)
      if (nearest[j] == slot) order.push_back(static_cast<std::int32_t>(j));
  std::vector<std::vector<double>> all;
  for (const auto* table : variants()) {
    std::vector<double> shared(kernels::swap_width, 0.0), removal(k * kernels::swap_width, 0.0);
    for (std::size_t slot = 0; slot < k; ++slot) std::fill_n(removal.data() + slot * kernels::swap_width, n, loss[slot]);
    table->swap_changes({distances.data(), n, n, order.data(), nearest.data(), first.data(), second.data()}, 0, n,
                        shared.data(), removal.data());
    for (std::size_t h = 0; h < n; ++h)
      for (std::size_t slot = 0; slot < k; ++slot) {
        std::size_t swapped[k] = {medoids[0], medoids[1], medoids[2]};
        swapped[slot] = h;
        REQUIRE(std::abs(shared[h] + removal[slot * kernels::swap_width + h] - (cost(swapped) - cost(medoids))) < 1e-12);
      }
    all.push_back(shared);
    all.back().insert(all.back().end(), removal.begin(), removal.end());
    REQUIRE(all.back() == all.front());
  }
}
