// The trace of a halo exchange in which all ranks are kept.
#include "tests/viewer/halo_trace.hpp"

#include <algorithm>
#include <string>

#include "tests/viewer/halo.hpp"

namespace effort::test {

namespace {

using namespace effort::tools;
using namespace effort::tools::test;
using effort::trace::Kind;

constexpr std::int64_t step_ns = 2'000'000;

struct Halo {
  std::int32_t ranks;
  std::int64_t steps;
  Grid grid{ranks};

  bool first_half(std::int64_t step) const { return 2 * step < steps; }
  /// Corners and edges take part in the first half of the run only.
  bool takes_part(int direction, std::int64_t step) const { return first_half(step) || Grid::distance(direction) == 1; }
  /// The time at which a rank has computed: the late one 0.4 ms after the others, in one step 1.2 ms.
  std::int64_t computed(std::int32_t rank, std::int64_t step) const {
    std::int64_t busy = 200'000 + (rank * 7919 + step * 104729) % 20'000;
    if (rank == late_rank(ranks)) busy += step == steps / 4 ? 1'200'000 : 400'000;
    return step * step_ns + busy;
  }
};

void add_step(Events& e, const Halo& halo, std::int32_t rank, std::int64_t step) {
  const auto neighbours = halo.grid.neighbours(rank);
  std::int64_t now = halo.computed(rank, step);
  e.at(step * step_ns).step(static_cast<std::uint64_t>(step)).enter(region_step).enter(region_solve);
  e.at(now).leave(region_solve);
  for (int k = 0; k < 26; ++k) {
    if (!halo.takes_part(k, step)) continue;
    e.at(now).enter(region_send).message(Kind::send, neighbours[static_cast<std::size_t>(k)], k, bytes_to(k));
    e.at(now + 800).leave(region_send);
    now += 1000;
  }
  for (int k = 0; k < 26; ++k) {
    if (!halo.takes_part(k, step)) continue;
    const std::int32_t from = neighbours[static_cast<std::size_t>(k)];
    int before = 0;  // messages that the neighbour sends first; it sends this one in the opposite direction
    for (int j = 0; j < 25 - k; ++j) before += halo.takes_part(j, step);
    const std::int64_t sent = halo.computed(from, step) + 1000 * before;
    e.at(now).enter(region_receive);
    now = std::max(now, sent) + 1000 + static_cast<std::int64_t>(bytes_to(k) / 16);
    e.at(now).message(Kind::receive, from, 25 - k, bytes_to(25 - k)).leave(region_receive);
    now += 200;
  }
  // All leave together, after the late rank and its neighbours.
  const std::int64_t reduced = halo.computed(late_rank(halo.ranks), step) + 150'000;
  e.at(now).enter(region_reduce).at(reduced).collective(0, 8, rank == 0 ? 8 : 0).leave(region_reduce);
  e.at((step + 1) * step_ns - 10'000).leave(region_step);
}

}  // namespace

std::int32_t late_rank(std::int32_t ranks) { return ranks / 3; }

Trace halo_trace(const std::string& name, std::int32_t ranks, std::int32_t nodes, std::int64_t steps) {
  const Halo halo{ranks, steps};
  Trace out = empty_trace(ranks);
  out.name = name;
  out.job = "7";
  out.n_nodes = nodes;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    out.node_of[rank] = static_cast<std::int32_t>(static_cast<std::int64_t>(rank) * nodes / ranks);
  add_window(out, 0, 0, steps * step_ns, steps);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    Events e(0);
    for (std::int64_t step = 0; step < steps; ++step) add_step(e, halo, rank, step);
    keep(out, rank, record::trace::reason_pin, 0, -1, e);
  }
  return out;
}

}  // namespace effort::test
