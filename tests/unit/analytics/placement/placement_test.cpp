#include "analytics/placement/placement.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

using namespace effort::placement;

namespace {

/// A halo without corners on width x height ranks; `name` gives each place its rank.
TrafficGraph halo(std::int32_t width, std::int32_t height, const std::vector<std::int32_t>& name) {
  std::vector<Exchange> exchanges;
  const auto at = [&](std::int32_t x, std::int32_t y) { return name[static_cast<std::size_t>(y * width + x)]; };
  for (std::int32_t y = 0; y < height; ++y) {
    for (std::int32_t x = 0; x < width; ++x) {
      if (x + 1 < width) exchanges.push_back({at(x, y), at(x + 1, y), 8});
      if (y + 1 < height) exchanges.push_back({at(x, y), at(x, y + 1), 8});
    }
  }
  return TrafficGraph(width * height, exchanges);
}

std::vector<std::int32_t> in_order(std::int32_t ranks) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<std::int32_t> by_blocks(std::int32_t ranks, std::int32_t per_node) {
  std::vector<std::int32_t> node_of = in_order(ranks);
  for (std::int32_t& node : node_of) node /= per_node;
  return node_of;
}

}  // namespace

TEST_CASE("a halo on nodes of 16 is placed in squares") {
  const TrafficGraph graph = halo(16, 16, in_order(256));
  const Placement placed = place(graph, Network::flat(16), by_blocks(256, 16));
  // Rows: 15 borders of 16 pairs.  Squares of 4 x 4: 3 borders of 16 pairs in each direction.
  CHECK(placed.before.off_node == 15 * 16 * 8);
  CHECK(placed.after.off_node == 2 * 3 * 16 * 8);
  CHECK(placed.after.link_bytes == 2 * placed.after.off_node);
  CHECK(cost_of(graph, Network::flat(16), placed.node_of).link_bytes == placed.after.link_bytes);
}

TEST_CASE("every node keeps its number of ranks, and no placement is worse than the present one") {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const std::int32_t ranks = 20 + static_cast<std::int32_t>(random() % 50);
    std::vector<Exchange> exchanges;
    for (std::int32_t i = 0; i < 4 * ranks; ++i)
      exchanges.push_back({static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks)),
                           static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks)),
                           static_cast<double>(random() % 100)});
    const TrafficGraph graph(ranks, exchanges);
    // Seven nodes, one of which has no ranks, below two switches and a root.
    const Network network(7, {7, 7, 7, 8, 8, 8, 9, 9, 9, -1});
    std::vector<std::int32_t> node_of(static_cast<std::size_t>(ranks));
    for (std::int32_t& node : node_of) node = static_cast<std::int32_t>(random() % 6);
    const Placement placed = place(graph, network, node_of);
    CHECK(placed.after.link_bytes <= placed.before.link_bytes);
    for (std::int32_t node = 0; node < 7; ++node)
      CHECK(std::count(placed.node_of.begin(), placed.node_of.end(), node) ==
            std::count(node_of.begin(), node_of.end(), node));
  }
}

TEST_CASE("groups of a shuffled halo find back to one switch") {
  std::vector<std::int32_t> name = in_order(64);
  std::shuffle(name.begin(), name.end(), std::mt19937(1));
  const TrafficGraph graph = halo(32, 2, name);
  // Eight nodes of 8 ranks, four at a switch: a strip of 4 x 2 is a node, one of 16 x 2 is a switch.
  const Network network(8, {8, 8, 8, 8, 9, 9, 9, 9, 10, 10, -1});
  const Placement placed = place(graph, network, by_blocks(64, 8));
  // Seven borders of 2 pairs, the middle one four links apart.
  CHECK(placed.after.off_node == 7 * 2 * 8);
  CHECK(placed.after.link_bytes == (6 * 2 + 4) * 2 * 8);
}

TEST_CASE("a good placement stays as it is") {
  const TrafficGraph graph = halo(4, 8, in_order(32));
  const std::vector<std::int32_t> now = by_blocks(32, 16);
  const Placement placed = place(graph, Network::flat(2), now);
  CHECK(placed.node_of == now);
  CHECK(placed.after.off_node == 4 * 8);
}

TEST_CASE("a placement that does not fit is refused") {
  const TrafficGraph graph = halo(2, 2, in_order(4));
  CHECK_THROWS_AS(place(graph, Network::flat(2), std::vector<std::int32_t>{0, 0, 1}), std::invalid_argument);
  CHECK_THROWS_AS(place(graph, Network::flat(2), std::vector<std::int32_t>{0, 0, 1, 2}), std::invalid_argument);
}
