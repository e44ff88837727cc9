// CLARA over nodes: the same bits for any number of nodes, however the objects are distributed.
#include "analytics/cluster/distributed_clara.hpp"
#include "analytics/comm/thread_group.hpp"

#include "sets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <mutex>

using namespace effort;
using namespace effort::cluster;
using namespace effort::cluster::test;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Whole {
  DistributedClustering common;
  std::vector<std::int32_t> labels;  // of all objects
};

// The node of an object, in several uneven distributions. Some of them leave nodes empty.
int node_of(std::size_t i, int nodes, int way) {
  const auto n = static_cast<std::size_t>(nodes);
  switch (way) {
    case 0: return static_cast<int>(i % n);
    case 1: return static_cast<int>(i * i / 7 % n);
    case 2: return i % 5 == 0 ? nodes - 1 : 0;
    default: return static_cast<int>((i / 3) % 2 == 0 ? n / 2 : i % n);
  }
}

Whole over_nodes(std::span<const double> values, std::size_t d, int nodes, int way, const ClaraParameters& parameters,
                 int bad_node = -1) {
  const std::size_t n = values.size() / d;
  Whole whole;
  whole.labels.assign(n, -1);
  std::mutex mutex;
  std::vector<DistributedClustering> all(static_cast<std::size_t>(nodes));
  run_thread_group(nodes, [&](Communicator& comm) {
    std::vector<std::int32_t> ids;
    std::vector<double> rows;
    for (std::size_t i = 0; i < n; ++i) {
      if (node_of(i, nodes, way) != comm.rank()) continue;
      ids.push_back(static_cast<std::int32_t>(i));
      rows.insert(rows.end(), values.begin() + static_cast<std::ptrdiff_t>(i * d),
                  values.begin() + static_cast<std::ptrdiff_t>((i + 1) * d));
    }
    if (bad_node == comm.rank()) std::reverse(ids.begin(), ids.end());
    auto result =
        distributed_clara(Kokkos::Serial{}, comm, {rows, ids.size(), d}, ids, static_cast<std::int64_t>(n), parameters);
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < ids.size(); ++i) whole.labels[static_cast<std::size_t>(ids[i])] = result.labels[i];
    all[static_cast<std::size_t>(comm.rank())] = std::move(result);
  });
  for (const auto& other : all) {
    REQUIRE(other.medoids == all[0].medoids);
    REQUIRE(other.medoid_signatures == all[0].medoid_signatures);
    REQUIRE(other.cost == all[0].cost);
    REQUIRE(other.sizes == all[0].sizes);
    REQUIRE(other.lone == all[0].lone);
    REQUIRE(other.silhouette == all[0].silhouette);
  }
  whole.common = all[0];
  return whole;
}

void require_same(const Whole& a, const Whole& b) {
  REQUIRE(a.common.k == b.common.k);
  REQUIRE(a.common.medoids == b.common.medoids);
  REQUIRE(a.common.medoid_signatures == b.common.medoid_signatures);
  REQUIRE(a.common.cost == b.common.cost);
  REQUIRE(a.common.sizes == b.common.sizes);
  REQUIRE(a.common.silhouette == b.common.silhouette);
  REQUIRE(a.labels == b.labels);
}

// Counts the collectives and passes them on.
class Counting final : public Communicator {
 public:
  explicit Counting(Communicator& inner) : inner_(inner) {}
  int count = 0;
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  void allreduce(std::span<std::int64_t> values, ReduceOp op) override { ++count, inner_.allreduce(values, op); }
  void allreduce(std::span<double> values, ReduceOp op) override { ++count, inner_.allreduce(values, op); }

 protected:
  Gathered<std::byte> allgatherv_bytes(std::span<const std::byte> mine) override {
    return ++count, inner_.allgatherv(mine);
  }
  Gathered<std::byte> gatherv_bytes(std::span<const std::byte> mine, int root) override {
    return ++count, inner_.gatherv(mine, root);
  }
  Gathered<std::byte> alltoallv_bytes(std::span<const std::byte> mine, std::span<const std::size_t> offsets) override {
    return ++count, inner_.alltoallv(Gathered<std::byte>{{mine.begin(), mine.end()}, {offsets.begin(), offsets.end()}});
  }
  void bcast_bytes(std::span<std::byte> values, int root) override { ++count, inner_.bcast(values, root); }
  void neighbour_exchange_bytes(std::span<const std::byte> a, std::span<const std::byte> b, std::span<std::byte> c,
                                std::span<std::byte> d) override {
    ++count, inner_.neighbour_exchange(a, b, c, d);
  }

 private:
  Communicator& inner_;
};

}  // namespace

TEST_CASE("1, 2, 3, 5, 8 nodes with unequal objects give the same bits") {
  const std::size_t n = GENERATE(4, 60, 997);
  const int k = GENERATE(0, 3);
  const auto values = groups_of(n, 5, 3, 6, static_cast<int>(n) + 1);
  ClaraParameters parameters;
  parameters.k = k;
  const Whole one = over_nodes(values, 5, 1, 0, parameters);
  const auto local = clara(Kokkos::Serial{}, {values, n, 5}, parameters);
  REQUIRE(local.medoids == one.common.medoids);
  REQUIRE(local.cost == one.common.cost);
  REQUIRE(local.labels == one.labels);
  for (const int nodes : {2, 3, 5, 8})
    for (int way = 0; way < 4; ++way) require_same(one, over_nodes(values, 5, nodes, way, parameters));
}

TEST_CASE("values whose squares overflow or underflow give the same bits on any number of nodes") {
  auto values = groups_of(1200, 6, 4, 3, 9);
  for (double& value : values) value *= 0x1p600;
  ClaraParameters parameters;
  parameters.k = 4;
  const Whole one = over_nodes(values, 6, 1, 1, parameters);
  for (const int nodes : {2, 3, 8}) require_same(one, over_nodes(values, 6, nodes, 1, parameters));
}

TEST_CASE("three collectives are enough") {
  const auto values = groups_of(600, 4, 3, 3, 4);
  run_thread_group(2, [&](Communicator& comm) {
    const std::size_t half = 300, first = comm.rank() == 0 ? 0 : half;
    std::vector<std::int32_t> ids(half);
    for (std::size_t i = 0; i < half; ++i) ids[i] = static_cast<std::int32_t>(first + i);
    Counting counting(comm);
    ClaraParameters parameters;
    for (const int k : {0, 3}) {
      counting.count = 0;
      parameters.k = k;
      distributed_clara(Kokkos::Serial{}, counting, {std::span(values).subspan(first * 4, half * 4), half, 4}, ids, 600,
                        parameters);
      if (counting.count != 3) throw std::runtime_error("collectives: " + std::to_string(counting.count));
    }
  });
}

TEST_CASE("all nodes agree on outliers that no sample contains") {
  for (const double far : {1e9, 1e200}) {
    auto values = groups_of(2000, 3, 2, 5, 6);
    values[1777 * 3] = far;
    ClaraParameters parameters;
    parameters.k = 3;
    const Whole one = over_nodes(values, 3, 1, 0, parameters);
    for (const int nodes : {2, 5}) require_same(one, over_nodes(values, 3, nodes, 1, parameters));
  }
}

TEST_CASE("a far rank of any node is a stratum of its own, and all nodes report it") {
  auto values = groups_of(300, 3, 1, 0, 6);
  for (std::size_t j = 0; j < 3; ++j) values[271 * 3 + j] += 1000;
  for (const int k : {0, 2}) {
    ClaraParameters parameters;
    parameters.k = k;
    parameters.sample_size = 300;  // so that it is seen
    for (const int nodes : {1, 3}) {
      const Whole found = over_nodes(values, 3, nodes, 1, parameters);
      REQUIRE(found.common.k == 2);
      REQUIRE(found.common.lone.size() == 1);
      REQUIRE(found.common.medoids[static_cast<std::size_t>(found.common.lone[0])] == 271);
    }
  }
}

TEST_CASE("all nodes refuse if one node has bad input") {
  auto values = groups_of(500, 3, 2, 2, 6);
  ClaraParameters parameters;
  parameters.k = 2;
  for (int bad = 0; bad < 3; ++bad) {
    std::mutex mutex;
    std::vector<std::string> messages;
    run_thread_group(3, [&](Communicator& comm) {
      std::vector<std::int32_t> ids;
      std::vector<double> rows;
      for (std::size_t i = 0; i < 500; ++i) {
        if (node_of(i, 3, 0) != comm.rank()) continue;
        ids.push_back(static_cast<std::int32_t>(i));
        rows.insert(rows.end(), values.begin() + static_cast<std::ptrdiff_t>(3 * i),
                    values.begin() + static_cast<std::ptrdiff_t>(3 * i + 3));
      }
      if (bad == 0 && comm.rank() == 1) std::swap(ids[3], ids[4]);
      if (bad == 1 && comm.rank() == 2) ids.pop_back(), rows.resize(rows.size() - 3);
      if (bad == 2 && comm.rank() == 1) rows[3 * 100 + 2] = std::numeric_limits<double>::quiet_NaN();
      try {
        distributed_clara(Kokkos::Serial{}, comm, {rows, ids.size(), 3}, ids, 500, parameters);
      } catch (const std::invalid_argument& error) {
        const std::lock_guard lock(mutex);
        messages.emplace_back(error.what());
      }
    });
    CAPTURE(bad);
    REQUIRE(messages.size() == 3);
    REQUIRE(messages[0] == messages[1]);
    REQUIRE(messages[0] == messages[2]);
    if (bad == 2) REQUIRE_THAT(messages[0], ContainsSubstring("row 301") && ContainsSubstring("column 2"));
  }
}

TEST_CASE("objects that occur twice while others are missing are noticed, even if count and sum are right") {
  std::mutex mutex;
  int refused = 0;
  run_thread_group(2, [&](Communicator& comm) {
    const std::vector<std::int32_t> ids = {0, 3};  // on both nodes, there are four objects with the sum 0 + 1 + 2 + 3
    const std::vector<double> rows = {0.0, 1.0};
    ClaraParameters parameters;
    parameters.k = 2;
    try {
      distributed_clara(Kokkos::Serial{}, comm, {rows, 2, 1}, ids, 4, parameters);
    } catch (const std::invalid_argument& error) {
      const std::lock_guard lock(mutex);
      refused += std::string(error.what()).find("each once") != std::string::npos;
    }
  });
  REQUIRE(refused == 2);
}
