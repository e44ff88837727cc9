// effort comm patterns, phases and diff, as a user runs them.
#include <catch2/catch_test_macros.hpp>

#include "../command.hpp"
#include "../trace/traces.hpp"
#include "tools/trace/export/export.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using effort::trace::Kind;
using nlohmann::json;
namespace why = effort::record::trace;

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int32_t ranks = 5;

/// Ten steps of a ring shift, then ten of a reduction; in step 6, rank 3 sends `late_ms` late.
Trace two_phases(std::int64_t late_ms) {
  Trace trace = empty_trace(ranks);
  trace.regions.push_back({"MPI_Sendrecv", 1});
  const auto exchange = static_cast<std::uint32_t>(trace.regions.size() - 1);
  trace.bound = effort::trace::TimeBound::exact();
  for (std::int64_t step = 0; step < 20; ++step) {
    const std::int64_t start = 100 * ms * step;
    add_window(trace, step, start, start + 100 * ms);
    const std::int64_t late = step == 6 ? late_ms * ms : 0;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      Events e(start);
      e.step(static_cast<std::uint64_t>(step)).at(start + ms).enter(region_solve);
      if (step < 10) {
        e.at(start + 2 * ms + (rank == 3 ? late : 0)).enter(exchange);
        e.message(Kind::send, (rank + 1) % ranks, 1, 1000).at(start + 3 * ms + late);
        e.message(Kind::receive, (rank + ranks - 1) % ranks, 1, 1000).leave(exchange);
      } else {
        e.at(start + 2 * ms + rank).enter(region_reduce).collective(-1, 8, 8).at(start + 3 * ms).leave(region_reduce);
      }
      e.at(start + 50 * ms).leave(region_solve);
      keep(trace, rank, why::reason_pin, 0, -1, e);
    }
  }
  return trace;
}

}  // namespace

TEST_CASE("patterns, phases and slow instances of a trace") {
  const Scratch scratch;
  write_files(two_phases(40), scratch / "run.trace");
  const Outcome outcome = scratch.run({"comm", "patterns", "run.trace", "--json"});
  REQUIRE(outcome.code == 0);
  const json found = outcome.json();
  REQUIRE(found["patterns"].size() == 2);
  CHECK(found["patterns"][0]["name"] == "ring");
  CHECK(found["patterns"][0]["ranks"] == 5);
  CHECK(found["patterns"][0]["events"] == 10);
  CHECK(found["patterns"][0]["instances"] == 10);
  CHECK(found["patterns"][1]["name"] == "reduce");
  REQUIRE(found["instances"].size() == 20);
  for (std::size_t i = 0; i < 20; ++i) {
    const json& instance = found["instances"][i];
    CHECK(instance["pattern"] == (i < 10 ? 0 : 1));
    CHECK(instance["start_ns"] == static_cast<std::int64_t>(i) * 100 * ms + 2 * ms);
    CHECK(instance["bytes"] == (i < 10 ? 5000 : 40));
  }
  CHECK(found["instances"][6]["last_rank"] == 3);
  REQUIRE(found["slow"].size() == 1);
  CHECK(found["slow"][0]["instance"] == 6);
  CHECK(found["slow"][0]["cause"] == "late_sender");
  CHECK(found["slow"][0]["last_rank"] == 3);
  CHECK(found["slow"][0]["affinity"] == "Medium");
  CHECK(scratch.run({"comm", "patterns", "run.trace", "--json", "--cutoff", "1e9"}).json()["slow"].empty());

  const json phases = scratch.run({"comm", "phases", "run.trace", "--json"}).json();
  CHECK(phases["leaves"] == json::parse("[[0, 10], [10, 20]]"));
  REQUIRE(phases["tree"].size() == 1);
  CHECK(phases["tree"][0]["split"] == 10);
  CHECK(phases["tree"][0]["strength"] > 0);
  CHECK(phases["functions"][0][0] == "solve");
  CHECK(scratch.run({"comm", "phases", "run.trace", "--json", "--depth", "0"}).json()["leaves"].size() == 1);
  CHECK(scratch.run({"comm", "phases", "run.trace", "--json", "--length", "21"}).json()["tree"].empty());
  CHECK(scratch.run({"comm", "phases", "run.trace", "--json", "--criterion", "BIC"}).json()["tree"].size() == 1);
}

TEST_CASE("the answer comes first") {
  const Scratch scratch;
  write_files(two_phases(40), scratch / "run.trace");
  const Outcome patterns = scratch.run({"comm", "patterns", "run.trace"});
  CHECK(patterns.out.rfind("20 instances of 2 communication patterns, the most time in: ring of 5 ranks (10 times",
                           0) == 0);
  CHECK(patterns.out.find("1 because of a late sender") != std::string::npos);
  CHECK(patterns.out.find("Rank 3 was to blame in 1 of 1.") != std::string::npos);
  const Outcome phases = scratch.run({"comm", "phases", "run.trace"});
  CHECK(phases.out.rfind("The communication has 2 phases.\nThe clearest change comes before instance 10", 0) == 0);
}

TEST_CASE("two runs") {
  const Scratch scratch;
  write_files(two_phases(40), scratch / "a.trace");
  write_files(two_phases(10), scratch / "b.trace");
  const json diff = scratch.run({"comm", "diff", "a.trace", "b.trace", "--json"}).json();
  REQUIRE(diff["phases"].size() == 2);
  CHECK(diff["phases"][1]["a"] == json::parse("[10, 20]"));
  CHECK(diff["phases"][1]["similarity"] == 1);
  // Rank 4 receives from the late rank, and rank 2 sends to it.
  REQUIRE(diff["waits"].size() >= 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(diff["waits"][i]["cause"] == (i == 0 ? "late_receiver" : "late_sender"));
    CHECK(diff["waits"][i]["a_ns"] == 40 * ms);
    CHECK(diff["waits"][i]["b_ns"] == 10 * ms);
  }
  const Outcome text = scratch.run({"comm", "diff", "a.trace", "b.trace"});
  REQUIRE(text.code == 0);
  CHECK(text.out.find("the largest change is 30 ms less of late_receiver in `") != std::string::npos);
}

TEST_CASE("an archive has the patterns of the trace that it was exported from") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  write_files(two_phases(40), scratch / "run.trace");
  REQUIRE(scratch.run({"trace", "export", "run.trace", "--format", "otf2", "-o", "archive"}).code == 0);
  const json own = scratch.run({"comm", "patterns", "run.trace", "--json"}).json();
  const json other = scratch.run({"comm", "patterns", "archive/traces.otf2", "--json"}).json();
  CHECK(other["patterns"] == own["patterns"]);
  REQUIRE(other["slow"].size() == 1);
  CHECK(other["slow"][0]["instance"] == 6);
}

TEST_CASE("some ranks only, nothing at all, wrong options") {
  const Scratch scratch;
  write_files(small_trace(false), scratch / "part.trace");
  const Outcome part = scratch.run({"comm", "patterns", "part.trace"});
  CHECK(part.code == 0);
  CHECK(part.out.find("they are part of no pattern") != std::string::npos);
  Trace nothing = empty_trace(2);
  add_window(nothing, 0, 0, 100);
  Events silent(0);
  silent.step(0).enter(region_solve).wait(50).leave(region_solve);
  keep(nothing, 0, why::reason_pin, 0, -1, silent);
  write_files(nothing, scratch / "empty.trace");
  for (const std::string command : {"patterns", "phases"}) {
    const Outcome outcome = scratch.run({"comm", command, "empty.trace"});
    CHECK(outcome.code == 0);
    CHECK(outcome.out.rfind("There are no messages and collectives of known ranks in the trace", 0) == 0);
    CHECK(scratch.run({"comm", command, "empty.trace", "--json"}).code == 0);
  }
  CHECK(scratch.run({"comm", "diff", "empty.trace", "part.trace"}).code == 0);
  CHECK(scratch.run({"comm", "patterns", "part.trace", "--symbols", "both"}).code == 2);
  CHECK(scratch.run({"comm", "phases", "part.trace", "--criterion", "CIC"}).code == 2);
  CHECK(scratch.run({"comm", "diff", "part.trace"}).code == 2);
  CHECK(scratch.run({"comm", "patterns", "missing.trace"}).code == 1);
}
