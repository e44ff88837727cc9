#include "adapters/pmpi/messages/traffic_rules.hpp"

#include "adapters/pmpi/messages/communicators.hpp"

#include <algorithm>

namespace effort::pmpi {

namespace {

/// A call's arguments and the ranks involved.
struct Collective {
  Call call;
  const Arguments& a;
  const std::vector<int>& ranks;
  int self;
  int me;  ///< this rank in the communicator
  std::vector<Message> messages;

  double count(int place, int element) const { return static_cast<double>(a.count_at(place, element)); }
  MPI_Datatype type_of(int place, int element) const {
    return a.fortran ? type_at(a, place, element) : a.pointer<MPI_Datatype>(place)[element];
  }
  double bytes(int count_place, int type_place) const {
    return bytes_of(static_cast<double>(a.count(count_place)), type_at(a, type_place));
  }
  void with(int rank, bool sends, double bytes) {
    if (const int peer = world_rank(ranks, rank); peer >= 0 && peer != self) messages.push_back({peer, sends, bytes});
  }

  /// Messages between the root and each other rank, counted at the latter.
  void with_root(int root_place, bool from_root, int count_place, int type_place) {
    const int root = a.integer(root_place);
    if (root != me) with(root, !from_root, bytes(count_place, type_place));
  }

  template <typename Bytes>
  void from_each(const Bytes& bytes_from) {
    for (int r = 0; r < static_cast<int>(ranks.size()); ++r) with(r, false, bytes_from(r));
  }

  /// To the ranks 1, 2, 4, ... further on, as a reduction by doubling needs.
  void by_doubling(double bytes) {
    const auto n = static_cast<int>(ranks.size());
    for (int d = 1; d < n; d *= 2) with((me + d) % n, true, bytes);
  }

  template <typename Bytes>
  void to_neighbours(const std::vector<int>& neighbours, const Bytes& bytes_to) {
    for (int i = 0; i < static_cast<int>(neighbours.size()); ++i)
      with(neighbours[static_cast<std::size_t>(i)], true, bytes_to(i));
  }
};

void neighbourhood(Collective& c, MPI_Comm comm) {
  const std::vector<int> to = neighbours_of(comm).sends_to;
  switch (c.call) {
    case Call::Neighbor_allgather:
    case Call::Neighbor_allgatherv:
    case Call::Neighbor_alltoall: return c.to_neighbours(to, [&](int) { return c.bytes(1, 2); });
    case Call::Neighbor_alltoallv:
      return c.to_neighbours(to, [&](int i) { return bytes_of(c.count(1, i), type_at(c.a, 3)); });
    default: return c.to_neighbours(to, [&](int i) { return bytes_of(c.count(1, i), c.type_of(3, i)); });
  }
}

}  // namespace

std::vector<Message> messages_of(Call given, const Arguments& a, const std::vector<int>& ranks, int self) {
  const Call call = blocking(given);
  const auto at = std::find(ranks.begin(), ranks.end(), self);
  if (at == ranks.end()) return {};  // for an intercommunicator these are the ranks of the other group
  Collective c{call, a, ranks, self, static_cast<int>(at - ranks.begin()), {}};
  switch (call) {
    case Call::Bcast: c.with_root(3, true, 1, 2); break;
    case Call::Gather:
    case Call::Gatherv: c.with_root(call == Call::Gather ? 6 : 7, false, 1, 2); break;
    case Call::Scatter: c.with_root(6, true, 4, 5); break;
    case Call::Scatterv: c.with_root(7, true, 5, 6); break;
    case Call::Reduce: c.with_root(5, false, 2, 3); break;
    case Call::Alltoall:
    case Call::Allgather: c.from_each([&](int) { return c.bytes(4, 5); }); break;
    case Call::Allgatherv: c.from_each([&](int r) { return bytes_of(c.count(4, r), type_at(a, 6)); }); break;
    case Call::Alltoallv: c.from_each([&](int r) { return bytes_of(c.count(5, r), type_at(a, 7)); }); break;
    case Call::Alltoallw: c.from_each([&](int r) { return bytes_of(c.count(5, r), c.type_of(7, r)); }); break;
    case Call::Allreduce:
    case Call::Reduce_scatter_block: c.by_doubling(c.bytes(2, 3)); break;
    case Call::Reduce_scatter: c.by_doubling(bytes_of(c.count(2, c.me), type_at(a, 3))); break;
    case Call::Barrier: c.by_doubling(0); break;
    case Call::Scan:
    case Call::Exscan: c.with(c.me + 1, true, c.bytes(2, 3)); break;
    case Call::Neighbor_allgather:
    case Call::Neighbor_allgatherv:
    case Call::Neighbor_alltoall:
    case Call::Neighbor_alltoallv:
    case Call::Neighbor_alltoallw: neighbourhood(c, a.communicator(info(given).comm)); break;
    default: break;
  }
  return std::move(c.messages);
}

}  // namespace effort::pmpi
