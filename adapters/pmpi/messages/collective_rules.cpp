#include "adapters/pmpi/messages/collective_rules.hpp"

namespace effort::pmpi {

CollectiveSize size_of(Call given, const DataArguments& a, const Communicator& c) {
  const Call call = blocking(given);
  const CollectiveRule rule = collective_rule(call);
  CollectiveSize size;
  if (c.inter || rule.shape == Shape::none) return size;
  if (rule.shape == Shape::root) {
    size.root = a.integer(rule.root);
    if (size.root == c.me) return size;  // the others count; the root's own sizes need not be valid
  }
  size.takes_part = true;
  if (call == Call::Reduce_scatter)
    size.bytes = a.part(rule.count, c.me, a.type(rule.type));
  else if (rule.count >= 0 && !rule.differs)
    size.bytes = a.bytes(rule.count, rule.type);
  return size;
}

void add_parts(std::vector<Part>& parts, Call given, const DataArguments& a, Communicator& c, CollectiveSize size) {
  if (!size.takes_part) return;
  const Call call = blocking(given);
  const CollectiveRule rule = collective_rule(call);
  const auto with = [&](int rank, bool sends, std::uint64_t bytes) {
    if (rank == c.me) return;
    if (const int peer = c.world_rank(rank); peer >= 0) parts.push_back({peer, 1, bytes, sends, true});
  };
  // Of arrays with an element for each rank or neighbour.
  const auto bytes_of = [&](int i) {
    if (!rule.differs) return size.bytes;
    return call == Call::Alltoallw || call == Call::Neighbor_alltoallw ? a.part_of_type(rule.count, rule.type, i)
                                                                       : a.part(rule.count, i, a.type(rule.type));
  };
  switch (rule.shape) {
    case Shape::root: with(size.root, !rule.from_root, size.bytes); break;
    case Shape::each:
      for (int r = 0; r < c.size; ++r)
        if (r != c.me) with(r, false, bytes_of(r));
      break;
    case Shape::doubling:
      for (int d = 1; d < c.size; d *= 2) with((c.me + d) % c.size, true, size.bytes);
      break;
    case Shape::next: with(c.me + 1, true, size.bytes); break;
    case Shape::neighbours: {
      find_neighbours(c, a.communicator(info(given).comm));
      const std::vector<int>& to = c.neighbours.sends_to;
      for (int i = 0; i < static_cast<int>(to.size()); ++i)
        if (const int rank = to[static_cast<std::size_t>(i)]; rank >= 0) with(rank, true, bytes_of(i));
      break;
    }
    case Shape::none: break;
  }
}

}  // namespace effort::pmpi
