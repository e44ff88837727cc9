// Ranks on the cores of their nodes.
#include "analytics/placement/inside.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

using namespace effort::placement;

namespace {

using Ids = std::vector<std::int32_t>;

/// A halo without corners on 8 x 8 ranks.
TrafficGraph halo() {
  std::vector<Exchange> exchanges;
  for (std::int32_t rank = 0; rank < 64; ++rank) {
    if (rank % 8 < 7) exchanges.push_back({rank, rank + 1, 8});
    if (rank < 56) exchanges.push_back({rank, rank + 8, 8});
  }
  return {64, exchanges};
}

}  // namespace

TEST_CASE("a halo inside a node is divided in squares") {
  const Ids node_of(64, 0);
  const NodeShape shape({4, 16});
  const Ids before = cores_in_order(node_of), after = place_inside(halo(), shape, node_of);
  CHECK(off_domain(halo(), shape, node_of, before) == 3 * 8 * 8);  // pairs of rows
  CHECK(off_domain(halo(), shape, node_of, after) == 2 * 8 * 8);   // squares of 4 x 4
  Ids sorted = after;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == before);
}

TEST_CASE("each node's ranks keep its cores, and no order is worse than the ascending one") {
  std::mt19937 random(3);
  const auto below = [&](std::int32_t n) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 30; ++round) {
    const std::int32_t ranks = 10 + below(60);
    const std::vector<NodeShape> shapes{NodeShape({2, 40}), NodeShape({2, 4, 10}), NodeShape({3, 2, 2, 7}),
                                        NodeShape({80})};
    const NodeShape& shape = shapes[static_cast<std::size_t>(round % 4)];
    std::vector<Exchange> exchanges;
    for (std::int32_t i = 0; i < 4 * ranks; ++i)
      exchanges.push_back({below(ranks), below(ranks), static_cast<double>(below(1000))});
    const TrafficGraph graph(ranks, exchanges);
    Ids node_of;
    for (std::int32_t rank = 0; rank < ranks; ++rank) node_of.push_back(below(3));
    const Ids before = cores_in_order(node_of), after = place_inside(graph, shape, node_of);
    for (std::int32_t node = 0; node < 3; ++node) {
      Ids old_cores, new_cores;
      for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
        if (node_of[rank] != node) continue;
        old_cores.push_back(before[rank]);
        new_cores.push_back(after[rank]);
      }
      std::sort(new_cores.begin(), new_cores.end());
      CHECK(new_cores == old_cores);
    }
    // With one level of parts above the cores, bytes times levels are twice the bytes that leave a domain.
    if (shape.levels().size() <= 2)
      CHECK(off_domain(graph, shape, node_of, after) <= off_domain(graph, shape, node_of, before));
    CHECK(place_inside(graph, shape, node_of) == after);
  }
}

TEST_CASE("invalid shapes, and nodes that are too small, are refused") {
  CHECK_THROWS_AS(NodeShape({}), std::invalid_argument);
  CHECK_THROWS_AS(NodeShape({2, 0}), std::invalid_argument);
  CHECK_THROWS_AS(NodeShape({1 << 10, 1 << 10}), std::invalid_argument);
  CHECK(NodeShape({2, 4, 8}).cores() == 64);
  CHECK(NodeShape({2, 4, 8}).domain_of(31) == 0);
  CHECK(NodeShape({2, 4, 8}).domain_of(32) == 1);
  CHECK_THROWS_AS(place_inside(halo(), NodeShape({2, 31}), Ids(64, 0)), std::invalid_argument);
  CHECK_THROWS_AS(place_inside(halo(), NodeShape({2, 32}), Ids(63, 0)), std::invalid_argument);
}

TEST_CASE("NUMA domains may be made up of several levels") {
  const NodeShape shape({2, 4, 2, 4}, 2);
  CHECK(shape.cores() == 64);
  CHECK(shape.domain_of(63) == 7);
  CHECK(shape.domain_of(7) == 0);
  CHECK(shape.domain_of(8) == 1);
  CHECK(NodeShape({2, 4}).domain_of(7) == 1);
  CHECK_THROWS_AS(NodeShape({2, 4}, 0), std::invalid_argument);
  CHECK_THROWS_AS(NodeShape({2, 4}, 3), std::invalid_argument);
}
