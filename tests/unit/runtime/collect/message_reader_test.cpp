// From records to the parts of messages.
#include "runtime/collect/message_reader.hpp"

#include "../recording/test_memory.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/recording/stream.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

using namespace effort;
using namespace effort::engine;
using communication::MessagePart;
using recording::RecordKind;
using Type = MessagePart::Type;

namespace {

/// Times are ticks; the run's communicator is the rank's plus 100, and 50 is not known.  Regions 30 and 31 are probes.
MessageReader reader_of(const recording::Memory& memory) {
  return {memory,
          {[](std::uint64_t ticks) { return static_cast<std::int64_t>(ticks); },
           [](std::uint32_t c) { return c == 50 ? -1 : static_cast<std::int64_t>(c) + 100; },
           [](std::uint32_t region) { return region == 30   ? "MPI_Probe"
                                             : region == 31 ? "MPI_Mprobe"
                                                            : "MPI_Recv"; }}};
}

void put(recording::Stream& s, RecordKind what, int peer, int tag, std::uint64_t request,
         std::uint32_t communicator = 2) {
  s.message(recording::message(what, communicator, peer), 8, static_cast<std::uint32_t>(tag) | request << 32);
}

struct Recorder {
  recording::TestMemory test{4};
  recording::Stream stream;
  std::uint64_t now = 1000;
  std::int64_t step = 0;

  explicit Recorder(std::uint32_t thread = 0) {
    stream.offer(&test.memory);
    stream.adopt(thread);
  }
  void enter(std::uint32_t region) { stream.boundary(RecordKind::enter, region, now += 10); }
  void leave(std::uint32_t region) { stream.boundary(RecordKind::leave, region, now += 100); }
  void end_step() {
    now += 10;
    stream.step(step + 1, now);
    test.memory.end_step(step++, now);
  }
};

double seconds(std::uint64_t ticks) { return static_cast<double>(measure::ns_of(ticks)) * 1e-9; }

}  // namespace

TEST_CASE("parts of messages have the times of their calls, and the steps in which these ended") {
  Recorder r;
  MessageReader reader = reader_of(r.test.memory);
  r.enter(1);  // a region of the program, around everything
  r.enter(7);  // MPI_Irecv, at 1020
  put(r.stream, RecordKind::receive_start, -1, -1, 3);
  r.leave(7);
  r.end_step();
  r.enter(8);  // MPI_Send, at 1140
  put(r.stream, RecordKind::send, 5, 4, 0);
  put(r.stream, RecordKind::send, 5, 4, 0, 50);  // on an unknown communicator
  r.leave(8);
  r.enter(9);  // MPI_Waitall, 1250 to 1350
  r.leave(9);
  put(r.stream, RecordKind::send_done, -1, 0, 6);
  put(r.stream, RecordKind::receive_done, 2, 9, 3);
  put(r.stream, RecordKind::cancelled, -1, 0, 4);
  r.enter(10);  // MPI_Recv, 1360 to 1460
  r.leave(10);
  put(r.stream, RecordKind::receive, 1, 0, 0);
  r.leave(1);
  put(r.stream, RecordKind::collective, -1, 0, 0);
  r.end_step();
  put(r.stream, RecordKind::send, 5, 4, 0);  // of the step that has not ended

  REQUIRE(reader.read(0));
  REQUIRE(reader.parts().size() == 1);
  CHECK(reader.parts()[0].type == Type::receive_start);
  CHECK(reader.parts()[0].peer == -1);
  CHECK(reader.parts()[0].tag == -1);
  CHECK(reader.parts()[0].request == 3);
  CHECK(reader.parts()[0].begin_ns == 1020);
  CHECK(reader.parts()[0].step == 0);
  REQUIRE(reader.inside().size() == 1);
  CHECK(reader.inside()[0].seconds == Catch::Approx(seconds(100)));

  REQUIRE(reader.read(1));
  const auto& parts = reader.parts();
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].type == Type::send);
  CHECK(parts[0].peer == 5);
  CHECK(parts[0].tag == 4);
  CHECK(parts[0].communicator == 102);
  CHECK(parts[0].begin_ns == 1140);
  CHECK(parts[0].step == 1);
  CHECK(parts[1].type == Type::receive_done);
  CHECK(parts[1].peer == 2);
  CHECK(parts[1].begin_ns == 1250);
  CHECK(parts[1].end_ns == 1350);
  CHECK(parts[2].type == Type::cancelled);
  CHECK(parts[2].request == 4);
  CHECK(parts[3].type == Type::receive);
  CHECK(parts[3].begin_ns == 1360);
  CHECK(parts[3].end_ns == 1460);
  // Each call counts once, however many messages it completes.
  REQUIRE(reader.inside().size() == 3);
  for (const MessageReader::Inside& i : reader.inside()) {
    CHECK(i.step == 1);
    CHECK(i.seconds == Catch::Approx(seconds(100)));
  }
  CHECK(reader.read(1));
  CHECK(reader.parts().empty());
}

TEST_CASE("a step whose end is not known yet is read later, as a whole") {
  Recorder r;
  MessageReader reader = reader_of(r.test.memory);
  r.enter(8);
  put(r.stream, RecordKind::send, 5, 4, 0);
  r.leave(8);
  CHECK(reader.read(0));
  CHECK(reader.parts().empty());
  r.end_step();
  CHECK(reader.read(0));
  CHECK(reader.parts().size() == 1);
}

TEST_CASE("lost records are noticed, and those after them are read") {
  Recorder r;
  MessageReader reader = reader_of(r.test.memory);
  const auto step = [&] {
    r.enter(8);
    put(r.stream, RecordKind::send, 5, 4, 0);
    r.leave(8);
    r.end_step();
  };
  step();
  CHECK(reader.read(0));
  for (int s = 1; s < 2000; ++s) step();  // 10 words each: more than four blocks
  CHECK_FALSE(reader.read(1999));
  CHECK(reader.parts().size() > 100);
  CHECK(reader.parts().size() < 1999);
  CHECK(reader.parts().back().step == 1999);
  step();
  CHECK(reader.read(2000));
  CHECK(reader.parts().size() == 1);
}

TEST_CASE("the parts of several threads are in the order of time") {
  Recorder r;
  recording::Stream other;
  other.offer(&r.test.memory);
  other.adopt(1);
  MessageReader reader = reader_of(r.test.memory);
  r.enter(8);
  put(r.stream, RecordKind::send, 5, 0, 0);
  other.boundary(RecordKind::enter, 8, r.now += 10);
  put(other, RecordKind::send, 5, 1, 0);
  other.boundary(RecordKind::leave, 8, r.now += 10);
  r.leave(8);
  r.enter(8);
  put(r.stream, RecordKind::send, 5, 2, 0);
  r.leave(8);
  r.end_step();
  REQUIRE(reader.read(0));
  REQUIRE(reader.parts().size() == 3);
  for (int i = 0; i < 3; ++i) CHECK(reader.parts()[static_cast<std::size_t>(i)].tag == i);
}

TEST_CASE("a receive has the blocking probe before it, if its thread received nothing else in between") {
  Recorder r;
  MessageReader reader = reader_of(r.test.memory);
  r.enter(31);  // MPI_Mprobe, 1010 to 1110
  r.leave(31);
  r.enter(10);  // MPI_Mrecv, 1120 to 1220
  r.leave(10);
  put(r.stream, RecordKind::receive, 1, 0, 0);
  r.enter(10);
  r.leave(10);
  put(r.stream, RecordKind::receive, 1, 0, 0);
  r.enter(30);  // MPI_Probe, 1340 to 1440
  r.leave(30);
  r.enter(8);  // MPI_Isend, which receives nothing
  put(r.stream, RecordKind::send, 5, 4, 0);
  r.leave(8);
  r.enter(7);  // MPI_Irecv
  put(r.stream, RecordKind::receive_start, 1, 0, 3);
  r.leave(7);
  r.end_step();
  REQUIRE(reader.read(0));
  const auto& parts = reader.parts();
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].probe_begin_ns == 1010);
  CHECK(parts[0].probe_end_ns == 1110);
  CHECK(parts[0].begin_ns == 1120);
  CHECK(parts[1].probe_end_ns == 0);
  CHECK(parts[3].type == Type::receive_start);
  CHECK(parts[3].probe_begin_ns == 1340);
  CHECK(parts[3].probe_end_ns == 1440);
  CHECK(reader.inside().size() == 6);  // two probes, two receives, a send, the start of a receive
}

TEST_CASE("a region whose name is not known yet is looked up again") {
  Recorder r;
  bool known = false;
  MessageReader reader(r.test.memory, {[](std::uint64_t ticks) { return static_cast<std::int64_t>(ticks); },
                                       [](std::uint32_t) { return std::int64_t{0}; },
                                       [&](std::uint32_t) { return known ? "MPI_Probe" : ""; }});
  for (const int step : {0, 1}) {
    r.enter(30);
    r.leave(30);
    put(r.stream, RecordKind::receive, 1, 0, 0);
    r.end_step();
    REQUIRE(reader.read(step));
    REQUIRE(reader.parts().size() == 1);
    CHECK((reader.parts()[0].probe_end_ns > 0) == known);
    known = true;
  }
}
