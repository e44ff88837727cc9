// From records to the events of a window.
#include "runtime/trace/trace_events.hpp"

#include "../recording/test_memory.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/recording/stream.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace effort;
using namespace effort::engine;
using recording::RecordKind;
using trace::Kind;

namespace {

constexpr std::uint64_t origin = 1000;

/// The run's id is the rank's plus 100; regions above 50 are not known.
std::int64_t translated(Kind kind, std::uint32_t id) {
  return kind <= Kind::leave && id > 50 ? -1 : static_cast<std::int64_t>(id) + 100;
}

/// One step: a region, a message and an amount of work, ten ticks apart.
void record_step(recording::Stream& s, recording::Memory& m, std::int64_t step) {
  const std::uint64_t t = origin + 1 + static_cast<std::uint64_t>(step) * 100;
  s.boundary(RecordKind::enter, 7, t);
  s.message(recording::message(RecordKind::send, 2, 5), 64, 3);
  s.work(1, 2.5);
  s.boundary(RecordKind::leave, 7, t + 50);
  s.step(step + 1, t + 99);
  m.end_step(step, t + 99);
}

}  // namespace

TEST_CASE("a window has the events of its steps, with the run's ids and the times of the run") {
  recording::TestMemory test(4);
  recording::Stream stream;
  stream.offer(&test.memory);
  stream.adopt(4);
  for (std::int64_t s = 0; s < 10; ++s) record_step(stream, test.memory, s);
  const TraceEvents reader(test.memory, origin, translated);
  const RankEvents window = reader.read(3, 5);
  CHECK(window.dropped_steps == 0);
  CHECK(window.start_ns == measure::ns_of(300));
  CHECK(window.end_ns == measure::ns_of(600));
  REQUIRE(window.threads.size() == 1);
  CHECK(window.threads[0].thread == 4);
  const auto& events = window.threads[0].events;
  REQUIRE(events.size() == 15);
  const Kind kinds[] = {Kind::step, Kind::enter, Kind::send, Kind::work, Kind::leave};
  for (std::size_t i = 0; i < events.size(); ++i) CHECK(events[i].kind == kinds[i % 5]);
  CHECK(events[0].bytes == 3);
  CHECK(events[1].id == 107);
  CHECK(events[1].time_ns == measure::ns_of(301));
  CHECK(events[2].id == 102);
  CHECK(events[2].peer == 5);
  CHECK(events[2].bytes == 64);
  CHECK(events[2].tag == 3);
  CHECK(events[2].time_ns == events[1].time_ns);
  CHECK(events[3].id == 101);
  CHECK(std::is_sorted(events.begin(), events.end(),
                       [](const trace::Event& a, const trace::Event& b) { return a.time_ns < b.time_ns; }));
  // The first step has no step before it.
  CHECK(reader.read(0, 0).threads[0].events.size() == 4);
}

TEST_CASE("regions that the run does not know are left out, the rest stays") {
  recording::TestMemory test(4);
  recording::Stream stream;
  stream.offer(&test.memory);
  stream.adopt(0);
  stream.boundary(RecordKind::enter, 60, origin + 1);
  stream.boundary(RecordKind::leave, 60, origin + 2);
  record_step(stream, test.memory, 0);
  CHECK(TraceEvents(test.memory, origin, translated).read(0, 0).threads[0].events.size() == 4);
}

TEST_CASE("steps whose records have been overwritten are dropped whole") {
  recording::TestMemory test(4);
  recording::Stream stream;
  stream.offer(&test.memory);
  stream.adopt(0);
  constexpr std::int64_t steps = 900;  // 13 words each: more than four blocks
  for (std::int64_t s = 0; s < steps; ++s) record_step(stream, test.memory, s);
  const TraceEvents reader(test.memory, origin, translated);
  const RankEvents all = reader.read(0, steps - 1);
  REQUIRE(all.dropped_steps > 0);
  REQUIRE(all.dropped_steps < steps);
  CHECK(all.start_ns == measure::ns_of(static_cast<std::uint64_t>(all.dropped_steps) * 100));
  CHECK(all.threads[0].events.size() == static_cast<std::size_t>(5 * (steps - all.dropped_steps)));
  CHECK(reader.read(0, 1).dropped_steps == 2);
  CHECK(reader.read(0, 1).threads.empty());
  CHECK(reader.read(steps - 2, steps - 1).dropped_steps == 0);
  CHECK(reader.read(steps, steps).dropped_steps == 1);  // it has not ended
}

namespace {

void start(recording::Stream& s, RecordKind what, int peer, std::uint64_t request) {
  s.message(recording::message(what, 2, peer), 8, 3 | request << 32);
}

/// The request of each event, or its kind if it has none.
std::vector<std::string> texts(const RankEvents& window) {
  std::vector<std::string> out;
  for (const ThreadEvents& t : window.threads)
    for (const trace::Event& e : t.events)
      out.push_back(std::to_string(t.thread) + ": " + std::string(trace::kind_text(e.kind)) + " " +
                    std::to_string(e.peer) + " " + std::to_string(e.request));
  return out;
}

}  // namespace

TEST_CASE("of a partner, the messages with kept ranks are recorded, with their starts and completions") {
  recording::TestMemory test(4);
  recording::Stream s;
  s.offer(&test.memory);
  s.adopt(0);
  s.boundary(RecordKind::enter, 7, origin + 1);
  start(s, RecordKind::send, 1, 0);  // rank 1 is kept, 2 is not
  start(s, RecordKind::send, 2, 0);
  start(s, RecordKind::receive, 1, 0);
  start(s, RecordKind::receive, 2, 0);
  start(s, RecordKind::receive_start, -1, 4);  // from 1, as turns out
  start(s, RecordKind::receive_start, -1, 5);  // from 2
  start(s, RecordKind::receive_start, 1, 6);   // not complete in this window
  start(s, RecordKind::send_start, 1, 7);
  start(s, RecordKind::send_start, 2, 8);
  start(s, RecordKind::collective, -1, 0);
  s.boundary(RecordKind::leave, 7, origin + 50);
  start(s, RecordKind::receive_done, 2, 5);
  start(s, RecordKind::receive_done, 1, 4);
  start(s, RecordKind::send_done, -1, 8);
  start(s, RecordKind::send_done, -1, 7);
  start(s, RecordKind::receive_done, 1, 9);  // begun in the window before
  start(s, RecordKind::cancelled, -1, 0xffffffff);
  start(s, RecordKind::receive_start, 2, 7);  // the number is used again
  start(s, RecordKind::cancelled, -1, 7);
  s.step(1, origin + 99);
  test.memory.end_step(0, origin + 99);
  const TraceEvents reader(test.memory, origin, translated);
  const std::vector<std::string> expected = {"0: send 1 0",          "0: receive 1 0",     "0: receive_start -1 4",
                                             "0: receive_start 1 6", "0: send_start 1 7",  "0: receive_done 1 4",
                                             "0: send_done -1 7",    "0: receive_done 1 9"};
  CHECK(texts(reader.read_messages(0, 0, {false, true, false})) == expected);
  CHECK(reader.read_messages(0, 0, {false, false, false}).threads.empty());
  CHECK(reader.read_messages(0, 0, {true}).threads.empty());  // no other rank is known
}

TEST_CASE("a thread completes what another has started") {
  recording::TestMemory test(4);
  recording::Stream one, other;
  one.offer(&test.memory);
  one.adopt(0);
  other.offer(&test.memory);
  other.adopt(1);
  other.boundary(RecordKind::enter, 7, origin + 1);
  one.boundary(RecordKind::enter, 7, origin + 10);
  start(one, RecordKind::receive_start, -1, 1);
  other.boundary(RecordKind::leave, 7, origin + 20);
  start(other, RecordKind::receive_done, 1, 1);
  one.step(1, origin + 99);
  test.memory.end_step(0, origin + 99);
  const TraceEvents reader(test.memory, origin, translated);
  CHECK(texts(reader.read_messages(0, 0, {false, true})) ==
        std::vector<std::string>{"0: receive_start -1 1", "1: receive_done 1 1"});
}
