// The sample keeps its promise, and the ranks of interest are found.
#include "analytics/sampling/kept_ranks.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace effort::sampling;

namespace {

constexpr std::int64_t plenty = 1'000'000'000;

/// Loads of `n` ranks in strata of increasing means.
struct Population {
  std::vector<double> load;
  std::vector<std::int32_t> stratum, medoids;
  Population(int n, int strata, double spread, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0.0, 1.0);
    medoids.assign(static_cast<std::size_t>(strata), 0);
    for (int r = 0; r < n; ++r) {
      const int h = static_cast<int>(static_cast<std::int64_t>(r) * strata / n);
      stratum.push_back(h);
      medoids[static_cast<std::size_t>(h)] = r;
      load.push_back(std::max(0.0, (1.0 + h) * (1 + spread * noise(random))));
    }
  }
  WindowFacts facts() const {
    WindowFacts w;
    w.load = load;
    w.stratum = stratum;
    w.strata = static_cast<int>(medoids.size());
    w.medoids = medoids;
    return w;
  }
  double mean() const { return std::accumulate(load.begin(), load.end(), 0.0) / static_cast<double>(load.size()); }
};

KeptRanks choose(const WindowFacts& w, const Accuracy& accuracy, std::int64_t affordable) {
  const Target load{w.load, accuracy};
  return choose_ranks(w, std::span(&load, 1), {}, affordable);
}

/// The mean load as a reader of the trace estimates it (Horvitz and Thompson 1952).
double estimate(const Population& p, const KeptRanks& kept) {
  double sum = 0;
  for (const auto& k : kept.ranks)
    if (k.reasons & reason_sample) sum += p.load[static_cast<std::size_t>(k.rank)] / k.probability;
  return sum / static_cast<double>(p.load.size());
}

const KeptRanks::Rank* find(const KeptRanks& kept, std::int32_t rank) {
  for (const auto& k : kept.ranks)
    if (k.rank == rank) return &k;
  return nullptr;
}

bool has(const KeptRanks& kept, std::int32_t rank, Reason reason) {
  const auto* k = find(kept, rank);
  return k && (k->reasons & reason);
}

}  // namespace

TEST_CASE("estimates from the sample are unbiased and as accurate as promised") {
  struct Case {
    int n, strata;
    double spread, confidence, error;
  };
  for (const Case& c : {Case{64, 1, 0.3, 0.90, 0.08}, Case{64, 4, 0.3, 0.90, 0.08}, Case{1024, 3, 0.5, 0.95, 0.05},
                        Case{4096, 10, 0.8, 0.99, 0.03}}) {
    const Population p(c.n, c.strata, c.spread, 7);
    WindowFacts w = p.facts();
    constexpr int draws = 400;
    int good = 0;
    double sum = 0;
    for (w.window = 0; w.window < draws; ++w.window) {
      const KeptRanks kept = choose(w, {c.confidence, c.error}, plenty);
      REQUIRE(kept.reached.error <= c.error * (1 + 1e-9));
      const double e = estimate(p, kept);
      sum += e;
      good += std::fabs(e / p.mean() - 1) <= c.error;
    }
    // Three standard deviations of a binomial count, and of a mean of `draws` estimates.
    const double least = c.confidence - 3 * std::sqrt(c.confidence * (1 - c.confidence) / draws);
    CHECK(static_cast<double>(good) / draws >= least);
    CHECK_THAT(sum / draws / p.mean(), Catch::Matchers::WithinAbs(1.0, 3 * c.error / std::sqrt(double{draws})));
  }
}

TEST_CASE("a rank of huge load is taken whole, so that the others need a small sample") {
  Population p(2048, 3, 0.05, 13);
  p.load[700] = 300;  // a tenth of all, in a stratum around 2
  WindowFacts w = p.facts();
  const auto unified = static_cast<std::size_t>(plan_samples(p.load, p.load.size(), 1, {}, 1, {}).unified);
  constexpr int draws = 400;
  int good = 0;
  for (w.window = 0; w.window < draws; ++w.window) {
    const KeptRanks kept = choose(w, {}, plenty);
    CHECK(kept.ranks.size() < unified / 20);
    REQUIRE(has(kept, 700, reason_sample));
    CHECK(find(kept, 700)->probability == 1);
    CHECK(kept.strata.back().sample == kept.strata.back().population);
    for (const auto& k : kept.ranks) {
      const auto& stratum = kept.strata.at(static_cast<std::size_t>(k.stratum));
      CHECK(k.probability == static_cast<double>(stratum.sample) / stratum.population);
    }
    good += std::fabs(estimate(p, kept) / p.mean() - 1) <= 0.08;
  }
  CHECK(static_cast<double>(good) / draws >= 0.90 - 3 * std::sqrt(0.9 * 0.1 / draws));
  w.window = 0;
  const KeptRanks few = choose(w, {}, 12);
  CHECK(few.ranks.size() <= 12);
  CHECK(few.reached.error > 0);
}

TEST_CASE("ranks are the same for every call, and others in another window") {
  const Population p(256, 3, 0.4, 1);
  WindowFacts w = p.facts();
  const auto ranks = [&] {
    std::vector<std::int32_t> out;
    for (const auto& k : choose(w, {}, plenty).ranks) out.push_back(k.rank);
    return out;
  };
  const auto first = ranks();
  CHECK(std::is_sorted(first.begin(), first.end()));
  CHECK(first == ranks());
  w.window = 1;
  CHECK(first != ranks());
}

TEST_CASE("outliers of strata of which only some ranks are compared are found, and no others") {
  Population p(20'000, 3, 0.01, 4);
  p.load[1] = p.load[9'999] = 0.5;
  const KeptRanks kept = choose(p.facts(), {}, plenty);
  CHECK(has(kept, 1, reason_outlier));
  CHECK(has(kept, 9'999, reason_outlier));
  for (const auto& k : kept.ranks) {
    const auto r = static_cast<std::size_t>(k.rank);
    if (k.reasons & reason_outlier) CHECK(std::fabs(p.load[r] / (1 + p.stratum[r]) - 1) > 0.03);
  }
}

TEST_CASE("medoids, the critical rank, outliers and pinned ranks are kept, and do not change the sample") {
  Population p(200, 2, 0.01, 3);
  p.load[150] = 3;   // in a stratum around 2
  p.load[20] = 0.5;  // in a stratum around 1
  WindowFacts w = p.facts();
  const std::vector<std::int32_t> pinned{5, 6, 1000};
  w.pinned = pinned;
  const KeptRanks kept = choose(w, {}, plenty);
  for (const std::int32_t m : p.medoids) CHECK(has(kept, m, reason_medoid));
  CHECK(has(kept, 150, reason_critical));
  CHECK(has(kept, 150, reason_outlier));
  CHECK(has(kept, 20, reason_outlier));
  CHECK(has(kept, 5, reason_pin));
  CHECK(has(kept, 6, reason_pin));
  CHECK_FALSE(find(kept, 1000));
  std::int64_t drawn = 0, planned = 0;
  for (const auto& k : kept.ranks) {
    drawn += (k.reasons & reason_sample) != 0;
    CHECK(k.probability > 0);
    CHECK(k.probability <= 1);
  }
  for (const auto& s : kept.strata) planned += s.sample;
  CHECK(drawn == planned);
}

TEST_CASE("events in a window add ranks of their own") {
  const Population p(64, 1, 0.1, 5);
  WindowFacts w = p.facts();
  std::vector<double> before = p.load, predicted = p.load;
  before[9] += 5;
  predicted[11] += 50;
  w.before = before;
  w.predicted = predicted;
  CHECK(has(choose(w, {}, plenty), 11, reason_mispredicted));
  CHECK_FALSE(has(choose(w, {}, plenty), 9, reason_jump));
  w.jumped = w.rebalanced = true;
  const auto least = static_cast<std::int32_t>(std::min_element(p.load.begin(), p.load.end()) - p.load.begin());
  CHECK(has(choose(w, {}, plenty), 9, reason_jump));
  CHECK(has(choose(w, {}, plenty), least, reason_rebalance));
  w.predicted = p.load;
  for (const auto& k : choose(w, {}, plenty).ranks) CHECK_FALSE(k.reasons & reason_mispredicted);
}

TEST_CASE("ranks that do not fit are left out in the order of priority, and the error shows it") {
  const Population p(1000, 4, 0.8, 11);
  WindowFacts w = p.facts();
  const std::vector<std::int32_t> pinned{1};
  w.pinned = pinned;
  const KeptRanks whole = choose(w, {}, plenty);
  REQUIRE(whole.ranks.size() > 60);
  const KeptRanks some = choose(w, {}, 60);
  CHECK(some.ranks.size() <= 60);
  CHECK(some.reached.error > whole.reached.error);
  CHECK(some.reached.confidence < whole.reached.confidence);
  CHECK(has(some, 1, reason_pin));
  double sum = 0;
  constexpr int draws = 400;
  for (w.window = 0; w.window < draws; ++w.window) sum += estimate(p, choose(w, {}, 60));
  CHECK_THAT(sum / draws / p.mean(),
             Catch::Matchers::WithinAbs(1.0, 3 * some.reached.error / std::sqrt(double{draws})));
  const KeptRanks few = choose(w, {}, 4);
  CHECK(few.ranks.size() <= 4);
  CHECK(few.reached.error == -1);
  for (const auto& k : few.ranks) CHECK_FALSE(k.reasons & reason_sample);
  CHECK(choose(w, {}, 0).ranks.empty());
  CHECK(choose({}, {}, plenty).ranks.empty());
}

TEST_CASE("equal loads, and no loads at all") {
  std::vector<double> zero(10, 0.0);
  const std::vector<std::int32_t> stratum(10, 0), medoids{0};
  WindowFacts w;
  w.load = zero;
  w.stratum = stratum;
  w.medoids = medoids;
  CHECK_FALSE(choose(w, {}, plenty).ranks.empty());
  std::vector<double> one(10, 1.0);
  w.load = one;
  const KeptRanks kept = choose(w, {}, plenty);
  CHECK(kept.reached.error == 0);
  CHECK(kept.reached.confidence == 1);
}
