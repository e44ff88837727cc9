#include "analytics/communication/follow_back.hpp"

#include "analytics/comm/thread_group.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

namespace effort::communication {
namespace {

using Catch::Approx;

double sum(const std::vector<WaitEdge>& edges) {
  double out = 0;
  for (const WaitEdge& e : edges) out += e.seconds;
  return out;
}

/// A halo exchange on a line of ranks without collectives: each rank starts a step when both neighbours' messages of
/// the step before have arrived.  Adds the waits by pair, and how long each rank worked.
void run_line(const std::vector<double>& work, int steps, std::vector<WaitEdge>& edges, std::vector<double>& busy) {
  const std::size_t n = work.size();
  std::vector<double> ready(n, 0.0), sent(n);
  busy.assign(n, 0.0);
  std::vector<double> waited(n * n, 0.0);
  for (int s = 0; s < steps; ++s) {
    for (std::size_t r = 0; r < n; ++r) {
      sent[r] = ready[r] + work[r];
      busy[r] += work[r];
    }
    for (std::size_t r = 0; r < n; ++r) {
      std::size_t late = r;
      if (r > 0 && sent[r - 1] > sent[late]) late = r - 1;
      if (r + 1 < n && sent[r + 1] > sent[late]) late = r + 1;
      waited[r * n + late] += sent[late] - sent[r];
      ready[r] = sent[late];
    }
  }
  edges.clear();
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t q = 0; q < n; ++q)
      if (waited[r * n + q] > 0)
        edges.push_back({static_cast<std::int32_t>(r), static_cast<std::int32_t>(q), waited[r * n + q]});
}

}  // namespace

TEST_CASE("Lateness that travels along a chain of messages is charged to the rank where it began") {
  std::vector<WaitEdge> edges;
  std::vector<double> busy, work(12, 0.010);
  work[3] = 0.030;
  run_line(work, 40, edges, busy);
  const std::vector<double> caused = follow_back(edges, busy);
  CHECK(caused[3] == Approx(sum(edges)));
  // Directly, the neighbours of the slow rank are waited for nearly as long as it is itself.
  double directly = 0;
  for (const WaitEdge& e : edges) directly += e.late == 3 ? e.seconds : 0;
  CHECK(directly < 0.3 * sum(edges));
}

TEST_CASE("Two causes share the waiting") {
  std::vector<WaitEdge> edges;
  std::vector<double> busy, work(10, 0.010);
  work[1] = 0.030;
  work[8] = 0.020;
  run_line(work, 200, edges, busy);
  const std::vector<double> caused = follow_back(edges, busy);
  CHECK(std::accumulate(caused.begin(), caused.end(), 0.0) == Approx(sum(edges)));
  CHECK(caused[1] > 0.5 * sum(edges));
  CHECK(caused[8] > 0.02 * sum(edges));
  CHECK(caused[1] + caused[8] == Approx(sum(edges)).epsilon(0.01));
}

TEST_CASE("Of two ranks that wait for each other, the busier one is to blame") {
  const std::vector<WaitEdge> edges{{0, 1, 1.0}, {1, 0, 3.0}};
  const std::vector<double> caused = follow_back(edges, std::vector<double>{12.0, 10.0});
  CHECK(caused[0] > 3.0);
  CHECK(caused[0] + caused[1] == Approx(4.0));
  // Equally busy: neither is to blame, but all of the waiting is charged to one of them.
  const std::vector<double> even = follow_back(edges, std::vector<double>{10.0, 10.0});
  CHECK(even[0] + even[1] == Approx(4.0));
}

TEST_CASE("A rank that waits for no other keeps all of its delay, and unknown waiting ranks change nothing") {
  const std::vector<WaitEdge> edges{{0, 1, 1.0}, {-1, 2, 5.0}};
  const std::vector<double> caused = follow_back(edges, std::vector<double>{10.0, 10.0, 0.0});
  CHECK(caused == std::vector<double>{0.0, 1.0, 5.0});
}

TEST_CASE("Several nodes find the same as one") {
  std::mt19937 random(11);
  const int n = 24;
  std::vector<WaitEdge> edges;
  std::vector<double> busy;
  for (int r = 0; r < n; ++r) {
    busy.push_back(10 + 1e-3 * static_cast<double>(random() % 1000));
    for (int q = 0; q < n; ++q)
      if (q != r && random() % 4 == 0) edges.push_back({r, q, 1e-3 * static_cast<double>(random() % 1000)});
  }
  const std::vector<double> alone = follow_back(edges, busy);
  std::vector<double> together(static_cast<std::size_t>(n));
  std::mutex mutex;
  run_thread_group(3, [&](Communicator& nodes) {
    std::vector<int> ranks;
    std::vector<WaitEdge> mine;
    std::vector<double> busy_here;
    for (int r = 0; r < n; ++r)
      if (r % 3 == nodes.rank()) {
        ranks.push_back(r);
        busy_here.push_back(busy[static_cast<std::size_t>(r)]);
      }
    for (const WaitEdge& e : edges)
      if (e.waiting % 3 == nodes.rank()) mine.push_back(e);
    const std::vector<double> got = follow_back(nodes, ranks, n, mine, busy_here);
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < ranks.size(); ++i) together[static_cast<std::size_t>(ranks[i])] = got[i];
  });
  for (std::size_t r = 0; r < alone.size(); ++r) CHECK(together[r] == Approx(alone[r]));
}

}  // namespace effort::communication
