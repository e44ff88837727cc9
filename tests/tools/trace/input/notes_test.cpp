// What reading a trace says about what is missing.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../../command.hpp"
#include "../traces.hpp"

using namespace effort::tools;
using namespace effort::tools::test;

TEST_CASE("a trace without step 0 says why") {
  const auto note_with = [](std::uint64_t first) {
    const Scratch scratch;
    Trace trace = empty_trace(2);
    add_window(trace, 0, 0, 1000, 10).strata = {{2, 2}};
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      Events e(10);
      if (first == 0) e.enter(region_solve).wait(5).leave(region_solve);
      e.step(std::max<std::uint64_t>(first, 1)).enter(region_solve).wait(5).leave(region_solve).step(2);
      keep(trace, rank, effort::record::trace::reason_sample, 1, 0, e);
    }
    write_files(trace, scratch / "t");
    return mentions(read_trace((scratch / "t").string()).notes, "in step 0");
  };
  CHECK(note_with(1));
  CHECK_FALSE(note_with(0));
  CHECK_FALSE(note_with(2));
}

TEST_CASE("a trace that breaks off says so, and where") {
  for (const std::int32_t nodes : {0, 1, 2}) {
    const Scratch scratch;
    Trace trace = small_trace(false);
    trace.nodes_without_end = nodes;
    write_files(trace, scratch / "t");
    const Trace got = read_trace((scratch / "t").string());
    const std::int64_t last = trace.windows.back().last_step;
    CHECK(got.nodes_without_end == nodes);
    CHECK(got.steps == (nodes < 2 ? last + 1 : -1));
    CHECK(mentions(got.notes, "the trace has no end: ") == (nodes == 2));
    CHECK(mentions(got.notes, "the trace of 1 node has no end: ") == (nodes == 1));
    CHECK(mentions(got.notes, "after step " + std::to_string(last) + " is missing") == (nodes > 0));
    const std::string text = scratch.run({"trace", "info", "t"}).out;
    CHECK((text.find("The trace breaks off before the end of the run.") != std::string::npos) == (nodes > 0));
    const auto info = scratch.run({"trace", "info", "t", "--json"}).json();
    CHECK(info["nodes_without_end"] == nodes);
    CHECK(info["steps"].is_null() == (nodes == 2));
  }
}

TEST_CASE("collectives of a communicator with unknown members are counted, and not taken for those of MPI_COMM_SELF") {
  const Scratch scratch;
  Trace trace = empty_trace(2);
  trace.communicators.push_back({"MPI_COMM_SELF", {}, {}, true});
  trace.communicators.push_back({"(other communicators)", {}, {}});
  add_window(trace, 0, 0, 1000, 10).strata = {{2, 2}};
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    Events e(10);
    for (const std::uint32_t communicator : {0, 2, 3, 3})
      e.wait(5).enter(region_reduce).wait(20).collective(0, 8, 32, communicator).leave(region_reduce);
    e.step(1);
    keep(trace, rank, effort::record::trace::reason_sample, 1, 0, e);
  }
  write_files(trace, scratch / "t");
  const Trace got = read_trace((scratch / "t").string());
  REQUIRE(got.communicators.size() == 4);
  CHECK(got.communicators[2].self);
  CHECK(got.communicators[3].unknown());
  CHECK(mentions(got.notes, "unknown for 4 calls of collectives"));
}
