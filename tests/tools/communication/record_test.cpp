// Converting traces to records of their communication.
#include "tools/communication/record.hpp"

#include <catch2/catch_test_macros.hpp>

#include "../trace/traces.hpp"
#include "analytics/communication/call_tree.hpp"
#include "analytics/communication/waits.hpp"
#include "tools/communication/operation.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using effort::communication::Call;
using effort::communication::Collective;
using effort::communication::Message;
using effort::communication::none;
using effort::communication::Operation;
using effort::communication::Record;
using effort::trace::Kind;
namespace why = effort::record::trace;

namespace {

CommunicationTrace taken(const Trace& trace) { return communication_of(trace, match_messages(trace)); }

std::uint32_t add_region(Trace& trace, const std::string& name, std::uint8_t kind = 1) {
  trace.regions.push_back({name, kind});
  return static_cast<std::uint32_t>(trace.regions.size() - 1);
}

const std::string& name(const Record& record, std::uint32_t call) {
  static const std::string nothing = "none";
  return call == none ? nothing : record.regions[record.calls[call].region];
}

/// [ranks] ns of a cause.
std::vector<std::int64_t> waits(const Record& record, effort::communication::Cause cause) {
  const auto found = effort::communication::find_waits(record);
  const auto tree = effort::communication::call_tree(record);
  return total_waits(record, found, tree.location_of)[static_cast<std::size_t>(cause)];
}

using Ns = std::vector<std::int64_t>;
using effort::communication::Cause;

}  // namespace

TEST_CASE("operations of calls, by their names") {
  CHECK(operation_of_call("") == Operation::user);
  CHECK(operation_of_call("issend") == Operation::send_start);
  CHECK(operation_of_call("recv") == Operation::receive);
  CHECK(operation_of_call("recv_init") == Operation::other);
  CHECK(operation_of_call("allreduce_init") == Operation::other);
  CHECK(operation_of_call("sendrecv_replace") == Operation::send_receive);
  CHECK(operation_of_call("testsome") == Operation::wait_all);
  CHECK(operation_of_call("waitany") == Operation::wait);
  CHECK(operation_of_call("ibcast") == Operation::from_root);
  CHECK(operation_of_call("gatherv") == Operation::to_root);
  CHECK(operation_of_call("reduce_scatter") == Operation::nxn);
  CHECK(operation_of_call("exscan") == Operation::scan);
  CHECK(operation_of_call("neighbor_alltoall") == Operation::neighbour);
  CHECK(operation_of_call("comm_rank") == Operation::other);
  CHECK(operation_of_call("rget") == Operation::one_sided);
  CHECK(starts_only("iallreduce"));
  CHECK(starts_only("startall"));
  CHECK(!starts_only("allreduce"));
  CHECK(!starts_only("isend"));
}

TEST_CASE("calls nest, and messages know the calls of both ends") {
  const Record record = taken(small_trace(false)).record;
  CHECK(record.n_ranks == 4);
  CHECK(record.spans.size() == 2);
  REQUIRE(record.locations.size() == 4);  // rank 3 has two threads
  CHECK(record.locations[3].rank == 3);
  CHECK(record.locations[3].thread == 1);
  for (const auto& location : record.locations) {
    for (std::size_t c = location.first_call; c < location.end_call; ++c) {
      const Call& call = record.calls[c];
      if (call.parent == none) continue;
      CHECK(call.parent < c);
      CHECK(record.calls[call.parent].begin_ns <= call.begin_ns);
      CHECK(record.calls[call.parent].end_ns >= call.end_ns);
    }
  }
  REQUIRE(record.messages.size() == 6);
  CHECK(record.unmatched_sends == 2);
  std::size_t completed = 0;
  for (const Message& m : record.messages) {
    CHECK(name(record, m.send_start) == "MPI_Send");
    CHECK(name(record, m.receive_start) == "MPI_Irecv");
    CHECK(name(record, m.receive_done) == "MPI_Waitall");
    completed += name(record, m.send_done) == "MPI_Waitall" ? 1 : 0;
  }
  CHECK(completed == 2);  // those that are started
  CHECK(record.steps.size() == 6);
  // The reduction of both windows, of three of four ranks.
  REQUIRE(record.collectives.size() == 2);
  for (const Collective& c : record.collectives) {
    CHECK(c.operation == Operation::to_root);
    CHECK(c.root == 0);
    CHECK(c.end - c.first == 3);
    CHECK(!c.complete);
  }
}

TEST_CASE("completions after the end of their call belong to it") {
  Trace trace = empty_trace(2);
  const std::uint32_t recv = add_region(trace, "MPI_Recv [app+0x10]"), wait = add_region(trace, "MPI_Wait", 2);
  add_window(trace, 0, 0, 1000);
  Events e(100);
  e.step(0).enter(recv).wait(300).leave(recv).message(Kind::receive, 1, 3, 8);
  e.enter(region_receive).message(Kind::receive_start, 1, 4, 0, 0).leave(region_receive);
  e.wait(100).enter(wait).wait(200).leave(wait).message(Kind::receive_done, 1, 4, 8, 0);
  keep(trace, 0, why::reason_sample, 1, 0, e);
  Events s(350);
  s.step(0).enter(region_send).message(Kind::send, 0, 3, 8).wait(10).leave(region_send);
  s.at(600).enter(region_send).message(Kind::send, 0, 4, 8).wait(10).leave(region_send);
  keep(trace, 1, why::reason_sample, 1, 0, s);
  const Record record = taken(trace).record;
  REQUIRE(record.messages.size() == 2);
  CHECK(name(record, record.messages[0].receive_done) == "MPI_Recv [app+0x10]");
  CHECK(name(record, record.messages[1].receive_done) == "MPI_Wait");
  CHECK(waits(record, Cause::late_sender) == Ns{250 + 100, 0});
}

TEST_CASE("a blocking probe belongs to the message that its thread receives next") {
  Trace trace = empty_trace(2);
  trace.bound = effort::trace::TimeBound::exact();
  const std::uint32_t probe = add_region(trace, "MPI_Mprobe", 2), poll = add_region(trace, "MPI_Iprobe", 2);
  add_window(trace, 0, 0, 1000);
  Events sender(0), receiver(0);
  sender.at(500).enter(region_send).message(Kind::send, 1, 0, 8).wait(10).leave(region_send);
  sender.at(530).enter(region_send).message(Kind::send, 1, 1, 8).wait(10).leave(region_send);
  sender.at(560).enter(region_send).message(Kind::send, 1, 2, 8).wait(10).leave(region_send);
  receiver.at(100).enter(probe).at(505).leave(probe);
  receiver.enter(region_receive).at(520).leave(region_receive).message(Kind::receive, 0, 0, 8);
  receiver.at(525).enter(region_receive).at(545).leave(region_receive).message(Kind::receive, 0, 1, 8);
  receiver.enter(poll).at(548).leave(poll);
  receiver.enter(region_receive).at(580).leave(region_receive).message(Kind::receive, 0, 2, 8);
  keep(trace, 0, why::reason_pin, 0, -1, sender);
  keep(trace, 1, why::reason_pin, 0, -1, receiver);
  const Record record = taken(trace).record;
  REQUIRE(record.messages.size() == 3);
  CHECK(name(record, record.messages[0].probe) == "MPI_Mprobe");
  CHECK(record.messages[1].probe == none);
  CHECK(record.messages[2].probe == none);
  CHECK(waits(record, Cause::late_sender) == Ns{0, 400 + 5 + 12});
}

TEST_CASE("collectives belong together by step and ordinal, not by how many came before") {
  Trace trace = empty_trace(2);
  const std::uint32_t barrier = add_region(trace, "MPI_Barrier", 2);
  add_window(trace, 5, 0, 10'000, 10);
  for (const std::int32_t rank : {0, 1}) {
    Events e(0);
    // Rank 1's first steps found no room.
    for (std::uint64_t step = rank == 0 ? 50 : 57; step < 60; ++step) {
      e.at(static_cast<std::int64_t>(1000 * (step - 50))).step(step);
      for (int k = 0; k < 2; ++k)
        e.wait(rank == 0 ? 100 : 300).enter(barrier).collective(-1, 0, 0).wait(rank == 0 ? 220 : 20).leave(barrier);
    }
    keep(trace, rank, why::reason_sample, 1, 0, e);
  }
  const Record record = taken(trace).record;
  std::size_t whole = 0;
  for (const Collective& c : record.collectives) whole += c.complete ? 1 : 0;
  CHECK(whole == 6);
  CHECK(record.collectives.size() == 20);
  CHECK(waits(record, Cause::barrier) == Ns{3 * 2 * 200, 0});
}

TEST_CASE("a thread that records no steps is in that of its rank") {
  Trace trace = empty_trace(2);
  const std::uint32_t barrier = add_region(trace, "MPI_Barrier", 2);
  add_window(trace, 3, 0, 3000, 3);
  for (const std::int32_t rank : {0, 1}) {
    Events steps(0), calls(0);
    for (std::uint64_t step = 9; step < 12; ++step) steps.at(static_cast<std::int64_t>(1000 * (step - 9))).step(step);
    // Rank 1 has lost the collective of its first step.
    for (int step = rank; step < 3; ++step)
      calls.at(1000 * step + (rank == 0 ? 100 : 500))
          .enter(barrier)
          .collective(-1, 0, 0)
          .at(1000 * step + 600)
          .leave(barrier);
    keep(trace, rank, why::reason_sample, 1, 0, steps);
    keep(trace, rank, why::reason_sample, 1, 0, calls, 1);
  }
  CHECK(waits(taken(trace).record, Cause::barrier) == Ns{2 * 400, 0});
}

TEST_CASE("non-blocking and persistent collectives") {
  Trace trace = empty_trace(2);
  const std::uint32_t start = add_region(trace, "MPI_Start"), ibarrier = add_region(trace, "MPI_Ibarrier"),
                      wait = add_region(trace, "MPI_Wait", 2);
  add_window(trace, 0, 0, 10'000);
  for (const std::int32_t rank : {0, 1}) {
    Events e(rank == 0 ? 100 : 500);
    e.step(0).enter(ibarrier).collective(-1, 0, 0).wait(5).leave(ibarrier);
    e.enter(start).collective(1, rank == 1 ? 8 : 0, rank == 1 ? 0 : 8).wait(5).leave(start);
    e.at(rank == 0 ? 200 : 600).enter(wait).wait(500).leave(wait).wait(1).enter(wait).wait(1).leave(wait);
    keep(trace, rank, why::reason_sample, 1, 0, e);
  }
  const Record record = taken(trace).record;
  REQUIRE(record.collectives.size() == 2);
  CHECK(record.collectives[0].operation == Operation::barrier);
  CHECK(record.collectives[1].operation == Operation::from_root);
  const auto& part = record.participations[record.collectives[0].first];
  CHECK(name(record, part.start) == "MPI_Ibarrier");
  CHECK(name(record, part.done) == "MPI_Wait");
  CHECK(waits(record, Cause::barrier) == Ns{300, 0});
}

TEST_CASE("another tool records a non-blocking collective where it is complete") {
  Trace trace = empty_trace(2);
  trace.is_otf2 = true;
  const std::uint32_t start = add_region(trace, "MPI_Iallreduce"), wait = add_region(trace, "MPI_Wait", 2);
  add_window(trace, 0, 0, 10'000);
  for (const std::int32_t rank : {0, 1}) {
    Events e(rank == 0 ? 100 : 500);
    e.enter(start).wait(5).leave(start).at(rank == 0 ? 200 : 600);
    e.enter(wait).wait(500).collective(-1, 8, 8).leave(wait);
    keep(trace, rank, why::reason_sample, 1, 0, e);
  }
  const Record record = taken(trace).record;
  REQUIRE(record.collectives.size() == 1);
  CHECK(record.collectives[0].operation == Operation::nxn);
  CHECK(waits(record, Cause::nxn) == Ns{300, 0});
}

TEST_CASE("an intercommunicator's groups, MPI_COMM_SELF, and a sparse Alltoallv") {
  Trace trace = empty_trace(4);
  const std::uint32_t allreduce = add_region(trace, "MPI_Allreduce"), alltoallv = add_region(trace, "MPI_Alltoallv");
  trace.communicators.push_back({"MPI_COMM_SELF", {}, {}, true});
  add_window(trace, 0, 0, 10'000);
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    Events e(10 + 100 * rank);
    e.step(0).enter(allreduce).collective(-1, 8, 8, 1).at(900).leave(allreduce);
    e.enter(allreduce).collective(-1, 8, 8, 2).wait(5).leave(allreduce);
    e.at(1000 + 1000 * rank).enter(alltoallv).collective(-1, 8, 8, 0).wait(50).leave(alltoallv);
    keep(trace, rank, why::reason_sample, 1, 0, e);
  }
  const Record record = taken(trace).record;
  REQUIRE(record.collectives.size() == 1 + 4 + 1);
  CHECK(record.collectives[0].inter);
  CHECK(record.collectives[0].complete);
  CHECK(record.collectives[5].operation == Operation::neighbour);
  // Even ranks wait for rank 3, odd ones for rank 2.
  CHECK(waits(record, Cause::nxn) == Ns{300, 100, 100, 0});
}

TEST_CASE("a trace without call paths, messages outside of calls, and contradictions") {
  Trace trace = empty_trace(2);
  const std::uint32_t mpi = add_region(trace, "(MPI)"), waiting = add_region(trace, "(MPI, waiting)", 2),
                      barrier = add_region(trace, "MPI_Barrier", 2), bcast = add_region(trace, "MPI_Bcast");
  add_window(trace, 0, 0, 10'000);
  Events a(100), b(400);
  a.step(0).enter(mpi).wait(350).leave(mpi).message(Kind::receive, 1, 3, 8);
  b.step(0).enter(mpi).message(Kind::send, 0, 3, 8).wait(5).leave(mpi);
  a.at(1000).enter(waiting).collective(-1, 0, 0).wait(500).leave(waiting);
  b.at(1400).enter(waiting).collective(-1, 0, 0).wait(100).leave(waiting);
  a.at(2000).enter(region_solve).message(Kind::send, 1, 9, 8).wait(100).leave(region_solve);
  b.at(2000).enter(region_solve).wait(100).message(Kind::receive, 0, 9, 8).leave(region_solve);
  a.at(3000).enter(barrier).collective(-1, 0, 0).wait(500).leave(barrier);
  b.at(3400).enter(bcast).collective(0, 0, 8).wait(100).leave(bcast);
  keep(trace, 0, why::reason_sample, 1, 0, a);
  keep(trace, 1, why::reason_sample, 1, 0, b);
  const CommunicationTrace out = taken(trace);
  const Record& record = out.record;
  CHECK(waits(record, Cause::late_sender) == Ns{300, 0});
  CHECK(waits(record, Cause::barrier) == Ns{400, 0});
  REQUIRE(record.messages.size() == 2);
  CHECK(name(record, record.messages[1].send_start) == "(a message outside of MPI calls)");
  const Call& made = record.calls[record.messages[1].send_start];
  CHECK(made.begin_ns == made.end_ns);
  CHECK(record.regions[record.calls[made.parent].region] == "solve");
  CHECK(record.collectives.back().operation == Operation::other);
  REQUIRE(!out.notes.empty());
  CHECK(out.notes.back().find("contradict") != std::string::npos);
}

TEST_CASE("an empty trace") {
  const Record record = taken(Trace()).record;
  CHECK(record.calls.empty());
  CHECK(record.collectives.empty());
}
