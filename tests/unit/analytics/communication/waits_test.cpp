// Every cause of a wait, and calls that do not wait.
#include "analytics/communication/waits.hpp"

#include <catch2/catch_test_macros.hpp>
#include <tuple>

#include "analytics/communication/call_tree.hpp"
#include "made.hpp"

using namespace effort::communication;
using namespace effort::communication::test;
using Op = Operation;

namespace {

/// [ranks] of one cause; no other cause may have any.
std::vector<std::int64_t> only(const Record& record, Cause cause) {
  const WaitTotals totals = total_waits(record, find_waits(record), call_tree(record).location_of);
  for (std::size_t c = 0; c < n_causes; ++c)
    for (const std::int64_t ns : totals[c])
      if (c != static_cast<std::size_t>(cause) && ns != 0) return {};
  return totals[static_cast<std::size_t>(cause)];
}

using Ns = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("an empty record, and one rank") {
  CHECK(find_waits(Record()).waits.empty());
  Made one(1);
  one.collective(Op::barrier, -1, {one.call(0, Op::barrier, 10, 20)});
  const At self = one.call(0, Op::send_start, 30, 40), wait = one.call(0, Op::receive, 50, 90);
  one.message(self, wait, wait, wait);
  CHECK(find_waits(one.done()).waits.empty());
}

TEST_CASE("late sender") {
  Made made(2);
  const At receive = made.call(0, Op::receive, 100, 500), send = made.call(1, Op::send, 400, 450);
  made.message(send, receive);
  const Record record = made.done();
  CHECK(only(record, Cause::late_sender) == Ns{300, 0});
  const Waits waits = find_waits(record);
  REQUIRE(waits.waits.size() == 1);
  CHECK(waits.waits[0].call == 0);
  CHECK(waits.waits[0].for_call == 1);

  Made early(2);  // the message was there
  early.message(early.call(1, Op::send, 50, 60), early.call(0, Op::receive, 100, 120));
  CHECK(find_waits(early.done()).waits.empty());
}

TEST_CASE("of several messages that one call completes, the one sent last decides") {
  Made made(4);
  const At posts = made.call(0, Op::receive_start, 10, 20), wait = made.call(0, Op::wait_all, 100, 600);
  for (const auto& [rank, begin] : {std::pair(1, 300), std::pair(2, 550), std::pair(3, 50)}) {
    const At send = made.call(rank, Op::send, begin, begin + 10);
    made.message(send, send, posts, wait);
  }
  CHECK(only(made.done(), Cause::late_sender) == Ns{450, 0, 0, 0});
}

TEST_CASE("a probe waits for the message that is received next") {
  for (const std::int64_t sent : {400, 700}) {  // while the probe lasts; after it, so it found another message
    Made made(2);
    const At probe = made.call(0, Op::other, 100, 500, "MPI_Mprobe"), receive = made.call(0, Op::receive, 510, 760);
    made.message(made.call(1, Op::send, sent, sent + 50), receive);
    made.probe_of_last_message(probe);
    CHECK(only(made.done(), Cause::late_sender) == Ns{sent == 400 ? 300 : 190, 0});
  }
}

TEST_CASE("a wait belongs to the span of the step in which its call began") {
  Made made(2);
  for (const std::int64_t t : {0, 1000, 2000, 5000})
    made.collective(Op::barrier, -1,
                    {made.call(0, Op::barrier, t + 100, t + 510), made.call(1, Op::barrier, t + 500, t + 520)});
  Record record = made.done();
  const auto spans = [&] {
    std::vector<std::uint32_t> location_of(record.calls.size());
    for (std::size_t l = 0; l < record.locations.size(); ++l)
      for (std::size_t c = record.locations[l].first_call; c < record.locations[l].end_call; ++c)
        location_of[c] = static_cast<std::uint32_t>(l);
    return spans_of(record, find_waits(record), location_of);
  };
  // By time, as far as it goes.
  record.spans = {{0, 1, 0, 2000}, {2, 2, 2000, 3000}};
  CHECK(spans() == std::vector<std::uint32_t>{0, 0, 1, none});
  // By steps: the second barrier is in step 2 on rank 0, and step 3 is in no span.
  record.steps = {{0, 0, 0}, {0, 2, 900}, {0, 2, 1900}, {0, 3, 4000}, {1, 0, 0}, {1, 1, 5000}};
  CHECK(spans() == std::vector<std::uint32_t>{0, 1, 1, none});
  record.steps = {{1, 0, 0}};
  CHECK(spans() == std::vector<std::uint32_t>{0, 0, 1, none});
}

TEST_CASE("late receiver: only while the send is held up") {
  for (const std::int64_t end : {350, 200}) {  // rendezvous; buffered
    Made made(2);
    made.message(made.call(0, Op::send, 100, end), made.call(1, Op::receive, 300, 400));
    const Record record = made.done();
    CHECK(only(record, Cause::late_receiver) == (end == 350 ? Ns{200, 0} : Ns{0, 0}));
  }
  // A rendezvous that seems to be over just before, because of clocks or of inexact time stamps.
  for (const auto& [clock_error, stamp_error, ns] :
       {std::tuple(0, 0.0, 0), std::tuple(11, 0.0, 190), std::tuple(0, 0.06, 190), std::tuple(5, 0.01, 0)}) {
    Made made(2);
    made.message(made.call(0, Op::send, 100, 290), made.call(1, Op::receive, 300, 320));
    Record record = made.done();
    record.clock_error_ns = clock_error;
    record.stamp_error = stamp_error;
    CHECK(only(record, Cause::late_receiver) == Ns{ns, 0});
  }
  // A posted receive does not hold up a send, however late it is completed.
  Made posted(2);
  const At post = posted.call(1, Op::receive_start, 50, 60), wait = posted.call(1, Op::wait, 900, 950);
  const At send = posted.call(0, Op::send, 100, 300);
  posted.message(send, send, post, wait);
  CHECK(find_waits(posted.done()).waits.empty());
  // A send that Waitall completes; a late sender in the same call comes first.
  for (const bool with_late_sender : {false, true}) {
    Made made(2);
    const At isend = made.call(0, Op::send_start, 10, 20), irecv = made.call(0, Op::receive_start, 30, 40),
             all = made.call(0, Op::wait_all, 100, 500),
             back = made.call(1, Op::send, with_late_sender ? 200 : 50, 210),
             receive = made.call(1, Op::receive, 400, 450);
    made.message(isend, all, receive, receive);
    made.message(back, back, irecv, all);
    CHECK(only(made.done(), with_late_sender ? Cause::late_sender : Cause::late_receiver) ==
          Ns{with_late_sender ? 100 : 300, 0});
  }
}

TEST_CASE("barrier and N x N: until the last one comes, at most as long as the call") {
  for (const auto& [op, cause] : {std::pair(Op::barrier, Cause::barrier), std::pair(Op::nxn, Cause::nxn)}) {
    Made made(3);
    made.collective(op, -1, {made.call(0, op, 100, 510), made.call(1, op, 500, 520), made.call(2, op, 300, 480)});
    CHECK(only(made.done(), cause) == Ns{400, 0, 180});
  }
}

TEST_CASE("rooted collectives") {
  Made bcast(3);
  bcast.collective(Op::from_root, 1,
                   {bcast.call(0, Op::from_root, 100, 410), bcast.call(1, Op::from_root, 400, 405),
                    bcast.call(2, Op::from_root, 600, 610)});
  CHECK(only(bcast.done(), Cause::late_broadcast) == Ns{300, 0, 0});

  Made reduce(3);  // only the root waits, for the last one
  reduce.collective(Op::to_root, 0,
                    {reduce.call(0, Op::to_root, 100, 710), reduce.call(1, Op::to_root, 200, 210),
                     reduce.call(2, Op::to_root, 700, 705)});
  CHECK(only(reduce.done(), Cause::early_reduce) == Ns{600, 0, 0});

  Made gather(3);  // rank 2 contributes nothing
  const At root = gather.call(0, Op::to_root, 100, 710), one = gather.call(1, Op::to_root, 200, 210),
           two = gather.call(2, Op::to_root, 700, 705);
  gather.collective(Op::to_root, 0, {Made::Part{root, root}, Made::Part{one, one}, Made::Part{two, two, 0}});
  CHECK(only(gather.done(), Cause::early_reduce) == Ns{100, 0, 0});
}

TEST_CASE("prefix reduction: for the ranks before") {
  Made made(4);
  made.collective(Op::scan, -1,
                  {made.call(0, Op::scan, 300, 310), made.call(1, Op::scan, 100, 320), made.call(2, Op::scan, 500, 510),
                   made.call(3, Op::scan, 450, 520)});
  CHECK(only(made.done(), Cause::early_scan) == Ns{0, 200, 0, 50});
}

TEST_CASE("a non-blocking collective makes the call wait that completes it") {
  Made made(2);
  const At start = made.call(0, Op::nxn, 10, 12), wait = made.call(0, Op::wait, 100, 400);
  const At late = made.call(1, Op::nxn, 300, 302), late_wait = made.call(1, Op::wait, 310, 400);
  made.collective(Op::nxn, -1, {Made::Part{start, wait}, Made::Part{late, late_wait}});
  CHECK(only(made.done(), Cause::nxn) == Ns{200, 0});

  Made open(2);  // it is not known where the first rank completed it
  const At a = open.call(0, Op::nxn, 10, 12), b = open.call(1, Op::nxn, 300, 302);
  open.collective(Op::nxn, -1, {Made::Part{a, {}}, Made::Part{b, b}});
  const Waits waits = find_waits(open.done());
  CHECK(waits.waits.empty());
  CHECK(waits.unfinished == 1);
}

TEST_CASE("an intercommunicator: a rank needs the other group") {
  Made made(4);  // 0, 1 and 2, 3
  const At c[4] = {made.call(0, Op::nxn, 100, 900), made.call(1, Op::nxn, 800, 900), made.call(2, Op::nxn, 200, 900),
                   made.call(3, Op::nxn, 300, 900)};
  std::vector<Made::Part> parts;
  for (int r = 0; r < 4; ++r) parts.push_back({c[r], c[r], 8, static_cast<std::uint8_t>(r / 2)});
  made.collective(Op::nxn, -1, parts).inter = true;
  CHECK(only(made.done(), Cause::nxn) == Ns{200, 0, 600, 500});
}

TEST_CASE("missing ranks: lower bounds, and nothing without the root") {
  Made made(4);
  made.collective(Op::barrier, -1, {made.call(0, Op::barrier, 100, 900), made.call(2, Op::barrier, 300, 900)})
      .complete = false;
  made.collective(Op::from_root, 1, {made.call(0, Op::from_root, 1000, 1900), made.call(2, Op::from_root, 1000, 1900)})
      .complete = false;
  made.collective(Op::other, -1, {made.call(0, Op::nxn, 2000, 2900), made.call(2, Op::barrier, 2500, 2900)});
  const Record record = made.done();
  CHECK(only(record, Cause::barrier) == Ns{200, 0, 0, 0});
  const Waits waits = find_waits(record);
  CHECK(waits.lower_bounds == 1);
  CHECK(waits.unknown == 2);
}

TEST_CASE("missing ends of messages, and clocks that contradict each other") {
  Made made(2);
  made.message(made.call(1, Op::send, 800, 810), {}, {}, {}, 8);  // never received in the trace
  const At receive = made.call(0, Op::receive, 100, 400), send = made.call(1, Op::send, 1000, 1010);
  made.message(send, receive);
  Record record = made.done();
  CHECK(only(record, Cause::late_sender) == Ns{300, 0});  // cut off at the end of the call
  CHECK(find_waits(record).reversed == 1);
  CHECK(find_waits(record).largest_reversal == 600);
  // Both of two ranks wait for each other.
  Made circle(2);
  const At a = circle.call(0, Op::receive, 100, 200), a_send = circle.call(0, Op::send, 300, 310);
  const At b = circle.call(1, Op::receive, 100, 200), b_send = circle.call(1, Op::send, 300, 310);
  circle.message(a_send, b);
  circle.message(b_send, a);
  CHECK(only(circle.done(), Cause::late_sender) == Ns{100, 100});
  // A send that began before the kept part says nothing.
  record = Record();
  Made before(2);
  const At old = before.call(1, Op::send, 500, 510);
  before.at(old).begins = false;
  before.message(old, before.call(0, Op::receive, 100, 600));
  CHECK(find_waits(before.done()).waits.empty());
}

TEST_CASE("by call path") {
  Made made(2);
  const At solve = made.call(0, Op::user, 0, 1000, "solve");
  const At first = made.call(0, Op::receive, 100, 300, "MPI_Recv", solve);
  const At second = made.call(0, Op::receive, 400, 450, "MPI_Recv", solve);
  const At outside = made.call(0, Op::receive, 2000, 2600, "MPI_Recv");
  made.message(made.call(1, Op::send, 200, 210), first);
  made.message(made.call(1, Op::send, 430, 440), second);
  made.message(made.call(1, Op::send, 2500, 2510), outside);
  const Record record = made.done();
  const CallTree tree = call_tree(record);
  const auto paths = waits_by_path(find_waits(record), tree.of_call);
  REQUIRE(paths.size() == 2);
  CHECK(path_text(record, tree, paths[0].path) == "MPI_Recv");
  CHECK(paths[0].ns == 500);
  CHECK(path_text(record, tree, paths[1].path) == "solve/MPI_Recv");
  CHECK(paths[1].ns == 130);
  CHECK(paths[1].count == 2);
}
