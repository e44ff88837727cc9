// The guard's decisions, and the notes of a run in which it samples.
#include "frames.hpp"

#include "runtime/measure/guard.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

using namespace effort::measure;

namespace {

constexpr PairCost cost{20e-9, 5e-9};

/// Counters at boundaries make a timed call far more expensive than a skipped one, on any machine.
Options limited(double max_overhead) {
  Options options;
  options.max_overhead = max_overhead;
  options.per_region = true;
  return options;
}
const std::vector<std::string> dear{"time", "page_faults"};

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
  // The next interval meets the limit: nothing changes.
  const std::vector<std::uint32_t> before(periods.begin(), periods.end());
  for (int i = 0; i < 20; ++i) CHECK_FALSE(guard.look(begins, 0, 1.0, cost));
  CHECK(std::equal(before.begin(), before.end(), guard.periods().begin()));
}

TEST_CASE("a region keeps enough timed calls, and a limit that cannot be met is reported") {
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
  SKIP(
      "under a sanitizer a call that is not timed costs as much as one that is: the guard rightly leaves the region "
      "alone");
#endif
  Recorder rec({"time", "page_faults", "calls"}, "time", LoadThreads::max, limited(0.02));
  const auto outer = rec.registry().region("outer", Kind::compute).id;
  const auto inner = rec.registry().region("inner", Kind::compute).id;
  const std::uint32_t calls_metric = rec.registry().metric("calls", "1").id;
  RecordStream stream;
  std::vector<std::string> notes;
  double times = 0, wall = 0, load = 0;
  constexpr int steps = 200, per_step = 20000;
  const std::uint64_t start = unbooked(rec.slot());
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
    const Frame f = read(stream);
    times += f.at(outer, 0) + f.at(inner, 0);
    load += f.header.load;
    wall += f.header.wall;
    CHECK(f.at(inner, calls_metric) == per_step);  // from the first step on
    CHECK(f.at(outer, calls_metric) == 1);
  }
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& n) {
    return n.find("'inner'") != std::string::npos && n.find("sampling") != std::string::npos;
  }));
  CHECK(std::none_of(notes.begin(), notes.end(),
                     [](const std::string& n) { return n.find("'outer'") != std::string::npos; }));
  // Whatever was sampled, each tick is in one cell, or the library's own.
  settle(rec.slot());
  const std::uint64_t own = rec.slot().own.before_begin + rec.slot().own.before_end;
  CHECK(own > 0);
  CHECK(unbooked(rec.slot()) - start <= own * steps * (per_step + 1));
  CHECK(times > 0);
  // Time that sampling moves from the enclosing region to another region counts only once in the load.
  CHECK(load <= wall);
  CHECK(rec.slot().sampling.skips() > 0);
  CHECK(rec.own_seconds() > 0);
  CHECK(rec.own_seconds() <= wall);
}

TEST_CASE("calls are counted from the beginning or not at all") {
  Recorder rec(dear, "time", LoadThreads::max, limited(1e-6));
  const auto outer = rec.registry().region("outer", Kind::compute).id;
  const auto inner = rec.registry().region("inner", Kind::compute).id;
  RecordStream stream;
  for (int s = 0; s < 30; ++s) {
    ThreadSlot& slot = rec.slot();
    open_region(slot, outer);
    for (int i = 0; i < 20000; ++i) {
      open_region(slot, inner);
      close_region(slot, inner);
    }
    close_region(slot, outer);
    rec.end_step(s, s, stream);
    stream.clear();
  }
  CHECK(rec.slot().sampling.skips() > 0);
}

TEST_CASE("waiting is timed at every call whatever the cost, and so is a load that sampling could distort") {
  Recorder rec(dear, "time", LoadThreads::max, limited(1e-6));
  const auto step = rec.registry().region("step", Kind::compute).id;
  const auto kernel = rec.registry().region("kernel", Kind::compute).id;
  const auto halo = rec.registry().region("halo", Kind::comm).id;
  RecordStream stream;
  std::vector<std::string> notes;
  ThreadSlot& slot = rec.slot();
  const auto pairs = [&](std::uint32_t region, int n) {
    for (int i = 0; i < n; ++i) {
      open_region(slot, region);
      close_region(slot, region);
    }
  };
  std::int64_t skips = 0;
  for (int s = 0; s < 40; ++s) {
    open_region(slot, step);
    pairs(halo, 20000);
    close_region(slot, step);
    pairs(kernel, 4000);  // in no other region, so corrections of its time change the load
    skips = slot.sampling.skips();
    rec.end_step(s, s, stream);
    for (auto& text : notes_in(stream)) notes.push_back(text);
    stream.clear();
  }
  CHECK(skips == 0);
  CHECK(std::any_of(notes.begin(), notes.end(),
                    [](const std::string& n) { return n.find("MAX_OVERHEAD") != std::string::npos; }));
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // as above
  // The sum of many calls scatters little: then even these are sampled, or later if interruptions make them scatter.
  for (int s = 40; s < 2000 && slot.sampling.skips() == 0; ++s) {
    pairs(kernel, 20000);
    rec.end_step(s, s, stream);
    stream.clear();
  }
  CHECK(slot.sampling.skips() > 0);
#endif
}

TEST_CASE("a load made by few of many calls is timed at every call") {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  SKIP("under a sanitizer, timing every call costs so much that the guard rightly accepts errors");
#endif
  Recorder rec({"time"}, "time", LoadThreads::max, limited(1e-6));
  const auto kernel = rec.registry().region("kernel", Kind::compute).id;
  ThreadSlot& slot = rec.slot();
  RecordStream stream;
  const double tick = tick_rate().seconds_per_tick;
  for (int s = 0; s < 60; ++s) {
    double spent = 0;
    for (int i = 0; i < 10000; ++i) {
      open_region(slot, kernel);
      if (i % 2500 == 7) {
        const std::uint64_t start = ticks();
        while (static_cast<double>(ticks() - start) * tick < 2e-3) {
        }
        spent += static_cast<double>(ticks() - start) * tick;
      }
      close_region(slot, kernel);
    }
    rec.end_step(s, s, stream);
    const Frame f = read(stream);
    CAPTURE(s, spent);
    CHECK(f.header.load >= 0.99 * spent);
    CHECK(f.header.load <= f.header.wall);
  }
}

TEST_CASE("the limit is a share of the computing time, not of the elapsed time") {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  SKIP(
      "under a sanitizer a call that is not timed costs as much as one that is: the guard rightly leaves the region "
      "alone");
#endif
  for (const char* load : {"time", "cpu_time"}) {
    Recorder rec(dear, load, LoadThreads::max, limited(0.1));
    const auto outer = rec.registry().region("outer", Kind::compute).id;
    const auto inner = rec.registry().region("inner", Kind::compute).id;
    const auto waiting = rec.registry().region("waiting", Kind::wait).id;
    RecordStream stream;
    ThreadSlot& slot = rec.slot();
    for (int s = 0; s < 20; ++s) {
      std::uint64_t start = monotonic_ns();
      open_region(slot, outer);
      for (int i = 0; i < 2000; ++i) {
        open_region(slot, inner);
        close_region(slot, inner);
      }
      close_region(slot, outer);
      const auto took = monotonic_ns() - start;
      open_region(slot, waiting);  // so long that all of the above is a twentieth
      std::this_thread::sleep_for(std::chrono::nanoseconds(20 * took));
      close_region(slot, waiting);
      rec.end_step(s, s, stream);
      stream.clear();
    }
    CAPTURE(load);
    CHECK(slot.sampling.skips() > 0);
  }
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
  CHECK(!slot.sampling.active());
}
