// The trace in the report's page: every call once, cut into pieces, as many as fit.
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "../command.hpp"
#include "record/writer.hpp"
#include "tools/report/report_trace.hpp"
#include "traces.hpp"

using namespace effort::tools;
using namespace effort::tools::test;

namespace {

constexpr std::size_t plenty = 100'000'000;

TraceForPage page_of(const Trace& trace, std::size_t bytes) {
  const TraceMessages messages = match_messages(trace);
  const CallEstimates calls = estimate_calls(trace);
  return trace_for_page({trace, messages, calls}, bytes);
}

std::uint64_t varint(std::span<const std::byte> bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<std::uint64_t>(bytes[at++]);
    value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
}

struct Slice {
  std::int64_t begin, duration;
  std::uint64_t region, depth;
};

std::vector<Slice> slices_of(const TraceForPage& page, const nlohmann::ordered_json& piece) {
  std::vector<Slice> out;
  auto at = piece[6].get<std::size_t>();
  auto time = piece[3].get<std::int64_t>();
  for (std::size_t i = 0; i < piece[5].get<std::size_t>(); ++i) {
    time += static_cast<std::int64_t>(varint(page.events, at));
    const auto duration = static_cast<std::int64_t>(varint(page.events, at));
    const std::uint64_t region = varint(page.events, at);
    out.push_back({time, duration, region, varint(page.events, at)});
  }
  return out;
}

/// One rank that makes many calls within one.
Trace long_trace(int calls) {
  Trace trace = empty_trace(1);
  trace.n_nodes = 1;
  Events events(0);
  events.enter(region_step);
  for (int i = 0; i < calls; ++i) events.wait(10).enter(region_solve).wait(5).leave(region_solve);
  events.wait(1).leave(region_step);
  const std::int64_t end = events.events.back().time_ns;
  add_window(trace, 0, 0, end);
  keep(trace, 0, effort::record::trace::reason_sample, 1, 0, events);
  return trace;
}

}  // namespace

TEST_CASE("the page holds the calls of a small trace with their nesting and messages") {
  const Trace trace = small_trace(false);
  const TraceForPage page = page_of(trace, plenty);
  CHECK(page.json["slices_left_out"] == 0);
  CHECK(page.json["messages"] == match_messages(trace).matched.size());
  CHECK(page.json["windows"].size() == 2);
  std::size_t slices = 0;
  for (const auto& piece : page.json["pieces"]) {
    for (const Slice& s : slices_of(page, piece)) {
      ++slices;
      CHECK((s.region >> 2) < trace.regions.size());
      CHECK(s.depth <= 1);
      CHECK(s.begin >= piece[3].get<std::int64_t>());
      CHECK(s.begin + s.duration <= piece[4].get<std::int64_t>());
    }
  }
  CHECK(slices == page.json["slices"]);
  const auto first = slices_of(page, page.json["pieces"][0]);
  REQUIRE(first.size() >= 2);
  CHECK(first[0].depth == 0);
  CHECK((first[0].region >> 2) == region_step);
  CHECK((first[1].region >> 2) == region_solve);
  CHECK(first[1].begin == 10);
  CHECK(first[1].duration == 500);
}

TEST_CASE("long windows are cut; a call across a cut is in all of its pieces") {
  constexpr int calls = 20'000;
  const TraceForPage page = page_of(long_trace(calls), plenty);
  REQUIRE(page.json["pieces"].size() == 3);
  std::size_t solved = 0;
  std::int64_t step = 0;
  for (std::size_t p = 0; p < 3; ++p)
    for (const Slice& s : slices_of(page, page.json["pieces"][p])) {
      if (s.depth == 0) {
        CHECK((s.region & 3) == (p == 0 ? 1u : p == 1 ? 3u : 2u));
        step += s.duration;
      } else if ((s.region & 2) == 0) {
        ++solved;
      }
    }
  CHECK(solved == calls);
  CHECK(step == calls * 15 + 1);
}

TEST_CASE("pieces that do not fit are left out and counted; unusual windows come first") {
  Trace trace = empty_trace(4);
  namespace why = effort::record::trace;
  for (std::int64_t w = 0; w < 6; ++w) {
    add_window(trace, w, w * 100'000, (w + 1) * 100'000);
    for (const std::int32_t rank : {0, 2}) {
      Events events(w * 100'000);
      for (int i = 0; i < 100; ++i) events.wait(300).enter(region_solve).wait(200).leave(region_solve);
      keep(trace, rank, w == 4 && rank == 2 ? why::reason_rebalance : why::reason_sample, 0.5, 0, events);
    }
  }
  const TraceForPage whole = page_of(trace, plenty), part = page_of(trace, whole.events.size() * 4 / 3 / 3 + 8);
  CHECK(whole.json["left_out"].empty());
  CHECK(part.json["slices"].get<int>() + part.json["slices_left_out"].get<int>() == 1200);
  CHECK(part.json["slices_left_out"].get<int>() >= 700);
  CHECK(part.events.size() <= whole.events.size() / 3 + 8);
  int of_odd = 0;
  for (const auto& piece : part.json["pieces"]) of_odd += piece[0] == 4;
  CHECK(of_odd == 2);
  CHECK(page_of(trace, 0).json["slices"] == 0);
}

TEST_CASE("the ranks that are shown first are in every window") {
  Trace trace = empty_trace(8);
  namespace why = effort::record::trace;
  for (std::int64_t w = 0; w < 4; ++w) {
    add_window(trace, w, w * 100'000, (w + 1) * 100'000);
    for (std::int32_t rank = 0; rank < 8; ++rank) {
      Events events(w * 100'000);
      for (int i = 0; i < 100; ++i) events.wait(300).enter(region_solve).wait(200).leave(region_solve);
      keep(trace, rank, rank == 5 ? why::reason_medoid : why::reason_sample, 0.5, 0, events);
    }
  }
  const TraceForPage whole = page_of(trace, plenty), part = page_of(trace, whole.events.size() * 4 / 3 * 17 / 32);
  std::map<std::int64_t, int> in_windows;
  int of_first = 0;
  for (const auto& piece : part.json["pieces"]) {
    if (piece[1] == 5) ++in_windows[piece[0].get<std::int64_t>()];
    of_first += piece[0] == 0;
  }
  CHECK(in_windows.size() == 4);
  CHECK(of_first == 8);  // then whole windows
}

TEST_CASE("a report needs a snapshot beside the trace") {
  const Scratch scratch;
  write_files(small_trace(false), scratch / "app-17.trace");
  const Outcome outcome = scratch.run({"report", "app-17.trace", "-o", "out.html"});
  if (outcome.err.find("Node.js") != std::string::npos) SKIP("this build has no report page");
  CHECK(outcome.code == 2);
  CHECK(outcome.err.find("no snapshot") != std::string::npos);
}

TEST_CASE("a trace of another run is refused, even if there is only one snapshot") {
  const Scratch scratch;
  const Trace trace = small_trace(false);
  write_files(trace, scratch / "app-17.trace");
  const auto outcome = [&](const std::string& name, const std::string& job) {
    effort::record::Run run;
    run.version = "0.1.0";
    run.name = name;
    run.job = job;
    run.place(std::vector<std::int32_t>(static_cast<std::size_t>(trace.n_ranks), 0));
    run.steps = 10;
    run.load_metric = "time";
    run.metrics = {{"time", "s"}};
    run.wall_seconds = 1;
    run.own_cpu_seconds = {0.1};
    run.own_bytes = {1024};
    scratch.write("a.effort", effort::record::encode(run, {}));
    return scratch.run({"report", "a.effort", "app-17.trace", "-o", "out.html"});
  };
  const Outcome same = outcome("app", "17");
  if (same.err.find("Node.js") != std::string::npos) SKIP("this build has no report page");
  INFO(same.err);
  CHECK(same.code == 0);
  CHECK(outcome("app", "").code == 0);  // nothing is known against it
  CHECK(outcome("app", "18").code == 2);
  const Outcome other = outcome("other", "17");
  CHECK(other.code == 2);
  CHECK(other.err.find("(app, job 17): give the snapshot of that run") != std::string::npos);
}
