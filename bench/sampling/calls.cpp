#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>

#include "analytics/sampling/draw.hpp"
#include "analytics/sampling/sample_size.hpp"
#include "bench/sampling/parts.hpp"

namespace effort::bench {
namespace {

/// The activity of each rank in a region: calls and their total time.
struct Calls {
  std::vector<double> totals, events;
};

using Random = std::mt19937_64;

Calls generate(std::size_t ranks, const std::function<double(Random&)>& events,
               const std::function<double(Random&, double events)>& seconds) {
  Random random(ranks);
  Calls out;
  for (std::size_t r = 0; r < ranks; ++r) {
    out.events.push_back(std::ceil(events(random)));
    out.totals.push_back(out.events.back() * seconds(random, out.events.back()));
  }
  return out;
}

double mean_of(const Calls& calls, std::span<const std::int32_t> ranks) {
  double total = 0, events = 0;
  for (const std::int32_t r : ranks) {
    total += calls.totals[static_cast<std::size_t>(r)];
    events += calls.events[static_cast<std::size_t>(r)];
  }
  return total / events;
}

/// Ranks needed for the mean time of a call, if all calls of a sampled rank are used (cluster sampling, Gamblin 2009,
/// equation 4.8): m = M s^2 / (M N^2 V + s^2), V = (d / z)^2, with M ranks, N calls of a mean rank, and s the deviation
/// over ranks of total - mean x calls (4.7).  This form follows from (4.2) and (4.7).  The printed one lacks the M in
/// the denominator and disagrees with (4.3) for one call per rank.  It is (4.3) for the totals of the ranks, whose
/// bound is N d.
std::int64_t ranks_needed(const Calls& calls, const sampling::Accuracy& accuracy) {
  const auto ranks = static_cast<double>(calls.totals.size());
  const double all_calls = std::accumulate(calls.events.begin(), calls.events.end(), 0.0);
  const double mean = std::accumulate(calls.totals.begin(), calls.totals.end(), 0.0) / all_calls;
  double squares = 0;
  for (std::size_t r = 0; r < calls.totals.size(); ++r) {
    const double residual = calls.totals[r] - mean * calls.events[r];
    squares += residual * residual;
  }
  return sampling::sample_size(static_cast<std::int64_t>(calls.totals.size()), std::sqrt(squares / (ranks - 1)),
                               accuracy.error * mean * all_calls / ranks, accuracy.confidence);
}

void print(const char* name, const Calls& calls, std::span<const sampling::Accuracy> accuracies, int draws) {
  const auto n = static_cast<std::int64_t>(calls.totals.size());
  std::printf("| %s | %lld |", name, static_cast<long long>(n));
  const double truth = mean_of(calls, sampling::draw_without_replacement(n, n, 1, 0));
  for (const auto& accuracy : accuracies) {
    const std::int64_t m = ranks_needed(calls, accuracy);
    int within = 0;
    for (int i = 0; i < draws; ++i) {
      const auto ranks = sampling::draw_without_replacement(n, m, 11, static_cast<std::uint64_t>(i));
      within += std::fabs(mean_of(calls, ranks) - truth) <= accuracy.error * truth;
    }
    std::printf(" %.1f %% (%lld) |", 100.0 * within / draws, static_cast<long long>(m));
  }
  std::printf("\n");
}

}  // namespace

void bench_calls(std::span<const sampling::Accuracy> accuracies, int draws) {
  const auto uniform = [](double low, double high) {
    return [=](Random& random) { return std::uniform_real_distribution<double>(low, high)(random); };
  };
  const auto level = [](double sigma) {
    return [=](Random& random, double) { return 1e-6 * std::exp(sigma * std::normal_distribution<double>()(random)); };
  };
  std::printf("| region | ranks |");
  for (const auto& a : accuracies) std::printf(" %.0f/%.0f |", 100 * a.confidence, 100 * a.error);
  std::printf("\n|---|---|---|---|---|\n");
  for (const std::size_t ranks : {32, 256, 2048, 16384}) {
    print("as many calls everywhere, times vary", generate(ranks, uniform(100, 100), level(0.4)), accuracies, draws);
    print("calls vary tenfold, times do not depend on them", generate(ranks, uniform(100, 1000), level(0.4)),
          accuracies, draws);
    print("ranks with more calls have shorter ones",
          generate(ranks, uniform(100, 1000),
                   [](Random& random, double events) {
                     return 1e-4 / events * std::exp(0.2 * std::normal_distribution<double>()(random));
                   }),
          accuracies, draws);
    print(
        "a few ranks poll: 5 % make 100 times as many calls, ten times as short",
        generate(
            ranks, [](Random& random) { return std::uniform_real_distribution<double>()(random) < 0.05 ? 10000 : 100; },
            [](Random& random, double events) {
              return (events > 100 ? 1e-7 : 1e-6) * std::exp(0.2 * std::normal_distribution<double>()(random));
            }),
        accuracies, draws);
  }
}

}  // namespace effort::bench
