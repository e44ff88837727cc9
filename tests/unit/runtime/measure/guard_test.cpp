// What the guard decides, and that a run which it coarsens says so.
#include "frames.hpp"

#include "runtime/measure/guard.hpp"

#include <algorithm>
#include <numeric>

using namespace effort::measure;

namespace {

constexpr PairCost cost{20e-9, 5e-9};

double share_with(std::span<const std::int64_t> begins, std::span<const std::uint32_t> periods, double wall) {
  double seconds = 0;
  for (std::size_t r = 0; r < begins.size(); ++r)
    seconds += static_cast<double>(begins[r]) * (cost.skipped + (cost.timed - cost.skipped) / periods[r]);
  return seconds / wall;
}

}  // namespace

TEST_CASE("below the limit nothing is sampled") {
  Guard guard(0.02);
  const std::vector<std::int64_t> begins{0, 100000, 10};
  CHECK_FALSE(guard.look(begins, 0, 1.0, cost));
  CHECK(guard.share() > 0.0019);
  CHECK(guard.share() < 0.0021);
  CHECK(std::all_of(guard.periods().begin(), guard.periods().end(), [](auto p) { return p == 1; }));
}

TEST_CASE("above the limit the regions that are hit most are sampled until it is met, and no others") {
  Guard guard(0.02);
  const std::vector<std::int64_t> begins{0, 2'000'000, 300, 500'000, 20};
  REQUIRE(guard.look(begins, 0, 1.0, cost));
  const auto periods = guard.periods();
  CHECK(periods[1] > 1);
  CHECK(periods[1] >= periods[3]);
  CHECK(periods[2] == 1);
  CHECK(periods[4] == 1);
  CHECK(share_with(begins, periods, 1.0) <= 0.02);
  CHECK_FALSE(guard.exhausted());
  // The next interval is as it was meant to be: nothing changes.
  const std::vector<std::uint32_t> before(periods.begin(), periods.end());
  for (int i = 0; i < 20; ++i) CHECK_FALSE(guard.look(begins, 0, 1.0, cost));
  CHECK(std::equal(before.begin(), before.end(), guard.periods().begin()));
}

TEST_CASE("a region keeps enough timed calls, and what cannot be met is said") {
  Guard guard(0.001);
  const PairCost with_counters{800e-9, 5e-9};
  const std::vector<std::int64_t> begins{0, 10'000'000, 3000};
  guard.look(begins, 0, 1.0, with_counters);
  CHECK(guard.exhausted());  // counting alone costs 5 %
  for (std::size_t r = 1; r < begins.size(); ++r)
    if (guard.periods()[r] > 1) CHECK(begins[r] / guard.periods()[r] >= Guard::least_timed);
  CHECK(guard.periods()[1] <= Guard::longest_period);
  // The clock alone is soon cheaper than counting: longer periods would bring error and nothing else.
  Guard cheap(0.001);
  cheap.look(begins, 0, 1.0, cost);
  CHECK(cheap.periods()[1] > 4);
  CHECK(cheap.periods()[1] <= 64);
  CHECK(guard.periods()[1] > 64);
  // Costs that no sampling lowers.
  Guard steps(0.02);
  CHECK_FALSE(steps.look(std::vector<std::int64_t>{0, 100}, 0.5, 1.0, cost));
  CHECK(steps.exhausted());
}

TEST_CASE("after the hot phase everything is timed again, without swinging") {
  Guard guard(0.02);
  const std::vector<std::int64_t> hot{0, 3'000'000}, cool{0, 3000};
  guard.look(hot, 0, 1.0, cost);
  REQUIRE(guard.periods()[1] > 1);
  int changes = 0;
  for (int i = 0; i < 40; ++i) changes += guard.look(cool, 0, 1.0, cost);
  CHECK(guard.periods()[1] == 1);
  CHECK(changes >= 1);
  for (int i = 0; i < 40; ++i) CHECK_FALSE(guard.look(cool, 0, 1.0, cost));
}

TEST_CASE("a run with a region that is hit too often is sampled, says so, and still counts every call") {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  SKIP("under a sanitizer a call that is not timed costs as much as one that is: the guard rightly leaves the region alone");
#endif
  Options options;
  options.max_overhead = 0.02;
  Recorder rec({"time"}, "time", LoadThreads::max, options);
  const auto outer = rec.registry().region("outer", Kind::compute).id;
  const auto inner = rec.registry().region("inner", Kind::compute).id;
  RecordStream stream;
  rec.slot();
  std::vector<std::string> notes;
  double times = 0, wall = 0, calls = 0;
  std::uint32_t calls_metric = 0;
  constexpr int steps = 60, per_step = 60000;
  const std::uint64_t start = unbooked(rec.slot());
  int counted_steps = 0;
  for (int s = 0; s < steps; ++s) {
    ThreadSlot& slot = rec.slot();
    open_region(slot, outer);
    for (int i = 0; i < per_step; ++i) {
      open_region(slot, inner);
      close_region(slot, inner);
    }
    close_region(slot, outer);
    rec.end_step(s, s, stream);
    for (auto& text : notes_in(stream)) notes.push_back(text);
    const bool counting = rec.registry().n_metrics() > 1;
    const Frame f = read(stream);
    times += f.at(outer, 0) + f.at(inner, 0);
    wall += f.header.wall;
    if (!counting) continue;
    calls_metric = 1;
    if (const double n = f.at(inner, calls_metric); n > 0) {
      ++counted_steps;
      calls += n;
    }
  }
  REQUIRE(calls_metric == 1);
  CHECK(calls == static_cast<double>(counted_steps) * per_step);
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& n) { return n.find("'inner'") != std::string::npos && n.find("sampling") != std::string::npos; }));
  CHECK(std::none_of(notes.begin(), notes.end(), [](const std::string& n) { return n.find("'outer'") != std::string::npos; }));
  // Whatever was sampled, each tick is in one cell.
  settle(rec.slot());
  CHECK(unbooked(rec.slot()) == start);
  CHECK(times > 0);
  CHECK(rec.own_seconds() > 0);
  CHECK(rec.own_seconds() <= wall);
}

TEST_CASE("with the guard off everything is timed") {
  Recorder rec({"time"}, "time", LoadThreads::max);
  const auto inner = rec.registry().region("inner", Kind::compute).id;
  RecordStream stream;
  ThreadSlot& slot = rec.slot();
  for (int s = 0; s < 20; ++s) {
    for (int i = 0; i < 100000; ++i) {
      open_region(slot, inner);
      close_region(slot, inner);
    }
    rec.end_step(s, s, stream);
  }
  CHECK(notes_in(stream).empty());
  CHECK(slot.sampling == nullptr);
}
