#include "../thread_transport.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <type_traits>

using namespace effort;
using namespace effort::exchange;
using effort::testing::ThreadTransport;

namespace {

// The results that every collective must give on `size` nodes; counts the wrong ones.
int check_all(Communicator& comm) {
  int wrong = 0;
  const int r = comm.rank(), size = comm.size();
  for (int round = 0; round < 20; ++round) {
    std::vector<std::int64_t> sum{r, 1};
    comm.allreduce(sum, ReduceOp::sum);
    wrong += sum[0] != size * (size - 1) / 2 || sum[1] != size;
    std::vector<double> low{1.0 + r};
    comm.allreduce(low, ReduceOp::min);
    wrong += low[0] != 1.0;
    const std::vector<int> mine(static_cast<std::size_t>((r + round) % 3), r);
    const auto all = comm.allgatherv(std::span<const int>(mine));
    for (int n = 0; n < size; ++n) wrong += all.of(n).size() != static_cast<std::size_t>((n + round) % 3);
    const auto rooted = comm.gatherv(std::span<const int>(mine), size - 1);
    wrong += r == size - 1 ? rooted.values != all.values : !rooted.values.empty();
    Gathered<int> parts;  // rank r sends d + 1 values to rank d, none to itself in odd rounds
    parts.offsets.push_back(0);
    for (int d = 0; d < size; ++d) {
      if (d != r || round % 2 == 0)
        parts.values.insert(parts.values.end(), static_cast<std::size_t>(d + 1), 10 * r + d);
      parts.offsets.push_back(parts.values.size());
    }
    const auto dealt = comm.alltoallv(parts);
    for (int n = 0; n < size; ++n) {
      const std::size_t length = n == r && round % 2 == 1 ? 0 : static_cast<std::size_t>(r + 1);
      wrong += !std::ranges::equal(dealt.of(n), std::vector<int>(length, 10 * n + r));
    }
    double v = r == 0 ? 2.5 : 0;
    comm.bcast(std::span(&v, 1), 0);
    wrong += v != 2.5;
    int left = -1, right = -1;
    comm.neighbour_exchange(std::span<const int>(&r, 1), std::span<const int>(&r, 1), std::span(&left, 1),
                            std::span(&right, 1));
    wrong += left != r - 1 || right != (r + 1 < size ? r + 1 : -1);
  }
  return wrong;
}

// No operation is ever complete; the last one that began can be looked at.
class NobodyComes : public ThreadTransport {
 public:
  using ThreadTransport::ThreadTransport;
  bool start(const Operation& operation) override {
    begun = operation;
    has_begun = true;
    return true;
  }
  bool test(bool& done) override {
    done = false;
    return true;
  }
  Operation begun;
  std::atomic<bool> has_begun{false};
};

// Operations begin, and fail when they are tested.
class GivesUp : public ThreadTransport {
 public:
  using ThreadTransport::ThreadTransport;
  bool start(const Operation&) override { return true; }
  bool test(bool&) override { return false; }
  std::string error() const override { return "given up"; }
};

// Begins a reduction in a thread of its own, whose memory it is in, and abandons it.  What the thread sees lives as
// long as that.
template <typename AnyExecutor, typename Drive>
void abandon_what_has_begun(Communicator& group, const Drive& drive) {
  struct Kept {
    explicit Kept(Communicator& group) : transport(group), executor(transport) {}
    NobodyComes transport;
    AnyExecutor executor;
    std::atomic<bool> returned{false};
  };
  auto* const kept = new Kept(group);
  std::thread([kept] {
    std::int64_t value = 1;
    Operation o;
    o.type = Operation::Type::allreduce_int64;
    o.receive = &value;
    o.count = 1;
    try {
      kept->executor.run(o);
    } catch (const CommunicatorError&) {
    }
    kept->returned = true;
  }).detach();
  while (!kept->transport.has_begun) drive(kept->executor);
  kept->executor.abandon();
  while (!kept->executor.asleep() && !kept->returned) std::this_thread::yield();
  CHECK_FALSE(kept->returned);
  auto* const late = static_cast<std::int64_t*>(kept->transport.begun.receive);
  CHECK(*late == 1);
  *late = 2;  // as MPI may
  Operation next;
  if constexpr (std::is_same_v<AnyExecutor, DirectExecutor>)
    CHECK_THROWS_AS(kept->executor.run(next), CommunicatorError);
}

}  // namespace

TEST_CASE("collectives of leaders, called directly") {
  for (int size : {1, 2, 3, 5}) {
    std::atomic<int> wrong{0};
    run_thread_group(size, [&](Communicator& group) {
      ThreadTransport transport(group);
      DirectExecutor executor(transport);
      LeaderCommunicator comm(executor, group.rank(), group.size());
      wrong += check_all(comm);
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("messages larger than the limit of one operation are sent in pieces and arrive whole") {
  for (int size : {2, 3, 5}) {
    std::atomic<int> wrong{0};
    run_thread_group(size, [&](Communicator& group) {
      ThreadTransport transport(group);
      DirectExecutor executor(transport);
      LeaderCommunicator comm(executor, group.rank(), group.size(), 7);  // bytes
      wrong += check_all(comm);
      // Unequal parts, one of them empty.
      auto part = [](int r) { return std::vector<std::int64_t>(static_cast<std::size_t>(r) * 5, r); };
      const auto mine = part(comm.rank());
      const auto everywhere = comm.allgatherv(std::span<const std::int64_t>(mine));
      const auto rooted = comm.gatherv(std::span<const std::int64_t>(mine), 1);
      for (int r = 0; r < size; ++r) {
        wrong += !std::ranges::equal(everywhere.of(r), part(r));
        if (comm.rank() == 1) wrong += !std::ranges::equal(rooted.of(r), part(r));
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("a closed executor releases threads that wait for nodes that never join") {
  std::atomic<int> threw{0};
  run_thread_group(1, [&](Communicator& group) {
    NobodyComes transport(group);
    DirectExecutor executor(transport);
    std::int64_t value = 0;
    Operation o;
    o.type = Operation::Type::allreduce_int64;
    o.receive = &value;
    o.count = 1;
    std::thread background([&] {
      try {
        executor.run(o);
      } catch (const CommunicatorError&) {
        ++threw;
      }
    });
    executor.close();
    background.join();
  });
  CHECK(threw == 1);
}

TEST_CASE("an abandoned executor keeps the thread whose operation has begun, and the memory of both") {
  run_thread_group(1, [&](Communicator& group) {
    abandon_what_has_begun<DirectExecutor>(group, [](DirectExecutor&) { std::this_thread::yield(); });
    abandon_what_has_begun<Mailbox>(group, [](Mailbox& mailbox) { mailbox.drive(); });
  });
}

// Runs an operation that the transport begins and then gives up, on a thread of its own.
template <typename AnyExecutor, typename Drive>
void lose_what_has_begun(Communicator& group, const Drive& drive, bool process_ends) {
  GivesUp transport(group);
  AnyExecutor executor(transport);
  std::atomic<int> told{0}, threw{0};
  std::string why;
  executor.when_lost(
      [&](const char* reason) {
        why = reason;
        ++told;
      },
      [&] { return process_ends; });
  std::thread background([&] {
    std::int64_t value = 1;
    Operation o;
    o.type = Operation::Type::allreduce_int64;
    o.receive = &value;
    o.count = 1;
    try {
      executor.run(o);
    } catch (const CommunicatorError&) {
      ++threw;
    }
  });
  while (told == 0) drive(executor);
  if (!process_ends) {
    while (!executor.asleep()) drive(executor);
    CHECK(threw == 0);
    executor.close();
  }
  background.join();
  CHECK((told == 1 && threw == 1 && !executor.asleep()));
  CHECK(why == "given up");
}

TEST_CASE("a lost exchange keeps its thread asleep until MPI is gone or the process ends") {
  const bool process_ends = GENERATE(false, true);
  run_thread_group(1, [&](Communicator& group) {
    lose_what_has_begun<DirectExecutor>(
        group, [](DirectExecutor&) { std::this_thread::yield(); }, process_ends);
    lose_what_has_begun<Mailbox>(
        group, [](Mailbox& mailbox) { mailbox.drive(); }, process_ends);
  });
}

TEST_CASE("collectives of leaders, driven by the host's thread through the mailbox") {
  for (int size : {1, 2, 3}) {
    std::atomic<int> wrong{0};
    run_thread_group(size, [&](Communicator& group) {
      ThreadTransport transport(group);
      Mailbox mailbox(transport);
      LeaderCommunicator comm(mailbox, group.rank(), group.size());
      std::atomic<bool> done{false};
      std::thread background([&] {
        wrong += check_all(comm);
        done = true;
      });
      while (!done) mailbox.drive();
      background.join();
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("a closed or abandoned mailbox wakes a thread whose operation has not begun") {
  const bool abandoned = GENERATE(false, true);
  run_thread_group(1, [&](Communicator& group) {
    ThreadTransport transport(group);
    Mailbox mailbox(transport);
    std::atomic<bool> threw{false};
    std::int64_t value = 0;
    Operation o;
    o.type = Operation::Type::allreduce_int64;
    o.receive = &value;
    o.count = 1;
    std::thread background([&] {
      try {
        mailbox.run(o);
      } catch (const CommunicatorError&) {
        threw = true;
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (abandoned)
      mailbox.abandon();
    else
      mailbox.close();
    background.join();
    CHECK(threw);
  });
}

TEST_CASE("a node that fails answers once, and all others throw at their next collective") {
  std::atomic<int> told{0}, later{0};
  run_thread_group(4, [&](Communicator& group) {
    ThreadTransport transport(group);
    DirectExecutor executor(transport);
    LeaderCommunicator comm(executor, group.rank(), group.size());
    std::int64_t one = 1;
    comm.allreduce(std::span(&one, 1), ReduceOp::sum);
    if (group.rank() == 2) return comm.fail();
    try {
      comm.allreduce(std::span(&one, 1), ReduceOp::sum);
    } catch (const LeaderCommunicator::PeerFailure&) {
      ++told;
    }
    try {
      comm.bcast(std::span(&one, 1), 0);  // all others are gone: an error at once, no hang
    } catch (const LeaderCommunicator::PeerFailure&) {
      ++later;
    }
  });
  CHECK(told == 3);
  CHECK(later == 3);
}

TEST_CASE("nodes that disagree on the next collective all get an error") {
  std::atomic<int> told{0};
  run_thread_group(2, [&](Communicator& group) {
    ThreadTransport transport(group);
    DirectExecutor executor(transport);
    LeaderCommunicator comm(executor, group.rank(), group.size());
    std::int64_t one = 1;
    try {
      if (group.rank() == 0)
        comm.allreduce(std::span(&one, 1), ReduceOp::sum);
      else
        comm.bcast(std::span(&one, 1), 0);
    } catch (const LeaderCommunicator::PeerFailure&) {
      ++told;
    }
  });
  CHECK(told == 2);
}
