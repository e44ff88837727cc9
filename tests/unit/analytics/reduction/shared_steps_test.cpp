// Steps that represent others on all ranks at once.
#include "analytics/reduction/shared_steps.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "analytics/communication/call_tree.hpp"
#include "analytics/reduction/reduction.hpp"
#include "program.hpp"
#include "programs.hpp"

using effort::communication::Operation;
using effort::communication::Record;
using effort::communication::test::Program;
using namespace effort::reduction;

namespace {

/// In each step, a random rank arrives late at a collective, and all others wait for it.
Record random_delays(std::int32_t ranks, int steps) {
  Program p(ranks);
  std::vector<std::int32_t> everyone(static_cast<std::size_t>(ranks));
  std::iota(everyone.begin(), everyone.end(), 0);
  std::mt19937_64 random(4);
  for (int s = 0; s < steps; ++s) {
    const auto late = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(ranks));
    std::int64_t last = 0;
    for (const std::int32_t r : everyone) {
      p.enter(r, "iteration");
      p.compute(r, 100'000 + static_cast<std::int64_t>(random() % 5000));
      if (r == late) p.compute(r, static_cast<std::int64_t>(random() % 2'000'000));
      last = std::max(last, p.now(r));
    }
    p.collective("MPI_Allreduce", Operation::nxn, everyone, -1, last + 5000);
    for (const std::int32_t r : everyone) p.leave(r);
  }
  return p.record();
}

}  // namespace

TEST_CASE("shared steps: the error of each rank's waiting time stays within the limit") {
  constexpr std::int32_t ranks = 6;
  constexpr std::size_t steps = 150;
  const Record record = random_delays(ranks, steps);
  const Segments cut = test::iterations(record);
  const auto waits = effort::communication::find_waits(record);
  const auto location_of = effort::communication::call_tree(record).location_of;
  const SharedSteps shared(record, cut, waits, location_of);
  REQUIRE(shared.exist());
  // What each rank waits in each step.
  std::vector<double> own(steps * ranks);
  for (const auto& wait : waits.waits) {
    const auto segment = std::find_if(cut.segments.begin(), cut.segments.end(), [&](const Segment& s) {
      return s.location == location_of[wait.call] && s.begin_ns <= record.calls[wait.call].begin_ns &&
             record.calls[wait.call].begin_ns < s.end_ns;
    });
    REQUIRE(segment != cut.segments.end());
    own[static_cast<std::size_t>(segment - cut.segments.begin())] += static_cast<double>(wait.ns);
  }
  const std::size_t entries = shared.entries().size();
  CHECK(entries == ranks);  // all have waited, for one cause
  for (const double allowed : {1e12, 3e6, 1e-3}) {
    for (const double gain : {1.0, 1.5}) {
      const auto chosen =
          shared.representatives(std::vector<double>(entries, allowed), std::vector<double>(entries, gain));
      REQUIRE(chosen.size() == cut.segments.size());
      std::size_t stored = 0;
      std::vector<double> sums(ranks, 0);
      for (std::size_t s = 0; s < steps; ++s) {
        for (std::size_t r = 0; r < ranks; ++r) {
          const std::size_t i = r * steps + s;
          REQUIRE(chosen[i] / steps == r);                  // its own thread
          REQUIRE(chosen[i] % steps == chosen[s] % steps);  // the same step on all
          REQUIRE(chosen[i] <= i);
          if (chosen[i] != i) sums[r] += own[i] - gain * own[chosen[i]];
          CHECK(std::abs(sums[r]) <= allowed);
        }
        stored += chosen[s] == s ? 1 : 0;
      }
      if (allowed == 1e12) CHECK(stored == 1);
      if (allowed == 3e6) CHECK((stored > 1 && stored < steps / 2));
      if (allowed == 1e-3) CHECK(stored == steps);
    }
  }
  // The whole search, which tries shared steps among others.
  Reducer reducer(record, cut);
  CHECK_FALSE(reducer.reduce({Similarity::iter_avg, 0}).violations.empty());
  const Reduced bounded = reducer.reduce({Similarity::bounded, 0.2});
  CHECK(bounded.violations.empty());
  CHECK(bounded.stored < cut.segments.size() / 4);
}

TEST_CASE("threads with different numbers of segments share no steps") {
  Program p(2);
  for (int s = 0; s < 5; ++s) {
    for (const std::int32_t r : {0, 1}) {
      if (r == 1 && s == 4) continue;
      p.enter(r, "iteration");
      p.compute(r, 100);
      p.leave(r);
    }
  }
  const Record record = p.record();
  const Segments cut = test::iterations(record);
  CHECK_FALSE(SharedSteps(record, cut, effort::communication::find_waits(record),
                          effort::communication::call_tree(record).location_of)
                  .exist());
}
