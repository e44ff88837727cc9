// A signal handler that begins and ends regions in the thread it interrupts, at any instruction: nothing is torn or
// lost.
#include "frames.hpp"

#include <sys/time.h>
#include <csignal>

#if defined(__x86_64__) && \
    !defined(__SANITIZE_THREAD__)  // whose atomics take locks, in which the handler would wait for itself
#define EFFORT_SINGLE_STEPS
#endif

using namespace effort::measure;

namespace {

ThreadSlot* interrupted_slot = nullptr;
std::uint32_t in_handler = 0, nested_in_handler = 0;
volatile std::sig_atomic_t handled = 0;

void handler(int) {
  ThreadSlot& s = *interrupted_slot;
  open_region(s, in_handler);
  open_region(s, nested_in_handler);
  close_region(s, nested_in_handler);
  close_region(s, in_handler);
  handled = handled + 1;
}

/// A timer that fires as fast as the system lets it, while `body` runs.
template <typename Body>
void under_fire(const Body& body) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  struct sigaction before {};
  REQUIRE(sigaction(SIGPROF, &action, &before) == 0);
  const itimerval often{{0, 20}, {0, 20}}, never{};
  REQUIRE(setitimer(ITIMER_PROF, &often, nullptr) == 0);
  body();
  REQUIRE(setitimer(ITIMER_PROF, &never, nullptr) == 0);
  REQUIRE(sigaction(SIGPROF, &before, nullptr) == 0);
}

void expect_whole_frames(const Options& options, const std::vector<std::string>& metrics) {
  Recorder rec(metrics, "time", LoadThreads::max, options);
  const auto outer = rec.registry().region("outer", Kind::compute).id,
             inner = rec.registry().region("inner", Kind::compute).id;
  in_handler = rec.registry().region("handler", Kind::compute).id;
  nested_in_handler = rec.registry().region("nested in handler", Kind::wait).id;
  interrupted_slot = &rec.slot();
  ThreadSlot& s = rec.slot();
  RecordStream stream;
  rec.end_step(0, 0, stream);
  stream.clear();
  book_all(s);
  open_region(s, outer);
  const std::uint64_t start = unbooked(s);
  handled = 0;
  double regions = 0, wall = 0;
  under_fire([&] {
    for (int step = 1; step <= 200; ++step) {
      for (int i = 0; i < 4000; ++i) {
        open_region(s, inner);
        if (i % 997 == 0) raise(SIGPROF);
        close_region(s, inner);
      }
      rec.end_step(step, step, stream);
      const Frame f = read(stream);
      wall += f.header.wall;
      for (const auto& [key, value] : f.values) {
        if (key.second != 0) continue;
        CHECK(value >= 0);
        CHECK(value <= f.header.wall * 200);  // a deferred estimate may come late; nothing else is larger
        regions += value;
      }
    }
  });
  CHECK(handled > 10);
  CHECK(s.depth == 1);
  CHECK(innermost(s) == outer);
  REQUIRE(close_region(s, outer));
  CHECK(unbooked(s) == start);
  rec.end_step(201, 201, stream);
  const Frame f = read(stream);
  wall += f.header.wall;
  for (const auto& [key, value] : f.values)
    if (key.second == 0) regions += value;
  CHECK(regions > 0);
  // In regions all the time; estimates are published when they have turned positive.
  if (options.max_overhead == 0) CHECK(regions <= wall * 1.000001);
}

#ifdef EFFORT_SINGLE_STEPS
volatile std::sig_atomic_t traps = 0, trap_to_handle = 0;

/// Acts after one instruction only: after every one, the clock that was read is never later than the stamp.  And stays
/// for longer than all the rest of a pair takes.
void handler_of_one(int) {
  const int trap = traps;
  traps = trap + 1;
  if (trap != trap_to_handle) return;
  open_region(*interrupted_slot, in_handler);
  const std::uint64_t start = monotonic_ns();
  while (monotonic_ns() - start < 5'000'000) {
  }
  close_region(*interrupted_slot, in_handler);
  handled = handled + 1;
}

void step_by_step(bool on) {
  if (on)
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" : : : "memory", "cc");
  else
    __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" : : : "memory", "cc");
}
#endif

}  // namespace

#ifdef EFFORT_SINGLE_STEPS
TEST_CASE("after every single instruction of a boundary") {
  Recorder rec({"time"}, "time", LoadThreads::max);
  const auto outer = rec.registry().region("outer", Kind::compute).id,
             inner = rec.registry().region("inner", Kind::compute).id;
  in_handler = rec.registry().region("handler", Kind::compute).id;
  nested_in_handler = rec.registry().region("nested in handler", Kind::wait).id;
  ThreadSlot& s = rec.slot();
  interrupted_slot = &s;
  struct sigaction action {};
  action.sa_handler = handler;
  struct sigaction before {};
  REQUIRE(sigaction(SIGTRAP, &action, &before) == 0);
  open_region(s, outer);
  handled = 0;
  const std::uint64_t start = unbooked(s), first = s.stamp.load();
  constexpr int pairs = 100;
  step_by_step(true);
  for (int i = 0; i < pairs; ++i) {
    open_region(s, inner);
    close_region(s, inner);
  }
  step_by_step(false);
  REQUIRE(sigaction(SIGTRAP, &before, nullptr) == 0);
  CHECK(handled > 20 * pairs);
  CHECK(s.depth == 1);
  CHECK(innermost(s) == outer);
  // Every tick is in one region, no call is lost.
  CHECK(unbooked(s) == start);
  CHECK(s.cells.load()[inner].begins.load() == pairs);
  CHECK(s.cells.load()[in_handler].begins.load() == handled);
  CHECK(s.cells.load()[nested_in_handler].begins.load() == handled);
  for (const auto r : {outer, inner, in_handler}) CHECK(s.cells.load()[r].ticks.load() < s.stamp.load() - first);
  close_region(s, outer);
}
#endif

#ifdef EFFORT_SINGLE_STEPS
TEST_CASE("after any one instruction of a boundary") {
  Recorder rec({"time"}, "time", LoadThreads::max);
  const auto outer = rec.registry().region("outer", Kind::compute).id,
             inner = rec.registry().region("inner", Kind::compute).id;
  in_handler = rec.registry().region("handler", Kind::compute).id;
  ThreadSlot& s = rec.slot();
  interrupted_slot = &s;
  struct sigaction action {};
  action.sa_handler = handler_of_one;
  struct sigaction before {};
  REQUIRE(sigaction(SIGTRAP, &action, &before) == 0);
  open_region(s, outer);
  handled = 0;
  const std::uint64_t start = unbooked(s);
  int pairs = 0;
  do {
    const std::uint64_t outer_before = s.cells.load()[outer].ticks.load(),
                        inner_before = s.cells.load()[inner].ticks.load();
    trap_to_handle = pairs++;
    traps = 0;
    step_by_step(true);
    open_region(s, inner);
    close_region(s, inner);
    step_by_step(false);
    const std::uint64_t after = ticks();
    // Every tick is in one region, once it has passed and not before; no call is lost.
    CAPTURE(pairs);
    REQUIRE(unbooked(s) == start);
    REQUIRE(s.stamp.load() <= after);
    REQUIRE(s.cells.load()[outer].ticks.load() >= outer_before);
    REQUIRE(s.cells.load()[inner].ticks.load() >= inner_before);
    REQUIRE(s.depth == 1);
    REQUIRE(innermost(s) == outer);
  } while (trap_to_handle < traps);
  REQUIRE(sigaction(SIGTRAP, &before, nullptr) == 0);
  CHECK(pairs > 20);
  CHECK(handled == pairs - 1);
  CHECK(s.cells.load()[inner].begins.load() == static_cast<std::int64_t>(pairs));
  CHECK(s.cells.load()[in_handler].begins.load() == static_cast<std::int64_t>(handled));
  close_region(s, outer);
}
#endif

TEST_CASE("on the short path") { expect_whole_frames({}, {"time"}); }
TEST_CASE("with counters at boundaries") {
  Options options;
  options.per_region = true;
  expect_whole_frames(options, {"time", "cpu_time", "page_faults"});
}
TEST_CASE("while regions are sampled") {
  Options options;
  options.max_overhead = 0.01;
  expect_whole_frames(options, {"time"});
}
