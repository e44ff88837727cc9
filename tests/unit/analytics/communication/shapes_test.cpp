// Names of generated traffic, and of traffic that is almost the same.
#include "analytics/communication/shapes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

using namespace effort::communication;

namespace {

/// Collects messages.
class Messages {
 public:
  explicit Messages(std::uint32_t ranks) { traffic_.ranks = ranks; }

  Messages& add(std::uint32_t from, std::uint32_t to, std::uint64_t bytes = 8) {
    for (Link& link : traffic_.links) {
      if (link.from != from || link.to != to) continue;
      ++link.messages;
      link.bytes += bytes;
      return *this;
    }
    traffic_.links.push_back({from, to, 1, bytes});
    return *this;
  }
  Messages& both(std::uint32_t a, std::uint32_t b) { return add(a, b).add(b, a); }
  Messages& rounds() {
    traffic_.in_rounds = true;
    return *this;
  }
  std::uint32_t ranks() const { return traffic_.ranks; }
  Traffic traffic() const {
    Traffic sorted = traffic_;
    std::sort(sorted.links.begin(), sorted.links.end(),
              [](const Link& a, const Link& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
    return sorted;
  }
  std::string name() const { return recognise(traffic()).name; }

 private:
  Traffic traffic_;
};

struct Halo {
  std::vector<std::uint32_t> size;
  std::size_t most = 1;  ///< coordinates that differ
  std::vector<bool> periodic;
  std::uint32_t messages = 1;
  std::uint64_t face = 1000, corner = 10;
};

Messages halo(const Halo& h) {
  std::uint32_t ranks = 1;
  for (const std::uint32_t size : h.size) ranks *= size;
  Messages messages(ranks);
  const std::size_t dimensions = h.size.size();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::vector<int> at(dimensions), step(dimensions, -1);
    std::uint32_t rest = rank;
    for (std::size_t d = dimensions; d-- > 0; rest /= h.size[d]) at[d] = static_cast<int>(rest % h.size[d]);
    for (bool more = true; more;) {
      std::size_t differ = 0;
      std::uint32_t other = 0;
      bool inside = true;
      for (std::size_t d = 0; d < dimensions; ++d) {
        const int size = static_cast<int>(h.size[d]);
        int moved = at[d] + step[d];
        differ += step[d] != 0;
        if (moved < 0 || moved >= size) inside = inside && h.periodic[d];
        moved = (moved + size) % size;
        other = other * h.size[d] + static_cast<std::uint32_t>(moved);
      }
      if (inside && differ > 0 && differ <= h.most)
        for (std::uint32_t m = 0; m < h.messages; ++m) messages.add(rank, other, differ == 1 ? h.face : h.corner);
      std::size_t d = 0;
      while (d < dimensions && ++step[d] > 1) step[d++] = -1;
      more = d < dimensions;
    }
  }
  return messages;
}

Messages butterfly(std::uint32_t ranks) {
  Messages m(ranks);
  std::uint32_t core = 1;
  while (core * 2 <= ranks) core *= 2;
  const std::uint32_t folded = ranks - core;
  // As in MPICH: of the first 2 x folded ranks the even ones are folded into the odd ones.
  std::vector<std::uint32_t> inside;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    if (r < 2 * folded && r % 2 == 0) {
      m.both(r, r + 1);
    } else {
      inside.push_back(r);
    }
  }
  for (std::uint32_t i = 0; i < core; ++i)
    for (std::uint32_t bit = 1; bit < core; bit *= 2) m.add(inside[i], inside[i ^ bit]);
  return m.rounds();
}

Messages binomial(std::uint32_t ranks, std::uint32_t root, bool lowest, bool away) {
  Messages m(ranks);
  for (std::uint32_t r = 1; r < ranks; ++r) {
    std::uint32_t bit = r & (~r + 1);
    if (!lowest)
      for (bit = 1; bit * 2 <= r;) bit *= 2;
    const std::uint32_t child = (r + root) % ranks, parent = ((r ^ bit) + root) % ranks;
    away ? m.add(parent, child) : m.add(child, parent);
  }
  return m;
}

}  // namespace

TEST_CASE("rings and shifts") {
  for (const std::uint32_t n : {3, 4, 5, 8, 12, 17, 64, 100}) {
    Messages right(n), left(n), up(n), down(n);
    for (std::uint32_t r = 0; r < n; ++r) right.add(r, (r + 1) % n), left.add(r, (r + n - 1) % n);
    for (std::uint32_t r = 0; r + 1 < n; ++r) up.add(r, r + 1), down.add(r + 1, r);
    REQUIRE(right.name() == "ring");
    REQUIRE(left.name() == "ring");
    if (n > 3) REQUIRE(right.add(0, n / 2).name() == "irregular");
    REQUIRE(up.name() == "shift");
    REQUIRE(down.name() == "shift");
    for (const std::uint32_t distance : {2u, 3u, n / 2}) {
      if (distance < 2 || distance + 1 >= n) continue;
      Messages cyclic(n), open(n), back(n);
      for (std::uint32_t r = 0; r < n; ++r) cyclic.add(r, (r + distance) % n);
      for (std::uint32_t r = 0; r + distance < n; ++r) open.add(r, r + distance), back.add(r + distance, r);
      if (2 * distance != n) REQUIRE(cyclic.name() == "shift");
      REQUIRE(open.name() == "shift");
      REQUIRE(back.name() == "shift");
    }
  }
}

TEST_CASE("halos") {
  using Size = std::vector<std::uint32_t>;
  const auto is = [](const Halo& h, const std::string& name) {
    const Shape shape = recognise(halo(h).traffic());
    CAPTURE(h.size, h.most, h.periodic, h.messages, shape.name);
    REQUIRE(shape.name == name);
    REQUIRE(shape.grid == h.size);
    // One message more or less, and it is not a halo any more.
    Traffic more = halo(h).traffic(), fewer = more;
    ++more.links.back().messages;
    REQUIRE(recognise(more).name != name);
    fewer.links.pop_back();
    REQUIRE(recognise(fewer).name != name);
  };
  for (const std::uint32_t messages : {1u, 3u}) {
    for (const std::uint32_t n : {4u, 5u, 12u, 33u}) {
      is({{n}, 1, {false}, messages}, "1D halo");
      is({{n}, 1, {true}, messages}, "1D halo, periodic");
    }
    for (const Size& size : {Size{3, 4}, Size{2, 5}, Size{6, 4}, Size{5, 3}, Size{7, 7}, Size{16, 3}}) {
      is({size, 1, {false, false}, messages}, "2D halo");
      is({size, 2, {false, false}, messages}, "2D halo with corners");
      if (size[0] == 2) continue;  // both ways round lead to the same rank
      is({size, 1, {true, true}, messages}, "2D halo, periodic");
      is({size, 1, {true, false}, messages}, "2D halo, partly periodic");
      if (size[0] > 3 || size[1] > 3) is({size, 2, {true, true}, messages}, "2D halo with corners, periodic");
    }
    for (const Size& size : {Size{3, 3, 3}, Size{2, 3, 4}, Size{4, 5, 3}, Size{5, 2, 2}}) {
      is({size, 1, {false, false, false}, messages}, "3D halo");
      is({size, 2, {false, false, false}, messages}, "3D halo with edges");
      is({size, 3, {false, false, false}, messages}, "3D halo with corners");
    }
    is({{4, 4, 5}, 1, {true, true, true}, messages}, "3D halo, periodic");
    is({{4, 3, 5}, 3, {true, true, true}, messages}, "3D halo with corners, periodic");
    is({{4, 3, 5}, 1, {false, false, true}, messages}, "3D halo, partly periodic");
  }
  is({{2, 2}, 1, {false, false}}, "2D halo");
  is({{2, 2}, 2, {false, false}}, "2D halo with corners");
  is({{2, 2, 2}, 1, {false, false, false}}, "3D halo");
  is({{2, 4}, 1, {true, true}}, "2D halo, periodic");
}

TEST_CASE("messages to oneself do not matter") {
  Messages m = halo({{5}, 1, {true}});
  for (std::uint32_t r = 0; r < 5; ++r) m.add(r, r);
  REQUIRE(m.name() == "1D halo, periodic");
  REQUIRE(Messages(1).add(0, 0).name() == "self messages");
  REQUIRE(recognise({}).name == "none");
  REQUIRE(recognise({5, {}, false}).name == "none");
}

TEST_CASE("butterflies") {
  for (const std::uint32_t n : {4, 5, 6, 7, 8, 11, 16, 24, 31, 32, 100}) {
    CAPTURE(n);
    REQUIRE(butterfly(n).name() == "butterfly");
    REQUIRE(butterfly(n).add(0, n - 1).add(0, n - 1).name() != "butterfly");
    Messages dissemination(n);
    for (std::uint32_t r = 0; r < n; ++r)
      for (std::uint32_t d = 1; d < n; d *= 2) dissemination.add(r, (r + d) % n);
    REQUIRE(dissemination.name() == "dissemination");
  }
}

TEST_CASE("trees") {
  for (const std::uint32_t n : {4, 5, 6, 8, 13, 16, 33, 64}) {
    for (const std::uint32_t root : {0u, 1u, n - 1}) {
      for (const bool lowest : {true, false}) {
        for (const bool away : {true, false}) {
          CAPTURE(n, root, lowest, away);
          REQUIRE(binomial(n, root, lowest, away).name() == "binomial tree");
          if (n > 5) REQUIRE(binomial(n, root, lowest, away).add((root + 1) % n, (root + 2) % n).name() == "irregular");
        }
      }
    }
    if (n < 5) continue;
    Messages binary(n);
    for (std::uint32_t r = 1; r < n; ++r) binary.add((r - 1) / 2, r);
    REQUIRE(binary.name() == "binary tree");
  }
}

TEST_CASE("roots, all to all, transposes") {
  for (const std::uint32_t n : {3, 4, 5, 9, 16, 21, 64}) {
    for (const std::uint32_t root : {0u, n - 1}) {
      Messages gather(n), scatter(n), work(n);
      for (std::uint32_t r = 0; r < n; ++r) {
        if (r == root) continue;
        gather.add(r, root), scatter.add(root, r);
        for (std::uint32_t m = 0; m < 1 + r % 3; ++m) work.both(root, r);
      }
      REQUIRE(gather.name() == "gather to a root");
      REQUIRE(scatter.name() == "scatter from a root");
      REQUIRE(work.name() == "master-worker");
    }
    Messages all(n);
    for (std::uint32_t a = 0; a < n; ++a)
      for (std::uint32_t b = 0; b < n; ++b)
        if (a != b) all.add(a, b);
    REQUIRE(all.name() == "all-to-all");
  }
  for (const std::uint32_t side : {3, 4, 5, 8}) {
    Messages transpose(side * side);
    for (std::uint32_t i = 0; i < side; ++i)
      for (std::uint32_t j = 0; j < side; ++j)
        if (i != j) transpose.add(i * side + j, j * side + i);
    REQUIRE(transpose.name() == "transpose");
  }
  REQUIRE(Messages(2).add(1, 0).add(1, 0).name() == "message");
  REQUIRE(Messages(2).both(0, 1).name() == "exchange");
}

TEST_CASE("random traffic has a name, and is seldom regular") {
  std::mt19937 random(5);
  std::size_t irregular = 0;
  for (int round = 0; round < 500; ++round) {
    const std::uint32_t n = 5 + static_cast<std::uint32_t>(random() % 30);
    Messages m(n);
    for (std::uint32_t i = 0; i < 2 * n; ++i)
      m.add(static_cast<std::uint32_t>(random() % n), static_cast<std::uint32_t>(random() % n));
    irregular += m.name() == "irregular";
  }
  REQUIRE(irregular == 500);
}
