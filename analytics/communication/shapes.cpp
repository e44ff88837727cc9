#include "analytics/communication/shapes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>

#include "analytics/communication/grids.hpp"

namespace effort::communication {

namespace {

/// Links between different ranks, with queries.
class Graph {
 public:
  explicit Graph(Traffic traffic) : traffic_(std::move(traffic)), sends_to_(n()), receives_from_(n()) {
    std::erase_if(traffic_.links, [](const Link& link) { return link.from == link.to; });
    for (const Link& link : traffic_.links) ++sends_to_[link.from], ++receives_from_[link.to];
  }

  const Traffic& traffic() const { return traffic_; }
  const std::vector<Link>& links() const { return traffic_.links; }
  std::uint32_t n() const { return traffic_.ranks; }
  std::uint32_t sends_to(std::uint32_t rank) const { return sends_to_[rank]; }
  std::uint32_t receives_from(std::uint32_t rank) const { return receives_from_[rank]; }

  bool has(std::uint32_t from, std::uint32_t to) const {
    return std::binary_search(links().begin(), links().end(), Link{from, to}, [](const Link& a, const Link& b) {
      return a.from != b.from ? a.from < b.from : a.to < b.to;
    });
  }
  bool both_ways() const {
    return std::all_of(links().begin(), links().end(), [&](const Link& link) { return has(link.to, link.from); });
  }
  bool all(const std::function<bool(const Link&)>& is) const { return std::all_of(links().begin(), links().end(), is); }

 private:
  Traffic traffic_;
  std::vector<std::uint32_t> sends_to_, receives_from_;  ///< ranks
};

std::optional<Shape> pair(const Graph& g) {
  if (g.n() != 2) return std::nullopt;
  return Shape{g.both_ways() ? "exchange" : "message", {}};
}

std::optional<Shape> all_to_all(const Graph& g) {
  if (g.links().size() != std::uint64_t{g.n()} * (g.n() - 1)) return std::nullopt;
  if (auto halo = recognise_halo(g.traffic(), true)) return halo;
  return Shape{"all-to-all", {}};
}

/// Whether one rank exchanges with all others, and these only with it.
std::optional<Shape> root(const Graph& g) {
  const std::uint32_t others = g.n() - 1;
  if (g.links().size() != others && g.links().size() != 2 * std::uint64_t{others}) return std::nullopt;
  for (std::uint32_t r = 0; r < g.n(); ++r) {
    if (!g.all([&](const Link& link) { return link.from == r || link.to == r; })) continue;
    if (g.sends_to(r) == others && g.receives_from(r) == others) {
      if (g.n() == 3 && r == 1) return std::nullopt;  // the middle one of three in a row
      return Shape{"master-worker", {}};
    }
    if (g.sends_to(r) == others && g.receives_from(r) == 0) return Shape{"scatter from a root", {}};
    if (g.receives_from(r) == others && g.sends_to(r) == 0) return Shape{"gather to a root", {}};
  }
  return std::nullopt;
}

std::optional<Shape> ring_or_shift(const Graph& g) {
  const Link& first = g.links().front();
  const std::uint32_t n = g.n(), distance = (first.to + n - first.from) % n;
  if (!g.all([&](const Link& link) { return (link.to + n - link.from) % n == distance; })) return std::nullopt;
  if (g.links().size() == n) return Shape{distance == 1 || distance == n - 1 ? "ring" : "shift", {}};
  // Not cyclic: each rank sends to the rank at a fixed distance above it, if there is one; or each to one below it.
  const bool up = g.links().size() == n - distance && g.all([](const Link& link) { return link.from < link.to; });
  const bool down = g.links().size() == distance && g.all([](const Link& link) { return link.from > link.to; });
  return up || down ? std::optional(Shape{"shift", {}}) : std::nullopt;
}

std::uint32_t without_lowest(std::uint32_t r) { return r & (r - 1); }
std::uint32_t without_highest(std::uint32_t r) { return r ^ std::bit_floor(r); }
std::uint32_t half(std::uint32_t r) { return (r - 1) / 2; }

std::optional<Shape> tree(const Graph& g) {
  const std::uint32_t n = g.n();
  if (g.links().size() != n - 1) return std::nullopt;
  for (const bool away : {true, false}) {
    std::uint32_t root = n;
    for (std::uint32_t r = 0; r < n; ++r) {
      if ((away ? g.receives_from(r) : g.sends_to(r)) == 0) root = root == n ? r : n + 1;
    }
    if (root >= n) continue;
    const auto is = [&](const auto& parent_of) {
      return g.all([&](const Link& link) {
        const std::uint32_t child = ((away ? link.to : link.from) + n - root) % n;
        const std::uint32_t parent = ((away ? link.from : link.to) + n - root) % n;
        return child != 0 && parent == parent_of(child);
      });
    };
    if (is(without_lowest) || is(without_highest)) return Shape{"binomial tree", {}};
    if (is(half)) return Shape{"binary tree", {}};
  }
  return std::nullopt;
}

std::optional<Shape> butterfly(const Graph& g) {
  const std::uint32_t core = std::bit_floor(g.n()), folded = g.n() - core;
  if (g.n() < 4 || !g.both_ways()) return std::nullopt;
  if (!g.traffic().in_rounds && (g.n() == 4 || g.n() == 8)) return std::nullopt;
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(core) - 1);
  if (g.links().size() != std::uint64_t{core} * rounds + 2 * std::uint64_t{folded}) return std::nullopt;
  // Folded ranks have one partner; the others are renumbered without them.
  std::vector<std::uint32_t> number(g.n());
  std::uint32_t next = 0;
  for (std::uint32_t r = 0; r < g.n(); ++r) {
    const bool inside = folded == 0 || g.sends_to(r) > 1;
    number[r] = inside ? next++ : g.n();
  }
  if (next != core) return std::nullopt;
  std::vector<bool> host(g.n());
  for (const Link& link : g.links()) {
    const std::uint32_t a = number[link.from], b = number[link.to];
    if (a < core && b < core) {
      if (!std::has_single_bit(a ^ b)) return std::nullopt;
    } else if (a >= core) {
      if (b >= core || host[b]) return std::nullopt;
      host[b] = true;
    }
  }
  return Shape{"butterfly", {}};
}

std::optional<Shape> halo(const Graph& g) { return g.both_ways() ? recognise_halo(g.traffic(), false) : std::nullopt; }

std::optional<Shape> dissemination(const Graph& g) {
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(g.n() - 1));
  if (g.links().size() != std::uint64_t{g.n()} * rounds) return std::nullopt;
  if (!g.all([&](const Link& link) { return std::has_single_bit((link.to + g.n() - link.from) % g.n()); }))
    return std::nullopt;
  return Shape{"dissemination", {}};
}

std::optional<Shape> transpose(const Graph& g) {
  const auto side = static_cast<std::uint32_t>(std::lround(std::sqrt(g.n())));
  if (side < 3 || side * side != g.n() || g.links().size() != g.n() - side) return std::nullopt;
  if (!g.all([&](const Link& link) { return link.to == link.from % side * side + link.from / side; }))
    return std::nullopt;
  return Shape{"transpose", {}};
}

}  // namespace

Shape recognise(const Traffic& traffic) {
  if (traffic.links.empty()) return {"none", {}};
  const Graph graph(traffic);
  if (graph.links().empty()) return {"self messages", {}};
  for (const auto& known : {pair, all_to_all, root, ring_or_shift, tree, butterfly, halo, dissemination, transpose}) {
    if (auto shape = known(graph)) return *std::move(shape);
  }
  return {"irregular", {}};
}

}  // namespace effort::communication
