// Estimates of totals: unbiased, and with intervals that hold the truth of whole populations as often as promised.
#include "analytics/sampling/estimate.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>

#include "analytics/sampling/draw.hpp"
#include "analytics/sampling/sample_size.hpp"

using namespace effort::sampling;
using Catch::Approx;

namespace {

/// A population in strata: values[h] are those of the members of stratum h.
using Population = std::vector<std::vector<double>>;

double total_of(const Population& population) {
  double sum = 0;
  for (const auto& stratum : population) sum = std::accumulate(stratum.begin(), stratum.end(), sum);
  return sum;
}

std::vector<std::int64_t> sizes_of(const Population& population) {
  std::vector<std::int64_t> sizes;
  for (const auto& stratum : population) sizes.push_back(static_cast<std::int64_t>(stratum.size()));
  return sizes;
}

/// An estimate from a drawn sample, given by the draw's number.
using Sampled = std::function<Estimate(int draw)>;

/// The results of an estimator over many draws, compared with the truth.
struct Record {
  double bias = 0;      ///< of the mean estimate, in standard errors of that mean
  double coverage = 0;  ///< share of draws whose interval at 90 % holds the truth
  double width = 0;     ///< mean half-width
  double honesty = 0;   ///< mean estimated variance over the variance of the estimates
};

Record judge(double truth, int draws, const Sampled& sampled) {
  double sum = 0, squares = 0, variance = 0;
  Record out;
  for (int i = 0; i < draws; ++i) {
    const Estimate estimate = sampled(i);
    const double half = estimate.half_width(0.90), away = estimate.total - truth;
    sum += away;
    squares += away * away;
    variance += estimate.variance / draws;
    out.width += half / draws;
    out.coverage += (std::abs(away) <= half * (1 + 1e-12) + 1e-9 ? 1.0 : 0.0) / draws;
  }
  const double mean = sum / draws, scatter = std::sqrt(squares / draws - mean * mean);
  out.bias = scatter > 0 ? mean / (scatter / std::sqrt(draws)) : mean;
  out.honesty = scatter > 0 ? variance / (scatter * scatter) : 1;
  return out;
}

/// Simple random samples of the given sizes from the strata.
Estimate draw_from(const Population& population, const std::vector<std::int64_t>& sample, int draw) {
  std::vector<Unit> units;
  std::vector<double> values;
  for (std::size_t h = 0; h < population.size(); ++h) {
    const auto size = static_cast<std::int64_t>(population[h].size());
    const auto chosen = draw_without_replacement(size, sample[h], 99, static_cast<std::uint64_t>(draw) * 64 + h);
    for (const std::int32_t i : chosen) {
      units.push_back({static_cast<std::int32_t>(h), static_cast<double>(sample[h]) / static_cast<double>(size)});
      values.push_back(population[h][static_cast<std::size_t>(i)]);
    }
  }
  return Draw(sizes_of(population), units).total(values);
}

Population normal_strata(const std::vector<int>& sizes, double apart, double deviation, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise;
  Population out;
  for (std::size_t h = 0; h < sizes.size(); ++h) {
    out.emplace_back();
    for (int i = 0; i < sizes[h]; ++i)
      out.back().push_back(100 + apart * static_cast<double>(h) + deviation * noise(random));
  }
  return out;
}

}  // namespace

TEST_CASE("Student's t, from tables") {
  CHECK(student_quantile(0.90, 1) == Approx(6.313751514675).epsilon(1e-9));
  CHECK(student_quantile(0.95, 2) == Approx(4.302652729696).epsilon(1e-9));
  CHECK(student_quantile(0.99, 5) == Approx(4.032142983556).epsilon(1e-9));
  CHECK(student_quantile(0.95, 30) == Approx(2.042272456301).epsilon(1e-9));
  CHECK(student_quantile(0.90, 1e7) == normal_quantile(0.90));
  CHECK(student_quantile(0.90, 9e5) == Approx(normal_quantile(0.90)).epsilon(1e-5));
  CHECK(student_quantile(0.90, 0.5) > student_quantile(0.90, 1));
  CHECK_THROWS_AS(student_quantile(0.9, 0), std::invalid_argument);
  CHECK_THROWS_AS(student_quantile(1, 5), std::invalid_argument);
}

TEST_CASE("a stratified total, by hand") {
  // 4 of 8: mean 3, s^2 = 20/3; 2 of 2: total 7.  Variance 64 x 1/2 x (20/3) / 4.
  const Draw draw({8, 2}, {{0, 0.5}, {0, 0.5}, {0, 0.5}, {0, 0.5}, {1, 1}, {1, 1}});
  const Estimate estimate = draw.total(std::vector<double>{0, 2, 4, 6, 3, 4});
  CHECK(estimate.total == Approx(31));
  CHECK(estimate.variance == Approx(160.0 / 3));
  CHECK(estimate.half_width(0.9) == Approx(student_quantile(0.9, 3) * std::sqrt(160.0 / 3)));
  CHECK(draw.population() == 10);
  CHECK(draw.covered() == 10);
}

TEST_CASE("ranks that were all drawn, or are all alike, leave no error") {
  const Draw all({3}, {{0, 1}, {0, 1}, {0, 1}});
  CHECK(all.total(std::vector<double>{1, 5, 9}).total == 15);
  CHECK(all.total(std::vector<double>{1, 5, 9}).half_width(0.99) == 0);
  const Draw alike({300}, {{0, 0.01}, {0, 0.01}, {0, 0.01}});
  CHECK(alike.total(std::vector<double>{7, 7, 7}).total == Approx(2100));
  CHECK(alike.total(std::vector<double>{7, 7, 7}).half_width(0.9) == 0);
}

TEST_CASE("unbiased and honest over many draws") {
  const std::vector<std::pair<std::vector<int>, std::vector<std::int64_t>>> designs = {
      {{200}, {10}}, {{40, 400, 60}, {4, 12, 6}}, {{3, 30, 300}, {3, 2, 5}}, {{25, 25, 25, 25}, {2, 2, 2, 2}}};
  for (const auto& design : designs) {
    const std::vector<int>& sizes = design.first;
    const std::vector<std::int64_t>& sample = design.second;  // no structured binding: Clang 14 cannot capture one
    for (const double apart : {0.0, 50.0}) {
      const Population population = normal_strata(sizes, apart, 10, sizes.size());
      const Record record =
          judge(total_of(population), 4000, [&](int draw) { return draw_from(population, sample, draw); });
      CAPTURE(sizes.size(), apart, record.coverage, record.width, record.honesty);
      CHECK(std::abs(record.bias) < 4);  // standard errors: 1 of 15,000
      CHECK(record.honesty == Approx(1).margin(0.12));
      CHECK(record.coverage > 0.88);
      CHECK(record.coverage < 0.97);  // two ranks a stratum: the effective degrees of freedom err on the safe side
    }
  }
}

TEST_CASE("draws of random size: every rank with its own probability") {
  // Inclusion probabilities that differ within a stratum, independent: the estimator weighs by their inverse.
  const Population population = normal_strata({400}, 0, 10, 5);
  std::vector<double> probability;
  for (int i = 0; i < 400; ++i) probability.push_back(i % 2 == 0 ? 0.05 : 0.15);
  for (const bool equal : {true, false}) {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> uniform(0, 1);
    const Record record = judge(total_of(population), 4000, [&](int) {
      std::vector<Unit> units;
      std::vector<double> values;
      while (units.size() < 2) {
        units.clear(), values.clear();
        for (std::size_t i = 0; i < 400; ++i) {
          const double p = equal ? 0.08 : probability[i];
          if (uniform(random) >= p) continue;
          units.push_back({0, p});
          values.push_back(population[0][i] + (equal ? 0 : 20.0 * static_cast<double>(i % 2)));
        }
      }
      Estimate estimate = Draw({400}, units).total(values);
      if (!equal) estimate.total -= 200 * 20.0;
      return estimate;
    });
    CAPTURE(equal, record.coverage, record.honesty);
    // A ratio of two estimates is biased by about 1/n of its deviation: 6 standard errors of 4,000 draws are a tenth.
    CHECK(std::abs(record.bias) < (equal ? 4 : 6));
    CHECK(record.honesty == Approx(1).margin(0.12));
    CHECK(record.coverage > 0.88);
  }
}

TEST_CASE("single ranks of strata: collapsed, on the safe side") {
  const Population population = normal_strata({30, 40, 50, 35, 45}, 1, 10, 3);
  const auto one_each = [&](int draw) { return draw_from(population, {1, 1, 1, 1, 1}, draw); };
  const Record collapsed = judge(total_of(population), 4000, one_each);
  CHECK(std::abs(collapsed.bias) < 4);
  CHECK(collapsed.coverage > 0.88);
  const Record joined = judge(total_of(population), 4000, [&](int draw) {
    return draw_from(population, {1, 4, 5, 4, 5}, draw);
  });
  CHECK(std::abs(joined.bias) < 4);
  CHECK(joined.coverage > 0.87);
  const Estimate lone = Draw({10}, {{0, 0.1}}).total(std::vector<double>{4});
  CHECK(lone.total == Approx(40));
  CHECK(lone.half_width(0.9) < 0);  // unknown
}

TEST_CASE("lost ranks: the others stand for them") {
  const Population population = normal_strata({100, 200}, 40, 10, 8);
  std::mt19937_64 random(2);
  const Record record = judge(total_of(population), 4000, [&](int draw) {
    std::vector<Unit> units;
    std::vector<double> values;
    for (std::size_t h = 0; h < 2; ++h) {
      const auto size = static_cast<std::int64_t>(population[h].size());
      const auto chosen = draw_without_replacement(size, 10, 7, static_cast<std::uint64_t>(draw) * 2 + h);
      for (const std::int32_t i : chosen) {
        if (units.size() > 3 + 10 * h && random() % 4 == 0) continue;
        units.push_back({static_cast<std::int32_t>(h), 10 / static_cast<double>(size)});
        values.push_back(population[h][static_cast<std::size_t>(i)]);
      }
    }
    return Draw(sizes_of(population), units).total(values);
  });
  CAPTURE(record.coverage, record.honesty);
  CHECK(std::abs(record.bias) < 4);
  CHECK(record.coverage > 0.88);
  // A stratum without any remaining rank is given the others' mean.
  const Draw part({60, 40}, {{0, 0.1}, {0, 0.1}});
  CHECK(part.covered() == 60);
  CHECK(part.total(std::vector<double>{3, 3}).total == Approx(300));
  CHECK(Draw({60}, {}).total({}).half_width(0.9) < 0);
}

TEST_CASE("calibrated parts add up to the known total, and their intervals are narrower and cover the truth") {
  // Both parts are proportional to the rank's total, so the sample determines their shares more precisely than the
  // parts.
  const Population all = normal_strata({60, 120, 20}, 50, 30, 6);
  Population first = all;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> share(0.25, 0.35);
  for (auto& stratum : first)
    for (double& value : stratum) value *= share(random);
  const double known = total_of(all), truth = total_of(first);
  const auto drawn = [&](int draw, bool calibrated) {
    std::vector<Unit> units;
    std::vector<double> parts[2];
    for (std::size_t h = 0; h < all.size(); ++h) {
      const auto size = static_cast<std::int64_t>(all[h].size());
      for (const std::int32_t i : draw_without_replacement(size, 5, 17, static_cast<std::uint64_t>(draw) * 8 + h)) {
        const auto at = static_cast<std::size_t>(i);
        units.push_back({static_cast<std::int32_t>(h), 5 / static_cast<double>(size)});
        parts[0].push_back(first[h][at]);
        parts[1].push_back(all[h][at] - first[h][at]);
      }
    }
    const Draw sample(sizes_of(all), units);
    const std::span<double> both[] = {parts[0], parts[1]};
    if (calibrated) {
      REQUIRE(sample.calibrate(known, both));
      CHECK(sample.total(parts[0]).total + sample.total(parts[1]).total == Approx(known));
    }
    return sample.total(parts[0]);
  };
  const Record plain = judge(truth, 3000, [&](int draw) { return drawn(draw, false); });
  const Record calibrated = judge(truth, 3000, [&](int draw) { return drawn(draw, true); });
  CAPTURE(plain.width, calibrated.width, calibrated.coverage, calibrated.honesty, calibrated.bias);
  CHECK(calibrated.width < 0.5 * plain.width);
  CHECK(std::abs(calibrated.bias) < 6);  // a ratio of estimates
  CHECK(calibrated.honesty == Approx(1).margin(0.15));
  CHECK(calibrated.coverage > 0.87);
}

TEST_CASE("a single part gets the whole known total; nothing changes if no sampled unit has any part") {
  const Draw draw({8, 2}, {{0, 0.5}, {0, 0.5}, {0, 0.5}, {0, 0.5}, {1, 1}});
  std::vector<double> only{0, 2, 4, 6, 3}, none(5), some{1, 0, 0, 0, 1};
  const std::span<double> one[] = {only};
  REQUIRE(draw.calibrate(50, one));
  CHECK(draw.total(only).total == Approx(50));
  CHECK(draw.total(only).half_width(0.99) == 0);
  const std::span<double> nothing[] = {none};
  CHECK_FALSE(draw.calibrate(50, nothing));
  CHECK(draw.total(none).total == 0);
  const std::span<double> with_nothing[] = {some, none};
  REQUIRE(draw.calibrate(0, with_nothing));
  CHECK(draw.total(some).total == 0);
}

TEST_CASE("estimates of independent draws add up") {
  const Population population = normal_strata({50, 80}, 30, 10, 4);
  const Record record = judge(5 * total_of(population), 2000, [&](int draw) {
    Estimate sum;
    for (int window = 0; window < 5; ++window) sum += draw_from(population, {3, 4}, 5 * draw + window);
    return sum;
  });
  CHECK(std::abs(record.bias) < 4);
  CHECK(record.coverage > 0.88);
  CHECK(record.coverage < 0.93);
}

TEST_CASE("the judge detects wrong estimators") {
  const Population population = normal_strata({40, 400, 60}, 50, 10, 3);
  const double truth = total_of(population);
  const auto right = [&](int draw) { return draw_from(population, {4, 12, 6}, draw); };
  const Record unstratified = judge(truth, 1000, [&](int draw) {
    // The sample's mean without regard to strata.
    Estimate estimate = right(draw);
    const Population& p = population;
    double sum = 0;
    for (std::size_t h = 0; h < 3; ++h) {
      const std::int64_t n = std::vector<std::int64_t>{4, 12, 6}[h];
      for (const std::int32_t i : draw_without_replacement(static_cast<std::int64_t>(p[h].size()), n, 99,
                                                           static_cast<std::uint64_t>(draw) * 64 + h))
        sum += p[h][static_cast<std::size_t>(i)];
    }
    estimate.total = 500 * sum / 22;
    return estimate;
  });
  CHECK(std::abs(unstratified.bias) > 10);
  const Record narrow = judge(truth, 1000, [&](int draw) {
    Estimate estimate = right(draw);
    estimate.variance /= 4;
    estimate.scatter /= 16;
    return estimate;
  });
  CHECK(narrow.coverage < 0.75);
  CHECK(narrow.honesty < 0.5);
  const Record wide = judge(truth, 1000, [&](int draw) {
    Estimate estimate = right(draw);
    estimate.variance *= 4;
    estimate.scatter *= 16;
    return estimate;
  });
  CHECK(wide.coverage > 0.98);
}

TEST_CASE("bad input is refused") {
  CHECK_THROWS_AS(Draw({5}, {{1, 0.5}}), std::invalid_argument);
  CHECK_THROWS_AS(Draw({5}, {{-1, 0.5}}), std::invalid_argument);
  CHECK_THROWS_AS(Draw({5}, {{0, 0}}), std::invalid_argument);
  CHECK_THROWS_AS(Draw({5}, {{0, 1.5}}), std::invalid_argument);
  CHECK_THROWS_AS(Draw({1}, {{0, 1}, {0, 1}}), std::invalid_argument);
  CHECK_THROWS_AS(Draw({5}, {{0, 0.2}}).total(std::vector<double>{1, 2}), std::invalid_argument);
}
