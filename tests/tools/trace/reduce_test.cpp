// effort trace reduce, as a user runs it.
#include <catch2/catch_test_macros.hpp>

#include "../command.hpp"
#include "traces.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using nlohmann::json;
namespace why = effort::record::trace;

namespace {

constexpr std::int64_t us = 1'000;

/// Steps of 1 ms in which rank 1 computes longer, by 0.3 ms or in every third step by 0.6 ms; then all reduce.
Trace late_rank(int steps) {
  Trace trace = empty_trace(3);
  trace.regions.push_back({"MPI_Allreduce", 1});
  const auto call = static_cast<std::uint32_t>(trace.regions.size() - 1);
  trace.bound = effort::trace::TimeBound::exact();
  const std::int64_t length = 2000 * us;
  add_window(trace, 0, 0, steps * length, steps);
  std::vector<Events> events(3, Events(0));
  for (int s = 0; s < steps; ++s) {
    const std::int64_t start = s * length, late = (s % 3 == 0 ? 600 : 300) * us;
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      Events& e = events[static_cast<std::size_t>(rank)];
      e.at(start).step(static_cast<std::uint64_t>(s)).enter(region_solve);
      e.at(start + 1000 * us + (rank == 1 ? late : 0)).leave(region_solve);
      e.enter(call).collective(-1, 8, 8).at(start + 1000 * us + late + 5 * us).leave(call);
    }
  }
  for (std::int32_t rank = 0; rank < 3; ++rank)
    keep(trace, rank, why::reason_pin, 0, -1, events[static_cast<std::size_t>(rank)]);
  return trace;
}

std::int64_t sum(const json& totals, const std::string& cause) {
  std::int64_t out = 0;
  for (const json& ns : totals[cause]) out += ns.get<std::int64_t>();
  return out;
}

}  // namespace

TEST_CASE("a trace is reduced by steps, and the waits are compared") {
  const Scratch scratch;
  write_files(late_rank(30), scratch / "run-17.trace");
  // There are two kinds of steps, so two representatives per rank lose nothing.
  const json two = scratch.run({"trace", "reduce", "--method", "absDiff:1000", "--json", "run-17.trace"}).json();
  CHECK(two["method"] == "absDiff:1000");
  CHECK(two["segments"] == 90);
  CHECK(two["classes"] == 3);
  CHECK(two["stored"] == 6);
  CHECK(two["contexts"] == json({{{"name", "step"}, {"region", ""}, {"segments", 90}, {"stored", 6}}}));
  CHECK(two["degree"].get<double>() > 0.96);
  CHECK(two["distance90_ns"] == 0);
  CHECK(two["retained"] == true);
  CHECK(two["violations"] == 0);
  CHECK(two["size_bytes"] < two["full_bytes"]);
  CHECK(sum(two["waits_full"], "nxn") == 2 * (10 * 600 + 20 * 300) * us);
  CHECK(two["waits"] == two["waits_full"]);

  // The first step stands for all: the waits of ranks 0 and 2 are 1.5 times as long.
  const json one = scratch.run({"trace", "reduce", "--method", "iter_k:1", "--json", "run-17.trace"}).json();
  CHECK(one["stored"] == 3);
  CHECK(one["retained"] == false);
  REQUIRE(one["wrong"].size() == 2);
  CHECK(one["wrong"][0]["cause"] == "nxn");
  CHECK(one["wrong"][0]["rank"] == 0);
  CHECK(sum(one["waits"], "nxn") == 2 * 30 * 600 * us);
  const std::string text = scratch.run({"trace", "reduce", "--method", "iter_k:1", "run-17.trace"}).out;
  CHECK(text.starts_with("iter_k:1 keeps 3 of 90 segments (steps): "));
  CHECK(text.find("Not all waits are retained: nxn on rank 0, ") != std::string::npos);

  const json all = scratch.run({"trace", "reduce", "--all", "--json", "run-17.trace"}).json()["methods"];
  REQUIRE(all.size() == 10);
  CHECK(all[9]["method"] == "bounded:0.2");
  CHECK(all[9]["retained"] == true);
  CHECK(all[9]["stored"] <= 6);
  CHECK(scratch.run({"trace", "reduce", "--thresholds", "--json", "run-17.trace"}).json()["methods"].size() == 55);
}

TEST_CASE("regions that are repeated can be the segments of a reduction") {
  const Scratch scratch;
  write_files(late_rank(10), scratch / "run-17.trace");
  const json solve =
      scratch.run({"trace", "reduce", "--segment", "solve", "--json", "--method", "iter_avg", "run-17.trace"}).json();
  CHECK(solve["segments"] == 3 * 20);  // each call of solve, and what follows it
  CHECK(solve["stored"] == 3 * 2);
}

TEST_CASE("a reduction that cannot be made says why") {
  const Scratch scratch;
  write_files(late_rank(4), scratch / "run-17.trace");
  const Outcome method = scratch.run({"trace", "reduce", "--method", "best", "run-17.trace"});
  CHECK(method.code != 0);
  CHECK(method.err.find("--method 'best' is not a method") != std::string::npos);
  const Outcome region = scratch.run({"trace", "reduce", "--segment", "nowhere", "run-17.trace"});
  CHECK(region.code != 0);
  CHECK(region.err.find("no region of the trace is called 'nowhere'") != std::string::npos);
  CHECK(scratch.run({"trace", "reduce", "--all", "--method", "iter_avg", "run-17.trace"}).code != 0);

  Trace without = late_rank(4);
  for (auto& thread : without.threads)
    std::erase_if(thread.events, [](const TraceEvent& e) { return e.kind == effort::trace::Kind::step; });
  for (auto& thread : without.threads)
    for (auto& span : thread.spans) span.end = thread.events.size();
  write_files(without, scratch / "steps-17.trace");
  const Outcome steps = scratch.run({"trace", "reduce", "steps-17.trace"});
  CHECK(steps.code != 0);
  CHECK(steps.err.find("--segment") != std::string::npos);
}

TEST_CASE("trace info: windows without a sample, and whether the budget was the reason") {
  const Scratch scratch;
  Trace trace = late_rank(30);
  trace.windows[0].strata = {{2, 0}, {1, 0}};
  write_files(trace, scratch / "run-17.trace");
  const std::string text = scratch.run({"trace", "info", "run-17.trace"}).out;
  CHECK(text.find("1 window without a sample, for which EFFORT_TRACE_BUDGET left no room") != std::string::npos);
  trace.windows[0].strata.clear();
  write_files(trace, scratch / "run-18.trace");
  CHECK(scratch.run({"trace", "info", "run-18.trace"}).out.find("1 window without a sample: the") != std::string::npos);
}
