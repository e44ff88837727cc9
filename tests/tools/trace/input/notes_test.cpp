// What reading a trace says about what is missing.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../../command.hpp"
#include "../traces.hpp"
#include "tools/trace/export/export.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using effort::trace::Kind;

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
  const std::int64_t first = small_trace(false).windows.front().last_step,
                     last = small_trace(false).windows.back().last_step;
  for (const std::vector<OpenTrace>& open :
       {std::vector<OpenTrace>{}, std::vector<OpenTrace>{{1, first}}, std::vector<OpenTrace>{{0, last}, {1, -1}}}) {
    const Scratch scratch;
    Trace trace = small_trace(false);
    trace.without_end = open;
    write_files(trace, scratch / "t");
    const Trace got = read_trace((scratch / "t").string());
    REQUIRE(got.without_end.has_value());
    REQUIRE(got.without_end->size() == open.size());
    CHECK(got.steps == (open.size() < 2 ? last + 1 : -1));
    CHECK(mentions(got.notes, " has no end") == !open.empty());
    if (open.size() == 1)
      CHECK(mentions(got.notes,
                     "the trace of 1 node has no end (node 1 breaks off after step " + std::to_string(first) + "): "));
    if (open.size() == 2)
      CHECK(mentions(got.notes, "the trace has no end (node 0 breaks off after step " + std::to_string(last) +
                                    ", node 1 has no window): "));
    const std::string text = scratch.run({"trace", "info", "t"}).out;
    CHECK((text.find("The trace has no end on 1 of 2 nodes.") != std::string::npos) == (open.size() == 1));
    CHECK((text.find("The trace has no end.") != std::string::npos) == (open.size() == 2));
    const auto info = scratch.run({"trace", "info", "t", "--json"}).json();
    CHECK(info["without_end"].size() == open.size());
    CHECK(info["steps"].is_null() == (open.size() == 2));
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
  if (!otf2_available()) SKIP("effort was built without OTF2");
  scratch.run({"trace", "export", "t", "--format", "otf2", "-o", "archive"});
  const Trace archive = read_trace((scratch / "archive/traces.otf2").string());
  std::size_t collectives = 0;
  for (const TraceThread& thread : archive.threads)
    collectives += static_cast<std::size_t>(std::count_if(thread.events.begin(), thread.events.end(),
                                                          [](const auto& e) { return e.kind == Kind::collective; }));
  CHECK(collectives == 4);
  CHECK(mentions(got.notes, "4 collective calls used communicators whose members are not known"));
}
