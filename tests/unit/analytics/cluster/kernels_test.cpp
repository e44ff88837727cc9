// All variants of the kernels give the same bits, those of a plain loop.
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/single_distances.hpp"

#include "sets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
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
          sum = std::fma(difference, difference, sum);
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

TEST_CASE("objects go to the first of several nearest medoids") {
  std::vector<double> squares(3 * lanes, 4.0);
  for (std::size_t l = 0; l < lanes; ++l) squares[(l % 3) * lanes + l] = l % 2 ? 1.0 : 4.0;
  const std::int32_t slots[3] = {2, 0, 1};
  const std::uint16_t expected_slot[3] = {1, 2, 0};
  for (const auto* table : variants())
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, lanes}) {
      std::vector<double> high(lanes, 0.0), low(lanes, 0.0);
      std::vector<std::int64_t> sizes(3 * lanes, 0);
      std::vector<std::uint16_t> labels(lanes, 99);
      const double largest = table->assign(squares.data(), slots, 3, count, {1, 1},
                                           {high.data(), low.data(), sizes.data()}, labels.data());
      REQUIRE(largest == 2);
      for (std::size_t l = 0; l < lanes; ++l) {
        const bool there = l < count;
        const int expected = l % 2 ? expected_slot[l % 3] : 0;
        REQUIRE(labels[l] == (there ? expected : 99));
        REQUIRE(high[l] == (!there ? 0.0 : l % 2 ? 1.0 : 2.0));
        for (int slot = 0; slot < 3; ++slot)
          REQUIRE(sizes[static_cast<std::size_t>(slot) * lanes + l] == (there && slot == expected));
      }
    }
}

TEST_CASE("sums of distances are exact") {
  const kernels::FixedPoint fixed{0x1p30, 0x1p30};
  auto squares = groups_of(lanes, 1, 1, 0, 5);
  for (double& value : squares) value = std::abs(value);
  const std::int32_t slot = 0;
  for (const auto* table : variants()) {
    std::vector<double> high(lanes, 0.0), low(lanes, 0.0);
    std::vector<std::int64_t> sizes(lanes, 0);
    std::vector<std::uint16_t> labels(lanes);
    double largest = 0;
    for (int i = 0; i < 3; ++i)
      largest =
          table->assign(squares.data(), &slot, 1, lanes, fixed, {high.data(), low.data(), sizes.data()}, labels.data());
    double expected_largest = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
      const double distance = std::sqrt(squares[l]);
      expected_largest = std::max(expected_largest, distance);
      REQUIRE(sizes[l] == 3);
      REQUIRE(high[l] == std::trunc(high[l]));
      REQUIRE(low[l] == std::trunc(low[l]));
      REQUIRE(std::abs(static_cast<long double>(high[l]) * 0x1p-30L + static_cast<long double>(low[l]) * 0x1p-60L -
                       3 * static_cast<long double>(distance)) < 0x1p-58L);
    }
    REQUIRE(largest == expected_largest);
  }
}

TEST_CASE("the two nearest of several columns, the first of equals, and the bound where there is no second") {
  const std::size_t rows = GENERATE(1, 7, 16, 37), k = GENERATE(1, 2, 5);
  Uniform uniform(8);
  std::vector<double> columns;
  for (std::size_t i = 0; i < k * rows; ++i) columns.push_back(std::floor(4 * uniform()));
  const double bound = k == 1 ? 9 : std::numeric_limits<double>::max();
  for (const auto* table : variants()) {
    std::vector<double> first(rows), second(rows);
    std::vector<std::int32_t> nearest(rows);
    table->two_nearest(columns.data(), rows, k, bound, first.data(), second.data(), nearest.data());
    for (std::size_t j = 0; j < rows; ++j) {
      std::vector<double> row;
      for (std::size_t slot = 0; slot < k; ++slot) row.push_back(columns[slot * rows + j]);
      REQUIRE(nearest[j] == std::min_element(row.begin(), row.end()) - row.begin());
      row.push_back(bound);
      std::sort(row.begin(), row.end());
      REQUIRE(first[j] == row[0]);
      REQUIRE(second[j] == row[1]);
    }
  }
}

TEST_CASE("what a swap changes is the difference of two costs") {
  const std::size_t n = 37, k = 3;
  const auto objects = groups_of(n, 4, 3, 3, 6);
  std::vector<double> distances(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t c = 0; c < 4; ++c)
        sum += (objects[i * 4 + c] - objects[j * 4 + c]) * (objects[i * 4 + c] - objects[j * 4 + c]);
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
    std::sort(by, by + k, [&](std::size_t a, std::size_t b) {
      return distances[j * n + medoids[a]] < distances[j * n + medoids[b]];
    });
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
    for (std::size_t slot = 0; slot < k; ++slot)
      std::fill_n(removal.data() + slot * kernels::swap_width, n, loss[slot]);
    table->swap_changes({distances.data(), n, n, order.data(), nearest.data(), first.data(), second.data()}, 0, n,
                        shared.data(), removal.data());
    for (std::size_t h = 0; h < n; ++h)
      for (std::size_t slot = 0; slot < k; ++slot) {
        std::size_t swapped[k] = {medoids[0], medoids[1], medoids[2]};
        swapped[slot] = h;
        REQUIRE(std::abs(shared[h] + removal[slot * kernels::swap_width + h] - (cost(swapped) - cost(medoids))) <
                1e-12);
      }
    all.push_back(shared);
    all.back().insert(all.back().end(), removal.begin(), removal.end());
    REQUIRE(all.back() == all.front());
  }
}

TEST_CASE("distances in single precision are as near as promised") {
  const std::size_t n = GENERATE(17, 150), d = GENERATE(1, 7, 120, 700);
  for (const double shift : {0.0, 0.9}) {
    auto values = groups_of(n, d, 3, 0.2, 7);
    for (double& value : values) value = shift + value / 16;
    const KokkosWorkers<Kokkos::Serial> workers{Kokkos::Serial{}};
    const auto exact = all_distances(workers, {values, n, d});
    const auto found = all_distances_single(workers, {values, n, d});
    REQUIRE(found.relative < 1e-4);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const double distance = exact.row(i)[j], off = std::abs(static_cast<double>(found.table.row(i)[j]) - distance);
        REQUIRE(off <= found.relative * distance + found.absolute[i] + found.absolute[j]);
      }
  }
}

TEST_CASE("sums in single precision are near those in double precision, in every variant") {
  const std::size_t n = 45, k = 3, stride = 48;
  const auto distances = groups_of(n, stride, 2, 1, 9);
  std::vector<float> single(n * stride);
  std::vector<double> same(n * stride), nearest(n);  // what both start from
  for (std::size_t i = 0; i < single.size(); ++i) same[i] = single[i] = static_cast<float>(std::abs(distances[i]));
  for (std::size_t j = 0; j < n; ++j) nearest[j] = same[j * stride];
  std::vector<std::int32_t> slot(n), order;
  std::vector<double> second(n);
  for (std::int32_t s = 0; s < 3; ++s)
    for (std::size_t j = 0; j < n; ++j)
      if (static_cast<std::int32_t>(j) % 3 == s)
        order.push_back(static_cast<std::int32_t>(j)), slot[j] = s, second[j] = nearest[j] + 0.5;
  const std::size_t first = 3, width = 37;
  const auto near = [](const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(std::abs(a[i] - b[i]) < 1e-5);
  };
  for (const auto* table : variants()) {
    std::vector<double> a(width, 0.0), b(width, 0.0);
    table->sum_rows(same.data(), stride, n, first, width, a.data());
    table->sum_rows_single(single.data(), stride, n, first, width, b.data());
    near(a, b);
    table->build_gains(same.data(), stride, n, nearest.data(), first, width, a.data());
    table->build_gains_single(single.data(), stride, n, nearest.data(), first, width, b.data());
    near(a, b);
    std::vector<double> removal(k * kernels::swap_width, 0.0), removal_single(k * kernels::swap_width, 0.0);
    table->swap_changes({same.data(), stride, n, order.data(), slot.data(), nearest.data(), second.data()}, first,
                        width, a.data(), removal.data());
    const kernels::SwapRowsOf<float> rows{single.data(),  stride,       n, order.data(), slot.data(),
                                          nearest.data(), second.data()};
    table->swap_changes_single(rows, first, width, 1, b.data(), removal_single.data(), kernels::swap_width);
    near(a, b);
    near(removal, removal_single);
    table->swap_changes_single(rows, first, width, -1, b.data(), removal_single.data(), kernels::swap_width);
    near(removal_single, std::vector<double>(removal_single.size(), 0.0));
  }
}
