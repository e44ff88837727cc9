// Clocks that no tool synchronized.
#include "analytics/communication/clocks.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>

#include "analytics/communication/call_tree.hpp"
#include "analytics/communication/waits.hpp"
#include "made.hpp"

using namespace effort::communication;
using namespace effort::communication::test;
using Op = Operation;

namespace {

/// Three ranks that meet at barriers, rank 1 always 1 ms late; messages from 0 to 2.  Their clocks are off.
Record run(std::int64_t offset_1, std::int64_t offset_2) {
  Made made(3);
  const std::int64_t offset[3] = {0, offset_1, offset_2};
  for (std::int64_t round = 0; round < 5; ++round) {
    const std::int64_t now = 10'000'000 * round;
    const At send = made.call(0, Op::send, now + 1000, now + 2000);
    const At receive = made.call(2, Op::receive, now + 500 + offset[2], now + 5000 + offset[2]);
    made.message(send, receive);
    std::vector<At> calls;
    for (int rank = 0; rank < 3; ++rank) {
      const std::int64_t comes = now + 10'000 + (rank == 1 ? 1'000'000 : 0), leaves = now + 1'012'000 + 300 * rank;
      calls.push_back(made.call(rank, Op::barrier, comes + offset[rank], leaves + offset[rank]));
    }
    made.collective(Op::barrier, -1, calls);
  }
  return made.done();
}

std::vector<std::int64_t> barrier_waits(const Record& record) {
  return total_waits(record, find_waits(record), call_tree(record).location_of)[static_cast<int>(Cause::barrier)];
}

}  // namespace

TEST_CASE("offsets of clocks are found") {
  const Record truth = run(0, 0);
  Record record = run(50'000'000, -3'000'000);
  CHECK(barrier_waits(record) != barrier_waits(truth));
  const ClockShift shift = align_clocks(record);
  CHECK(std::abs(shift.largest_ns - 50'000'000) < 1000);
  CHECK(shift.violation_ns > 1'000'000);
  const auto right = barrier_waits(truth), found = barrier_waits(record);
  for (std::size_t rank = 0; rank < 3; ++rank) CHECK(std::abs(found[rank] - right[rank]) < 5 * 2000);
  CHECK(find_waits(record).reversed == 0);
}

TEST_CASE("clocks without contradictions are left as they are") {
  Record record = run(0, 0);
  CHECK(align_clocks(record).largest_ns == 0);
  CHECK(barrier_waits(record) == barrier_waits(run(0, 0)));
  Record empty;
  CHECK(align_clocks(empty).largest_ns == 0);
}
