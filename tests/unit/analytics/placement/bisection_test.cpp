#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "analytics/placement/placement.hpp"

using namespace effort::placement;

namespace {

double cut(const TrafficGraph& graph, const std::vector<std::int32_t>& ranks, std::size_t first_part) {
  std::vector<int> part(static_cast<std::size_t>(graph.ranks()), -1);
  for (std::size_t i = 0; i < ranks.size(); ++i) part[static_cast<std::size_t>(ranks[i])] = i < first_part ? 1 : 2;
  double bytes = 0;
  for (std::int32_t a = 0; a < graph.ranks(); ++a)
    for (const TrafficGraph::Neighbour& b : graph.of(a))
      if (part[static_cast<std::size_t>(a)] == 1 && part[static_cast<std::size_t>(b.rank)] == 2) bytes += b.bytes;
  return bytes;
}

}  // namespace

TEST_CASE("pairs are undirected, and repeated ones are added") {
  const std::vector<Exchange> exchanges{{0, 1, 10}, {1, 0, 5}, {2, 2, 100}, {1, 2, 1}, {0, 2, 0}};
  const TrafficGraph graph(3, exchanges);
  CHECK(graph.bytes() == 16);
  REQUIRE(graph.of(0).size() == 1);
  CHECK(graph.of(0)[0].rank == 1);
  CHECK(graph.of(0)[0].bytes == 15);
  CHECK(graph.of(1).size() == 2);
  CHECK(graph.of(2).size() == 1);
  CHECK_THROWS(TrafficGraph(2, exchanges));
  CHECK_THROWS(TrafficGraph(2, std::vector<Exchange>{{0, 1, -1}}));
}

TEST_CASE("two groups with one weak link are separated") {
  std::vector<Exchange> exchanges;
  // Even ranks exchange much with each other, and so do odd ranks.
  for (std::int32_t a = 0; a < 20; ++a)
    for (std::int32_t b = a + 2; b < 20; b += 2) exchanges.push_back({a, b, 10});
  exchanges.push_back({4, 7, 1});
  const TrafficGraph graph(20, exchanges);
  std::vector<std::int32_t> ranks(20);
  std::iota(ranks.begin(), ranks.end(), 0);
  bisect(graph, ranks, 10);
  CHECK(cut(graph, ranks, 10) == 1);
}

TEST_CASE("the parts are as large as asked for, and hardly ever worse than the best of all divisions") {
  const unsigned seed = GENERATE(range(0u, 20u));
  std::mt19937 random(seed);
  const std::int32_t n = 12;
  std::vector<Exchange> exchanges;
  for (std::int32_t a = 0; a < n; ++a)
    for (std::int32_t b = a + 1; b < n; ++b)
      if (random() % 3 == 0) exchanges.push_back({a, b, static_cast<double>(1 + random() % 9)});
  const TrafficGraph graph(n, exchanges);
  const std::size_t first_part = 3 + random() % 4;
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  bisect(graph, ranks, first_part);
  std::vector<std::int32_t> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  for (std::int32_t i = 0; i < n; ++i) REQUIRE(sorted[static_cast<std::size_t>(i)] == i);

  double best = graph.bytes();
  for (unsigned set = 0; set < 1u << n; ++set) {
    if (static_cast<std::size_t>(__builtin_popcount(set)) != first_part) continue;
    std::vector<std::int32_t> division;
    for (const bool in : {true, false})
      for (std::int32_t i = 0; i < n; ++i)
        if (((set >> i & 1) != 0) == in) division.push_back(i);
    best = std::min(best, cut(graph, division, first_part));
  }
  CHECK(cut(graph, ranks, first_part) <= 1.25 * best);
}

TEST_CASE("ranks that exchange nothing are divided too") {
  const TrafficGraph graph(5, {});
  std::vector<std::int32_t> ranks{4, 2, 0, 1, 3};
  bisect(graph, ranks, 2);
  std::sort(ranks.begin(), ranks.end());
  CHECK(ranks == std::vector<std::int32_t>{0, 1, 2, 3, 4});
}
