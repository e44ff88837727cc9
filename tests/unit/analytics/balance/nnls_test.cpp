#include "analytics/balance/nnls.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <random>

using namespace effort::balance;
using Catch::Approx;

namespace {

// Reference: projected coordinate descent on the normal equations, run to convergence.
std::vector<double> reference(const NormalEquations& e) {
  double trace = 0;
  for (int i = 0; i < e.n; ++i) trace += e.xx[static_cast<std::size_t>(i) * e.n + i];
  std::vector<double> x(static_cast<std::size_t>(e.n), 0.0);
  for (int round = 0; round < 200000; ++round)
    for (int i = 0; i < e.n; ++i) {
      double g = e.xy[i];
      for (int j = 0; j < e.n; ++j) g -= e.xx[static_cast<std::size_t>(i) * e.n + j] * x[j];
      x[i] = std::max(0.0, x[i] + g / e.xx[static_cast<std::size_t>(i) * e.n + i]);
    }
  return trace > 0 ? x : std::vector<double>(x.size(), 0.0);
}

}  // namespace

TEST_CASE("nnls agrees with coordinate descent on random problems", "[balance]") {
  std::mt19937 engine(1);
  std::normal_distribution<double> normal;
  for (int problem = 0; problem < 20; ++problem) {
    const int n = 2 + problem % 4;
    NormalEquations e(n);
    std::vector<double> x(static_cast<std::size_t>(n));
    for (int row = 0; row < 40; ++row) {
      double y = normal(engine);
      for (int i = 0; i < n; ++i) {
        x[i] = std::fabs(normal(engine)) + 0.1;
        y += (i % 3 == 0 ? -0.5 : 1.0) * x[i];
      }
      e.add(x, y, 1.0);
    }
    const NonNegativeFit fit = nnls(e);
    const std::vector<double> expected = reference(e);
    for (int i = 0; i < n; ++i) CHECK(fit.x[i] == Approx(expected[i]).margin(1e-7));
  }
}

TEST_CASE("errors cover the truth even if noise reduces one of two similar columns to zero", "[balance]") {
  std::mt19937 engine(3);
  std::normal_distribution<double> normal;
  constexpr int draws = 500;
  const double truth[2] = {1.0, 2.0};
  int at_zero = 0, covered[2] = {0, 0};
  for (int draw = 0; draw < draws; ++draw) {
    NormalEquations e(2);
    for (int row = 0; row < 60; ++row) {
      const double a = 10 + normal(engine), b = a * (1 + 0.02 * normal(engine));
      const double y = truth[0] * a + truth[1] * b;
      e.add(std::vector<double>{a, b}, y * (1 + 0.1 * normal(engine)), 1 / (y * y));
    }
    const NonNegativeFit fit = nnls(e);
    CHECK_FALSE(fit.collinear);
    at_zero += fit.x[0] <= 0 || fit.x[1] <= 0;
    for (int i = 0; i < 2; ++i) covered[i] += std::fabs(fit.x[i] - truth[i]) <= 1.96 * fit.error[i];
  }
  INFO("at zero " << at_zero << ", covered " << covered[0] << " " << covered[1]);
  CHECK(at_zero > 0.2 * draws);
  for (const int c : covered) CHECK(c >= 0.90 * draws);
}

TEST_CASE("collinear columns are named and the others fitted", "[balance]") {
  NormalEquations e(4);
  for (int row = 0; row < 30; ++row) {
    const double a = 1 + row % 5, b = 2 + row % 7;
    e.add(std::vector<double>{a, 2 * a, b, 0.0}, 3 * a + 5 * b, 1.0);
  }
  const NonNegativeFit fit = nnls(e);
  CHECK(fit.collinear);
  CHECK(fit.x[0] == -1);
  CHECK(fit.x[1] == -1);
  CHECK(fit.x[2] == Approx(5.0));
  CHECK(fit.x[3] == -1);
}

TEST_CASE("numbers that are not finite are refused", "[balance]") {
  NormalEquations e(1);
  e.xy[0] = std::nan("");
  CHECK_THROWS_AS(nnls(e), std::invalid_argument);
}
