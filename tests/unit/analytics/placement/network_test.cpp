#include "analytics/placement/network.hpp"

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>

using effort::placement::Network;

TEST_CASE("messages go up to the lowest common switch and down again") {
  // Nodes 0 and 1 below switch 4, node 2 below switch 5, node 3 below the root 6.
  const Network network(4, {4, 4, 5, 6, 6, 6, -1});
  CHECK(network.links(0, 0) == 0);
  CHECK(network.links(0, 1) == 2);
  CHECK(network.links(0, 2) == 4);
  CHECK(network.links(2, 0) == 4);
  CHECK(network.links(3, 0) == 3);
  CHECK(network.root() == 6);
  CHECK(network.below(4).size() == 2);
  CHECK(network.below(0).empty());
}

TEST_CASE("all nodes of a flat network are two links apart") {
  const Network network = Network::flat(5);
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 5; ++b) CHECK(network.links(a, b) == (a == b ? 0 : 2));
}

TEST_CASE("switches that do not form a tree are refused") {
  CHECK_THROWS_AS(Network(2, {2, 2}), std::invalid_argument);            // no switch
  CHECK_THROWS_AS(Network(2, {2, 3, -1, -1}), std::invalid_argument);    // two roots
  CHECK_THROWS_AS(Network(2, {2, -1, -1}), std::invalid_argument);       // a node without a switch
  CHECK_THROWS_AS(Network(2, {2, 0, -1}), std::invalid_argument);        // a node above a node
  CHECK_THROWS_AS(Network(2, {2, 2, -1, 4, 3}), std::invalid_argument);  // a circle
  CHECK_THROWS_AS(Network(2, {2, 2, 7}), std::invalid_argument);         // a switch that does not exist
}
