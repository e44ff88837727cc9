// The formats of `effort trace export`: golden text for CSV, a round trip for OTF2, protoc's view of Perfetto's.
#include "tools/trace/export/export.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <set>

#include "exported.hpp"
#include "tools/output/usage_error.hpp"
#include "tools/trace/analysis/calls.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using effort::trace::Kind;

namespace {

/// The origins of time of two traces differ by a constant.
Trace shifted(Trace trace, std::int64_t ns) {
  for (TraceThread& thread : trace.threads)
    for (TraceEvent& event : thread.events) event.time_ns += ns;
  return trace;
}

}  // namespace

TEST_CASE("csv: one line per event") {
  const Scratch scratch;
  Trace trace = small_trace(false);
  const TraceExported done = export_trace_csv(trace, match_messages(trace), to(scratch, "out.csv"));
  CHECK(done.events == trace.events());
  CHECK(done.messages == 6);
  const std::string text = scratch.read_text("out.csv");
  const std::string first =
      "rank,thread,window,time_ns,kind,name,communicator,peer,tag,bytes,received_bytes,request\n"
      "0,0,0,0,step,,,,,7,,\n"
      "0,0,0,0,enter,step,,,,,,\n"
      "0,0,0,10,enter,solve,,,,,,\n"
      "0,0,0,510,leave,solve,,,,,,\n"
      "0,0,0,520,enter,MPI_Send,,,,,,\n"
      "0,0,0,520,send,,MPI_COMM_WORLD,1,5,800,,\n"
      "0,0,0,550,leave,MPI_Send,,,,,,\n"
      "0,0,0,560,enter,MPI_Irecv,,,,,,\n"
      "0,0,0,560,receive_start,,MPI_COMM_WORLD,,,,,0\n"
      "0,0,0,565,leave,MPI_Irecv,,,,,,\n"
      "0,0,0,575,enter,MPI_Waitall,,,,,,\n"
      "0,0,0,665,receive_done,,MPI_COMM_WORLD,1,6,400,,0\n";
  CHECK(text.substr(0, first.size()) == first);
  CHECK(text.find("0,0,2,2671,phase,\"warm, up\",,,,,,\n0,0,2,2671,work,cells,,,,100,,\n") != std::string::npos);
  CHECK(text.find(",collective,,MPI_COMM_WORLD,0,,8,32,\n") != std::string::npos);
  CHECK(text.find(",send_done,,,,,,,2\n") != std::string::npos);
  CHECK(count(text, "\n") == trace.events() + 1);
}

TEST_CASE("otf2: what is written reads back") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  Trace trace = small_trace(true);
  trace.windows[0].region_seconds = {{region_solve, 5e-6}, {region_waitall, 1e-6}};
  trace.windows[0].region_calls = {{region_solve, 70}};
  const Trace same = round_trip(scratch, trace, "archive");
  REQUIRE(same.threads.size() == trace.threads.size());
  for (std::size_t t = 0; t < trace.threads.size(); ++t) {
    CHECK(same.threads[t].rank == trace.threads[t].rank);
    CHECK(same.threads[t].thread == trace.threads[t].thread);
    CHECK(described(same, same.threads[t]) == described(trace, trace.threads[t]));
    REQUIRE(same.threads[t].spans.size() == 2);
    CHECK(same.threads[t].spans[1].window == 1);
    CHECK(same.threads[t].spans[1].start_ns == trace.threads[t].spans[1].start_ns);
  }
  CHECK(same.notes.empty());
  CHECK_FALSE(same.is_otf2);
  CHECK(same.n_ranks == 4);
  CHECK(same.node_of == trace.node_of);
  CHECK(same.guide == "load");
  REQUIRE(same.windows.size() == 2);
  CHECK(same.windows[0].region_calls == trace.windows[0].region_calls);
  CHECK_FALSE(same.windows[1].region_calls.has_value());
  CHECK(same.windows[1].ordinal == 2);
  CHECK(same.windows[1].ranks[0].reasons == trace.windows[1].ranks[0].reasons);
  CHECK(same.windows[1].ranks[0].probability == 0.5);
  // The estimates are the same, too.
  const CallEstimates a = estimate_calls(trace), b = estimate_calls(same);
  REQUIRE(a.calls.size() == b.calls.size());
  for (std::size_t i = 0; i < a.calls.size(); ++i) {
    CHECK(a.calls[i].path == b.calls[i].path);
    CHECK(a.calls[i].count.total == b.calls[i].count.total);
    CHECK(a.calls[i].seconds.total == b.calls[i].seconds.total);
    CHECK(a.calls[i].seconds.variance == b.calls[i].seconds.variance);
  }
  const TraceMessages messages = match_messages(same);
  CHECK(messages.matched.size() == 6);
  CHECK(messages.unmatched_sends + messages.unmatched_receives == 0);
}

TEST_CASE("otf2: as if another tool had recorded it") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  Trace trace = small_trace(true);
  trace.is_otf2 = true;
  const Trace same = round_trip(scratch, trace, "archive");
  CHECK(same.is_otf2);
  REQUIRE(same.windows.size() == 1);
  CHECK(same.windows[0].ranks.size() == 4);
  CHECK(match_messages(same).matched.size() == 6);
  for (const CallEstimate& call : estimate_calls(same).calls) CHECK(call.count.variance == 0);
}

TEST_CASE("otf2: halves of messages and of calls") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  Trace trace = small_trace(false);
  // Of rank 1, the second window begins inside of calls and ends inside of others.
  TraceThread& thread = trace.threads[1];
  TraceSpan& span = thread.spans[1];
  span.first += 3;
  span.end -= 2;
  thread.events.resize(span.end);
  thread.events.erase(thread.events.begin() + static_cast<std::ptrdiff_t>(thread.spans[0].end),
                      thread.events.begin() + static_cast<std::ptrdiff_t>(span.first));
  span.end -= span.first - thread.spans[0].end;
  span.first = thread.spans[0].end;
  const TraceMessages messages = match_messages(trace);
  REQUIRE(messages.unmatched_sends == 2);
  const Trace same = round_trip(scratch, trace, "archive");
  std::size_t sends = 0, depth = 0;
  for (const TraceThread& t : same.threads) {
    for (const TraceEvent& event : t.events) {
      sends += event.kind == Kind::send || event.kind == Kind::send_start ? 1 : 0;
      depth += event.kind == Kind::enter ? 1 : 0;
      REQUIRE((event.kind != Kind::leave || depth > 0));
      depth -= event.kind == Kind::leave ? 1 : 0;
    }
    CHECK(depth == 0);
  }
  CHECK(sends == messages.matched.size());
  CHECK(same.threads[1].events[thread.spans[1].first].time_ns == trace.windows[1].start_ns);
}

TEST_CASE("otf2: otf2-print and Python read it") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  export_trace_otf2(small_trace(false), match_messages(small_trace(false)), to(scratch, "archive"));
  const Outcome printed = scratch.run_program("otf2-print", {"archive/traces.otf2"});
  if (printed.code == 127) SKIP("otf2-print is not installed (otf2-tools)");
  INFO(printed.err);
  CHECK(printed.code == 0);
  CHECK(printed.err.find("rror") == std::string::npos);
  CHECK(count(printed.out, "\nMPI_SEND ") == 4);
  CHECK(count(printed.out, "\nMPI_IRECV ") == 6);
  CHECK(count(printed.out, "\nMPI_COLLECTIVE_END ") == 6);
  CHECK(count(printed.out, "Operation: REDUCE") == 6);
  CHECK(count(printed.out, "Tag: 5, Length: 800") == 4);  // both ends in both windows
  CHECK(printed.out.find("Length: 100") == std::string::npos);
  const Outcome definitions = scratch.run_program("otf2-print", {"-G", "archive/traces.otf2"});
  CHECK(definitions.out.find("steps 0-0: sample medoid, probability 0.5; steps 2-2: sample medoid, probability 0.5") !=
        std::string::npos);
  const std::string python = read_by_python(scratch, R"(
    print(names.count('Enter'), names.count('Leave'), names.count('MpiSend'), names.count('MpiIrecv'))
    print(sorted(group.name for group in trace.definitions.location_groups))
)");
  CHECK(python == "30 30 4 6\n['rank 0', 'rank 1', 'rank 2', 'rank 3']\n");
}

TEST_CASE("otf2: a message of more than 4 GiB") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  Trace trace = empty_trace(2);
  add_window(trace, 0, 0, 1000).strata = {{2, 2}};
  Events sender(0), receiver(0);
  sender.wait(5).enter(region_send).message(Kind::send, 1, 5, 42'000'000'000).wait(5).leave(region_send);
  receiver.wait(5).enter(region_waitall).wait(20).message(Kind::receive, 0, 5, 42'000'000'000).leave(region_waitall);
  keep(trace, 0, effort::record::trace::reason_sample, 1, 0, sender);
  keep(trace, 1, effort::record::trace::reason_sample, 1, 0, receiver);
  const Trace same = round_trip(scratch, trace, "archive");
  REQUIRE(same.threads.size() == 2);
  for (std::size_t t = 0; t < 2; ++t) CHECK(described(same, same.threads[t]) == described(trace, trace.threads[t]));
  CHECK(match_messages(same).matched.size() == 1);
}

TEST_CASE("otf2: replaces an older archive and nothing else") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  const Trace trace = small_trace(true);
  round_trip(scratch, trace, "archive");
  const Trace again = round_trip(scratch, shifted(trace, 5), "archive");
  CHECK(again.threads.size() == 4);
  std::filesystem::create_directory(scratch / "mine");
  scratch.write_text("mine/thesis.tex", "42");
  const TraceMessages messages = match_messages(trace);
  CHECK_THROWS_AS(export_trace_otf2(trace, messages, to(scratch, "mine")), UsageError);
  scratch.write_text("file", "42");
  CHECK_THROWS_AS(export_trace_otf2(trace, messages, to(scratch, "file")), UsageError);
  CHECK_THROWS(export_trace_otf2(trace, messages, to(scratch, "no/such/place")));
  CHECK(scratch.read_text("mine/thesis.tex") == "42");
  CHECK(scratch.read_text("file") == "42");
}

TEST_CASE("perfetto: protoc reads it") {
  const Scratch scratch;
  const Trace trace = small_trace(false);
  const TraceExported done =
      export_trace_perfetto(trace, match_messages(trace), to(scratch, "out.pftrace"), std::uint64_t{1} << 30);
  CHECK(done.paths.size() == 1);
  const std::string text = decoded(scratch, "out.pftrace");
  CHECK(count(text, "TYPE_SLICE_BEGIN") == 30);
  CHECK(count(text, "TYPE_SLICE_END") == 30);
  CHECK(count(text, " flow_ids:") == 6);
  CHECK(count(text, "terminating_flow_ids:") == 6);
  CHECK(count(text, "pid: 3\n        process_name: \"rank 3 (stratum 1, node 1)\"") == 0);
  CHECK(text.find("process_name: \"rank 3 (stratum 1, node 1)\"") != std::string::npos);
  CHECK(text.find("thread_name: \"thread 1\"") != std::string::npos);
  CHECK(text.find("name: \"load per step\"") != std::string::npos);
  CHECK(text.find("unit: UNIT_TIME_NS") != std::string::npos);
  // Rank 0: 1000 ns less 30 + 5 + 90 + 5 + 20 in MPI.
  CHECK(count(text, "counter_value: 850\n") == 2);
}

TEST_CASE("perfetto: parts below a size, each of which can be opened alone") {
  const Scratch scratch;
  Trace trace = empty_trace(3);
  for (std::int64_t w = 0; w < 6; ++w) {
    add_window(trace, w, 100'000 * w, 100'000 * (w + 1)).strata = {{3, 3}};
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      Events e(100'000 * w);
      for (int i = 0; i < 300; ++i) e.enter(region_solve).wait(5).leave(region_solve);
      keep(trace, rank, effort::record::trace::reason_sample, 1, 0, e);
    }
  }
  const TraceExported done = export_trace_perfetto(trace, match_messages(trace), to(scratch, "out"), 1 << 16);
  REQUIRE(done.paths.size() > 2);
  std::size_t begins = 0;
  for (std::size_t i = 0; i < done.paths.size(); ++i) {
    const std::string name = i == 0 ? "out" : "out." + std::to_string(i + 1);
    CHECK(std::filesystem::file_size(scratch / name) < (1 << 16));
    const std::string text = decoded(scratch, name);
    begins += count(text, "TYPE_SLICE_BEGIN");
    CHECK(text.find("name: \"solve\"") != std::string::npos);
    CHECK(text.find("process_name") != std::string::npos);
  }
  CHECK(begins == 6 * 3 * 300);
}
