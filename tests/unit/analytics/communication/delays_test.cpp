// The critical path, and the delays that cause waits.
#include "analytics/communication/delays.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "analytics/communication/critical_path.hpp"
#include "made.hpp"

using namespace effort::communication;
using namespace effort::communication::test;
using Catch::Approx;
using Op = Operation;

namespace {

struct Analysed {
  explicit Analysed(const Record& made)
      : record(made),
        tree(call_tree(record)),
        waits(find_waits(record)),
        timeline(record, tree, waits),
        path(critical_path(record, tree, waits, timeline)),
        delays(find_delays(record, tree, waits, timeline)) {}

  /// Of a rank in a region; everywhere for "".
  double delay(std::int32_t rank, const std::string& region) const {
    double out = 0;
    for (const Delay& d : delays.delays)
      if (d.rank == rank && (region.empty() || (d.path != none && name(d.path) == region))) out += d.ns;
    return out;
  }
  std::int64_t on_path(std::int32_t rank, const std::string& region) const {
    std::int64_t out = 0;
    for (const CriticalActivity& a : path.activities)
      if (a.rank == rank && (a.path == none ? region.empty() : name(a.path) == region)) out += a.ns;
    return out;
  }
  std::string name(std::uint32_t of) const { return record.regions[tree.paths[of].region]; }
  double sum_of_delays() const {
    double out = delays.unexplained_ns;
    for (const Delay& d : delays.delays) out += d.ns;
    return out;
  }
  double sum_of_waits() const {
    double out = 0;
    for (const Wait& w : waits.waits) out += static_cast<double>(w.ns);
    return out;
  }

  Record record;
  CallTree tree;
  Waits waits;
  Timeline timeline;
  CriticalPath path;
  Delays delays;
};

}  // namespace

TEST_CASE("an empty record has no critical path and no delays") {
  const Analysed empty{Record()};
  CHECK(empty.path.activities.empty());
  CHECK(empty.path.ns == 0);
  CHECK(empty.delays.delays.empty());
  Made alone(1);
  alone.call(0, Op::user, 10, 60, "solve");
  const Analysed one(alone.done());
  CHECK(one.on_path(0, "solve") == 50);
  CHECK(one.path.imbalance_ns == 0);
}

TEST_CASE("the rank that computes longer is to blame, and is on the critical path") {
  Made made(2);
  made.call(0, Op::user, 0, 100, "solve");
  made.call(1, Op::user, 0, 400, "solve");
  const At receive = made.call(0, Op::receive, 100, 420, "MPI_Recv");
  const At send = made.call(1, Op::send, 400, 410, "MPI_Send");
  made.call(0, Op::user, 420, 500, "after");
  made.message(send, receive);
  const Analysed a(made.done());
  CHECK(a.delay(1, "solve") == Approx(300));
  CHECK(a.delays.unexplained_ns == Approx(0));
  CHECK(a.on_path(1, "solve") == 400);
  CHECK(a.on_path(0, "MPI_Recv") == 20);  // the transfer, without the wait
  CHECK(a.on_path(0, "after") == 80);
  CHECK(a.path.ns == 500);
  CHECK(a.path.imbalance_ns == 400 - 250 + 20 - 10 + 80 - 40);
}

TEST_CASE("a wait that another wait caused is traced to the cause of that") {
  Made made(3);  // 2 is slow, 1 waits for it, 0 waits for 1
  made.call(0, Op::user, 0, 100, "solve");
  made.call(1, Op::user, 0, 100, "solve");
  made.call(2, Op::user, 0, 400, "solve");
  const At r0 = made.call(0, Op::receive, 100, 450, "MPI_Recv");
  const At r1 = made.call(1, Op::receive, 100, 400, "MPI_Recv");
  const At s2 = made.call(2, Op::send, 400, 410, "MPI_Send");
  made.call(1, Op::user, 400, 430, "pack");
  const At s1 = made.call(1, Op::send, 430, 440, "MPI_Send");
  made.message(s2, r1);
  made.message(s1, r0);
  const Analysed a(made.done());
  // Rank 0 waits 330: 300 for rank 1's wait, 30 for what it packed.
  CHECK(a.delay(1, "pack") == Approx(30));
  CHECK(a.delay(2, "solve") == Approx(600));
  CHECK(a.sum_of_delays() == Approx(a.sum_of_waits()));
  double propagated = 0;
  for (const Delay& d : a.delays.delays) propagated += d.propagated_ns;
  CHECK(propagated == Approx(300));
  CHECK(a.on_path(2, "solve") == 400);
  CHECK(a.on_path(1, "pack") == 30);
  CHECK(a.on_path(0, "solve") == 0);
}

TEST_CASE("the comparison begins at the last synchronization") {
  Made made(2);
  // Before the barrier, rank 0 was the slow one.
  made.call(0, Op::user, 0, 500, "solve");
  made.call(1, Op::user, 0, 100, "solve");
  const At b0 = made.call(0, Op::barrier, 500, 510, "MPI_Barrier"),
           b1 = made.call(1, Op::barrier, 100, 510, "MPI_Barrier");
  made.call(0, Op::user, 510, 600, "solve");
  made.call(1, Op::user, 510, 800, "solve");
  const At c0 = made.call(0, Op::nxn, 600, 810, "MPI_Allreduce"), c1 = made.call(1, Op::nxn, 800, 810, "MPI_Allreduce");
  made.collective(Op::barrier, -1, {b0, b1});
  made.collective(Op::nxn, -1, {c0, c1});
  const Analysed a(made.done());
  CHECK(a.delay(0, "solve") == Approx(400));
  CHECK(a.delay(1, "solve") == Approx(200));
  CHECK(a.path.ns == 810);
  CHECK(a.on_path(0, "solve") == 500);
  CHECK(a.on_path(1, "solve") == 290);
}

TEST_CASE("a delay belongs to the span in which others waited for the rank itself") {
  Made made(3);  // 2 is slow in the first span; 1 waits for it there, and 0 in the second span for 1
  made.call(0, Op::user, 0, 520, "solve");
  made.call(1, Op::user, 0, 100, "solve");
  made.call(2, Op::user, 0, 400, "solve");
  const At r0 = made.call(0, Op::receive, 520, 620, "MPI_Recv");
  const At r1 = made.call(1, Op::receive, 100, 400, "MPI_Recv");
  const At s2 = made.call(2, Op::send, 400, 410, "MPI_Send");
  made.call(1, Op::user, 400, 600, "pack");
  const At s1 = made.call(1, Op::send, 600, 610, "MPI_Send");
  made.message(s2, r1);
  made.message(s1, r0);
  Record record = made.done();
  record.spans = {{0, 0, 0, 500}, {1, 1, 500, 1000}, {5, 5, 5000, 6000}};
  const Analysed a(record);
  const auto sum = [&](std::vector<bool> chosen, std::int32_t rank) {
    double out = 0;
    for (const Delay& d : delays_of(a.delays, chosen)) out += d.rank == rank ? d.ns : 0;
    return out;
  };
  // Rank 0 waits 80 ns, in proportion to the 200 that rank 1 packed and the 300 that it waited.
  CHECK(sum({true, false, false, false}, 2) == Approx(300 + 80.0 * 300 / 500));
  CHECK(sum({true, false, false, false}, 1) == 0);
  CHECK(sum({false, true, false, false}, 1) == Approx(80.0 * 200 / 500));
  CHECK(sum({false, true, false, false}, 2) == 0);
  CHECK(delays_of(a.delays, {false, false, true, true}).empty());
  double all = 0;
  for (const Delay& d : delays_of(a.delays, {true, true, true, true})) all += d.ns;
  CHECK(all == Approx(a.sum_of_waits() - a.delays.unexplained_ns));

  const CriticalPath second = critical_path(a.record, a.tree, a.waits, a.timeline, {false, true, false});
  CHECK(second.ns == 500 - 380);  // from 620 back to the start of the span
  REQUIRE(!second.activities.empty());
  CHECK(second.activities[0].rank == 1);
  CHECK(a.name(second.activities[0].path) == "pack");
}

TEST_CASE("time outside of all regions is named by the call that it led to") {
  Made made(2);
  const At receive = made.call(0, Op::receive, 10, 510, "MPI_Recv");
  made.call(1, Op::other, 0, 10, "MPI_Init");
  const At send = made.call(1, Op::send, 500, 505, "MPI_Send");
  made.message(send, receive);
  const Analysed a(made.done());
  REQUIRE(!a.delays.delays.empty());
  CHECK(a.delays.delays[0].rank == 1);
  CHECK(a.delays.delays[0].path == none);
  CHECK(a.name(a.delays.delays[0].before) == "MPI_Send");
  CHECK(a.delays.delays[0].ns == Approx(480).margin(15));
  CHECK(a.sum_of_delays() == Approx(a.sum_of_waits()));
}

TEST_CASE("the path ends at ranks that, by wrong clocks, wait for each other at the same time") {
  Made made(2);
  const At a = made.call(0, Op::receive, 100, 200), a_send = made.call(0, Op::send, 200, 310);
  const At b = made.call(1, Op::receive, 100, 200), b_send = made.call(1, Op::send, 200, 310);
  made.message(a_send, b);
  made.message(b_send, a);
  const Analysed both(made.done());
  CHECK(both.waits.waits.size() == 2);
  CHECK(both.path.ns <= 210);
  CHECK(both.sum_of_delays() == Approx(both.sum_of_waits()));
}

TEST_CASE("parts of a run with a gap have a path each") {
  Made made(2);
  made.call(0, Op::user, 0, 100, "solve");
  made.call(0, Op::user, 1000, 1040, "solve");
  made.call(1, Op::user, 0, 90, "solve");
  made.call(1, Op::user, 1000, 1060, "solve");
  Record record = made.done();
  record.spans = {{0, 0, 0, 100}, {7, 7, 1000, 1100}};
  const Analysed a(record);
  CHECK(a.path.ns == 100 + 60);
  CHECK(a.on_path(0, "solve") == 100);
  CHECK(a.on_path(1, "solve") == 60);
}
