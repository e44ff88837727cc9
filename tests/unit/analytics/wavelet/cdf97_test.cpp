#include "analytics/wavelet/cdf97.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace effort::wavelet;
using Shape = std::pair<std::size_t, std::size_t>;

const std::vector<Shape> all_shapes{{1, 1}, {1, 2}, {2, 1}, {2, 2},   {3, 3},    {1, 37},  {41, 1},   {5, 7},
                                    {8, 8}, {4, 9}, {9, 4}, {31, 64}, {64, 150}, {100, 3}, {257, 130}};

std::vector<double> random_values(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(n);
  for (double& v : values) v = static_cast<double>(random() >> 11) * 0x1p-53 * 2 - 1;
  return values;
}

Levels deepest(Shape shape) { return {deepest_level(shape.first), deepest_level(shape.second)}; }

template <typename Space = Kokkos::Serial>
std::vector<double> transformed(std::vector<double> values, Shape shape, Levels levels) {
  forward(Space(), MatrixView(values.data(), shape.first, shape.second), levels);
  return values;
}

template <typename Space = Kokkos::Serial>
std::vector<double> restored(std::vector<double> values, Shape shape, Levels levels) {
  inverse(Space(), MatrixView(values.data(), shape.first, shape.second), levels);
  return values;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

double energy(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v * v;
  return sum;
}

}  // namespace

TEST_CASE("The inverse restores every shape and depth to 1e-12 of the range") {
  const Shape shape = GENERATE(from_range(all_shapes));
  const auto values = random_values(shape.first * shape.second, 3);
  const Levels most = deepest(shape);
  for (int rows = 0; rows <= most.rows; ++rows)
    for (int cols = 0; cols <= most.cols; ++cols) {
      const Levels levels{rows, cols};
      const auto back = restored(transformed(values, shape, levels), shape, levels);
      CAPTURE(shape.first, shape.second, rows, cols);
      CHECK(largest_difference(back, values) < 2e-12);
    }
}

TEST_CASE("The transform is linear") {
  const Shape shape{37, 70};
  const auto a = random_values(37 * 70, 1), b = random_values(37 * 70, 2);
  std::vector<double> sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] = 3 * a[i] - 2 * b[i];
  const auto ta = transformed(a, shape, deepest(shape)), tb = transformed(b, shape, deepest(shape));
  std::vector<double> expected(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) expected[i] = 3 * ta[i] - 2 * tb[i];
  CHECK(largest_difference(transformed(sum, shape, deepest(shape)), expected) < 1e-12);
}

TEST_CASE("The energy of noise stays near that of the values") {
  // The 9/7 pair is nearly orthonormal, so noise keeps its energy to a few per cent in the interior.
  const Shape shape{256, 300};
  const auto values = random_values(256 * 300, 5);
  const double ratio = energy(transformed(values, shape, {4, 4})) / energy(values);
  CHECK(ratio > 0.9);
  CHECK(ratio < 1.15);
}

TEST_CASE("A constant becomes one coefficient, sqrt(2) larger per halving") {
  const Shape shape{48, 100};
  const auto t = transformed(std::vector<double>(48 * 100, 2.5), shape, {3, 2});
  const std::size_t low_rows = low_length(48, 3), low_cols = low_length(100, 2);
  for (std::size_t i = 0; i < 48; ++i)
    for (std::size_t j = 0; j < 100; ++j) {
      const bool low = i < low_rows && j < low_cols;
      const double expected = low ? 2.5 * std::pow(2.0, 2.5) : 0.0;
      if (std::abs(t[i * 100 + j] - expected) > 1e-12)
        FAIL("coefficient " << i << ", " << j << " is " << t[i * 100 + j]);
    }
}

TEST_CASE("Cubic trends vanish from the interior of the high bands") {
  // The analysis high-pass has four vanishing moments (Daubechies 1992, 8.3).
  std::vector<double> values(64);
  for (std::size_t i = 0; i < 64; ++i) values[i] = std::pow(static_cast<double>(i) / 16 - 1, 3);
  const auto t = transformed(values, {1, 64}, {0, 1});
  for (std::size_t i = 34; i < 61; ++i) CHECK(std::abs(t[i]) < 1e-12);
}

TEST_CASE("Deeper levels change only the low band") {
  const Shape shape{45, 83};
  const auto values = random_values(45 * 83, 9);
  const auto shallow = transformed(values, shape, {2, 2}), deep = transformed(values, shape, {4, 4});
  const std::size_t rows = low_length(45, 2), cols = low_length(83, 2);
  for (std::size_t i = 0; i < 45; ++i)
    for (std::size_t j = 0; j < 83; ++j)
      if (i >= rows || j >= cols) REQUIRE(shallow[i * 83 + j] == deep[i * 83 + j]);
}

TEST_CASE("The transform from one matrix to another gives the same bits as in place") {
  const Shape shape{70, 90};
  auto values = random_values(70 * 90, 11);
  const auto original = values;
  std::vector<double> out(values.size()), back(values.size());
  forward(Kokkos::Serial(), ConstMatrixView(values.data(), 70, 90), MatrixView(out.data(), 70, 90), deepest(shape));
  CHECK(values == original);
  CHECK(out == transformed(values, shape, deepest(shape)));
  const auto expected = restored(out, shape, deepest(shape));
  inverse(Kokkos::Serial(), MatrixView(out.data(), 70, 90), MatrixView(back.data(), 70, 90), deepest(shape));
  CHECK(back == expected);
}

TEST_CASE("All spaces give the same bits") {
  const Shape shape = GENERATE(Shape{64, 150}, Shape{513, 40}, Shape{7, 900});
  const auto values = random_values(shape.first * shape.second, 13);
  const auto serial = transformed(values, shape, deepest(shape));
  using Other = Kokkos::DefaultHostExecutionSpace;
  CHECK(transformed<Other>(values, shape, deepest(shape)) == serial);
  CHECK(restored<Other>(serial, shape, deepest(shape)) == restored(serial, shape, deepest(shape)));
}

TEST_CASE("Synthesis norms are those of the inverse transform's basis functions") {
  const std::size_t n = 4096;
  for (int level = 1; level <= 6; ++level)
    for (const bool high : {false, true}) {
      std::vector<double> unit(n);
      const std::size_t length = low_length(n, level);
      unit[(high ? length : 0) + length / 2] = 1;
      const auto basis = restored(unit, {1, n}, {0, level});
      CHECK_THAT(std::sqrt(energy(basis)), Catch::Matchers::WithinRel(synthesis_norm(level, high), 1e-12));
    }
}

TEST_CASE("Lengths and depths") {
  CHECK(deepest_level(0) == 0);
  CHECK(deepest_level(1) == 0);
  CHECK(deepest_level(2) == 1);
  CHECK(deepest_level(200) == 8);
  CHECK(deepest_level(16384) == 14);
  CHECK(low_length(200, 3) == 25);
  CHECK(low_length(25, 2) == 7);
  CHECK(low_length(5, 60) == 1);
  CHECK(low_length(0, 3) == 0);
}

TEST_CASE("Invalid levels are refused") {
  std::vector<double> values(12);
  const MatrixView view(values.data(), 3, 4);
  CHECK_THROWS_AS(forward(Kokkos::Serial(), view, Levels{3, 0}), std::invalid_argument);
  CHECK_THROWS_AS(forward(Kokkos::Serial(), view, Levels{0, 3}), std::invalid_argument);
  CHECK_THROWS_AS(inverse(Kokkos::Serial(), view, Levels{-1, 0}), std::invalid_argument);
  const MatrixView empty(values.data(), 0, 4);
  CHECK_NOTHROW(forward(Kokkos::Serial(), empty, Levels{0, 2}));
}
