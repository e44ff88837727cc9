// One-sided communication and persistent collectives in exports.
#include <algorithm>

#include "exported.hpp"
#include "tools/trace/analysis/calls.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using effort::trace::Kind;

namespace {

enum More : std::uint32_t {
  region_put = region_reduce + 1,
  region_get,
  region_accumulate,
  region_swap,
  region_lock,
  region_flush,
  region_flush_local,
  region_unlock_all,
  region_fence,
  region_start
};

/// Two ranks access each other's memory; rank 1 by windows of the intercommunicator's two ranks as well.
Trace accesses() {
  Trace trace = empty_trace(2);
  for (const char* name : {"MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Compare_and_swap", "MPI_Win_lock",
                           "MPI_Win_flush", "MPI_Win_flush_local", "MPI_Win_unlock_all", "MPI_Win_fence", "MPI_Start"})
    trace.regions.push_back({name, 1});
  add_window(trace, 0, 0, 10'000).strata = {{2, 2}};
  Events a(0);
  const auto call = [&a](std::uint32_t region, std::int32_t target, std::uint64_t sent, std::uint64_t received,
                         std::uint32_t communicator = 0) {
    a.wait(5).enter(region).access(target, sent, received, communicator).wait(10).leave(region);
  };
  call(region_lock, 1, 0, 0);
  call(region_put, 1, 24, 0);
  call(region_put, 0, 16, 0);  // to itself
  call(region_flush_local, 1, 0, 0);
  call(region_flush, 1, 0, 0);
  call(region_get, 1, 0, 40);
  call(region_accumulate, 1, 8, 0);
  call(region_swap, 1, 4, 4);
  call(region_put, 1, 5'000'000'000, 0, 1);
  call(region_unlock_all, -1, 0, 0);
  keep(trace, 0, effort::record::trace::reason_sample, 1, 0, a);
  Events b(0);
  b.wait(5).enter(region_fence).collective(-1, 0, 0).wait(10).leave(region_fence);
  b.wait(5).enter(region_put).access(0, 0, 0).wait(10).leave(region_put);  // an empty one
  b.wait(5).enter(region_fence).collective(-1, 0, 0).wait(10).leave(region_fence);
  keep(trace, 1, effort::record::trace::reason_sample, 1, 0, b);
  return trace;
}

double bytes_of(const Trace& trace) {
  double out = 0;
  for (const CallEstimate& call : estimate_calls(trace).calls) out += call.bytes.total;
  return out;
}

}  // namespace

TEST_CASE("otf2: one-sided communication reads back") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  const Trace trace = accesses(), same = round_trip(scratch, trace, "archive");
  REQUIRE(same.threads.size() == 2);
  for (std::size_t t = 0; t < 2; ++t) CHECK(described(same, same.threads[t]) == described(trace, trace.threads[t]));
  CHECK(same.notes.empty());
  CHECK(same.communicators[same.threads[0].events[25].id].name == "pair");
  CHECK(bytes_of(trace) == 5'000'000'096.);
  CHECK(bytes_of(same) == bytes_of(trace));
}

TEST_CASE("otf2: otf2-print and Python read one-sided communication") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  export_trace_otf2(accesses(), match_messages(accesses()), to(scratch, "archive"));
  const Outcome printed = scratch.run_program("otf2-print", {"archive/traces.otf2"});
  if (printed.code == 127) SKIP("otf2-print is not installed (otf2-tools)");
  INFO(printed.out + printed.err);
  CHECK(printed.code == 0);
  CHECK(printed.err.find("rror") == std::string::npos);
  CHECK(count(printed.out, "\nRMA_WIN_CREATE ") == 3);
  CHECK(count(printed.out, "\nRMA_WIN_DESTROY ") == 3);
  CHECK(count(printed.out, "\nRMA_PUT ") == 4);
  CHECK(count(printed.out, "\nRMA_GET ") == 1);
  CHECK(count(printed.out, "\nRMA_ATOMIC ") == 2);
  CHECK(count(printed.out, "\nRMA_SYNC ") == 3);
  CHECK(count(printed.out, "\nRMA_GROUP_SYNC ") == 1);
  CHECK(count(printed.out, "\nRMA_COLLECTIVE_END ") == 2);
  CHECK(count(printed.out, "Bytes: 5000000000") == 1);
  // Of rank 0: the first put is complete at the origin once, with flush_local; unlock_all of the window of all ranks
  // completes the put to itself, the get, the accumulation and the swap, but not the put of the other window.
  CHECK(count(printed.out, "\nRMA_OP_COMPLETE_NON_BLOCKING ") == 6);
  CHECK(count(printed.out, "\nRMA_OP_COMPLETE_REMOTE ") == 6);
  const std::string python = read_by_python(scratch, R"(
    print(names.count('RmaPut'), names.count('RmaGet'), names.count('RmaAtomic'), names.count('RmaOpCompleteRemote'))
    print(sorted(win.name for win in trace.definitions.rma_wins))
)");
  CHECK(python == "4 1 2 6\n['windows of MPI_COMM_WORLD', 'windows of pair']\n");
}

TEST_CASE("otf2: the operation of a persistent collective") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  Trace trace = accesses();
  add_window(trace, 1, 10'000, 20'000).strata = {{2, 2}};
  Events e(10'000);
  e.wait(5).enter(region_start).collective(-1, 8, 8).wait(10).leave(region_start);
  e.wait(5).enter(region_start).collective(1, 16, 0).wait(10).leave(region_start);
  keep(trace, 0, effort::record::trace::reason_sample, 1, 0, e);
  const auto export_with = [&](std::initializer_list<const char*> prepared) {
    Trace with = trace;
    for (const char* name : prepared) with.regions.push_back({name, 1});
    return export_trace_otf2(with, match_messages(with), to(scratch, "archive")).collectives_left_out;
  };
  const auto printed = [&] { return scratch.run_program("otf2-print", {"archive/traces.otf2"}); };
  if (printed().code == 127) SKIP("otf2-print is not installed (otf2-tools)");
  CHECK(export_with({}) == 2);
  CHECK(count(printed().out, "\nMPI_COLLECTIVE_END ") == 0);
  CHECK(export_with({"MPI_Allreduce_init", "MPI_Bcast_init"}) == 0);
  CHECK(count(printed().out, "Operation: ALLREDUCE, Communicator: \"MPI_COMM_WORLD\" <0>, Root: NONE") == 1);
  CHECK(count(printed().out, "Operation: BCAST") == 1);
  CHECK(export_with({"MPI_Allreduce_init", "MPI_Alltoall_init", "MPI_Bcast_init"}) == 1);
  CHECK(count(printed().out, "\nMPI_COLLECTIVE_END ") == 1);
}

TEST_CASE("perfetto: one-sided communication") {
  const Scratch scratch;
  const Trace trace = accesses();
  export_trace_perfetto(trace, match_messages(trace), to(scratch, "out.pftrace"), std::uint64_t{1} << 30);
  const std::string text = decoded(scratch, "out.pftrace");
  CHECK(count(text, "TYPE_INSTANT") == 6);
  CHECK(text.find("name: \"get and update\"") != std::string::npos);
  CHECK(count(text, "uint_value: 5000000000\n") == 1);
}
