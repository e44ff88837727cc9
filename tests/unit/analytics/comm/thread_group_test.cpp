#include "analytics/comm/thread_group.hpp"

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <limits>

using namespace effort;

// Catch2's checks are not thread-safe, so ranks count errors and the main thread checks the count.
TEST_CASE("collectives of a thread group give the results of MPI") {
  for (int size : {1, 2, 3, 8}) {
    std::atomic<int> wrong{0};
    run_thread_group(size, [&](Communicator& comm) {
      const int r = comm.rank();
      if (comm.size() != size) ++wrong;
      for (int round = 0; round < 50; ++round) {
        std::vector<std::int64_t> sum{r, 1};
        comm.allreduce(sum, ReduceOp::sum);
        if (sum[0] != size * (size - 1) / 2 || sum[1] != size) ++wrong;
        std::vector<double> max{double(r), double(-r)};
        comm.allreduce(max, ReduceOp::max);
        if (max[0] != size - 1 || max[1] != 0) ++wrong;

        std::vector<int> mine(r, r);  // rank r contributes r values
        auto all = comm.allgatherv(std::span<const int>(mine));
        for (int other = 0; other < size; ++other) {
          if (all.of(other).size() != std::size_t(other)) ++wrong;
          for (int v : all.of(other)) wrong += v != other;
        }
        auto at_root = comm.gatherv(std::span<const int>(mine), size - 1);
        if (r == size - 1 ? at_root.values != all.values : !at_root.values.empty()) ++wrong;

        Gathered<int> parts;  // rank r sends r + d values to rank d
        parts.offsets.push_back(0);
        for (int d = 0; d < size; ++d) {
          parts.values.insert(parts.values.end(), std::size_t(r + d), 10 * r + d);
          parts.offsets.push_back(parts.values.size());
        }
        const auto dealt = comm.alltoallv(parts);
        for (int other = 0; other < size; ++other) {
          if (dealt.of(other).size() != std::size_t(other + r)) ++wrong;
          for (int v : dealt.of(other)) wrong += v != 10 * other + r;
        }

        double value = r == 0 ? 3.5 : 0;
        comm.bcast(std::span(&value, 1), 0);
        if (value != 3.5) ++wrong;

        int left = -1, right = -1;
        comm.neighbour_exchange(std::span<const int>(&r, 1), std::span<const int>(&r, 1), std::span(&left, 1),
                                std::span(&right, 1));
        if (left != r - 1 || right != (r + 1 < size ? r + 1 : -1)) ++wrong;
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("the failure of one thread reaches all threads and the caller") {
  std::atomic<int> told{0};
  CHECK_THROWS_AS(run_thread_group(4,
                                   [&](Communicator& comm) {
                                     if (comm.rank() == 2) throw std::invalid_argument("rank 2 is out");
                                     try {
                                       std::int64_t one = 1;
                                       comm.allreduce(std::span(&one, 1), ReduceOp::sum);
                                     } catch (const CommunicatorError&) {
                                       ++told;
                                       throw;
                                     }
                                   }),
                  std::invalid_argument);
  CHECK(told == 3);
}

TEST_CASE("sums of floating-point numbers are refused") {
  CHECK_THROWS_AS(run_thread_group(2,
                                   [](Communicator& comm) {
                                     double x = 1;
                                     comm.allreduce(std::span(&x, 1), ReduceOp::sum);
                                   }),
                  CommunicatorError);
}
