#include "adapters/pmpi/messages/collective_bytes.hpp"

#include "adapters/pmpi/messages/collective_rules.hpp"

#include <algorithm>
#include <vector>

namespace effort::pmpi {
namespace {

using Bytes = std::uint64_t;

/// The communicator as a call sees it.
struct Parts {
  const DataArguments& a;
  Communicator& c;
  Exchanged out;

  /// Number of ranks with which the rank exchanges data; in an intercommunicator, none of them is the rank itself.
  Bytes others() const { return static_cast<Bytes>(c.inter ? c.size : c.size - 1); }
  bool is_me(int r) const { return !c.inter && r == c.me; }

  template <typename BytesOf>
  Bytes of_others(const BytesOf& bytes_of) const {
    Bytes sum = 0;
    for (int r = 0; r < c.size; ++r) sum += is_me(r) ? 0 : bytes_of(r);
    return sum;
  }

  enum class Side { root, other, none };
  Side side(int root) {
    if (root == MPI_PROC_NULL) return Side::none;
    if (c.inter && root == MPI_ROOT) {
      PMPI_Comm_rank(MPI_COMM_WORLD, &out.root);
      return Side::root;
    }
    out.root = c.world_rank(root);
    return is_me(root) ? Side::root : Side::other;
  }
  /// Between the root and all others: `each` is evaluated by the others, `all` by the root.
  template <typename Each, typename All>
  void rooted(int root_place, bool from_root, const Each& each, const All& all) {
    const Side s = side(a.integer(root_place));
    if (s == Side::none) return;
    (from_root == (s == Side::root) ? out.sent : out.received) = s == Side::root ? all() : each();
  }

  /// To the ranks 1, 2, 4, ... above, and from the same number below.  Once between the groups of an intercommunicator.
  Bytes doublings() const { return c.doublings; }
  template <typename BytesOf>
  void by_doubling(const BytesOf& part_of) {
    if (c.inter) {
      out.sent = out.received = part_of(0);
      return;
    }
    out.sent = doublings() * part_of(c.me);
    for (int d = 1; d < c.size; d *= 2) out.received += part_of((c.me - d + c.size) % c.size);
  }

  template <typename BytesOf>
  Bytes of_neighbours(const std::vector<int>& neighbours, const BytesOf& bytes_of) const {
    Bytes sum = 0;
    for (std::size_t i = 0; i < neighbours.size(); ++i)
      if (neighbours[i] >= 0 && !is_me(neighbours[i])) sum += bytes_of(static_cast<int>(i));
    return sum;
  }
};

void neighbourhood(Parts& p, Call call) {
  const DataArguments& a = p.a;
  const std::vector<int>&to = p.c.neighbours.sends_to, &from = p.c.neighbours.receives_from;
  switch (call) {
    case Call::Neighbor_allgatherv:
      p.out.sent = p.of_neighbours(to, [&](int) { return a.bytes(1, 2); });
      p.out.received = p.of_neighbours(from, [&](int i) { return a.part(4, i, a.type(6)); });
      break;
    case Call::Neighbor_alltoallv:
      p.out.sent = p.of_neighbours(to, [&](int i) { return a.part(1, i, a.type(3)); });
      p.out.received = p.of_neighbours(from, [&](int i) { return a.part(5, i, a.type(7)); });
      break;
    case Call::Neighbor_alltoallw:
      p.out.sent = p.of_neighbours(to, [&](int i) { return a.part_of_type(1, 3, i); });
      p.out.received = p.of_neighbours(from, [&](int i) { return a.part_of_type(5, 7, i); });
      break;
    default:
      p.out.sent = p.of_neighbours(to, [&](int) { return a.bytes(1, 2); });
      p.out.received = p.of_neighbours(from, [&](int) { return a.bytes(4, 5); });
  }
}

void all_to_all(Parts& p, Call call) {
  const DataArguments& a = p.a;
  const bool in_place = a.in_place(0);  // the rank then sends data of the sizes that it receives
  if (call == Call::Alltoall) {
    p.out.received = p.others() * a.bytes(4, 5);
    p.out.sent = in_place ? p.out.received : p.others() * a.bytes(1, 2);
  } else if (call == Call::Alltoallv) {
    p.out.received = p.of_others([&, type = a.type(7)](int r) { return a.part(5, r, type); });
    p.out.sent = in_place ? p.out.received : p.of_others([&, type = a.type(3)](int r) { return a.part(1, r, type); });
  } else {
    p.out.received = p.of_others([&](int r) { return a.part_of_type(5, 7, r); });
    p.out.sent = in_place ? p.out.received : p.of_others([&](int r) { return a.part_of_type(1, 3, r); });
  }
}

void gather_to_all(Parts& p, Call call) {
  const DataArguments& a = p.a;
  const bool in_place = a.in_place(0);
  if (call == Call::Allgather) {
    p.out.received = p.others() * a.bytes(4, 5);
    p.out.sent = in_place ? p.out.received : p.others() * a.bytes(1, 2);
  } else {
    const MPI_Datatype type = a.type(6);
    p.out.received = p.of_others([&](int r) { return a.part(4, r, type); });
    p.out.sent = p.others() * (in_place ? a.part(4, p.c.me, type) : a.bytes(1, 2));
  }
}

}  // namespace

Exchanged exchanged(Call given, const DataArguments& a, Communicator& c) {
  const Call call = blocking(given);
  Parts p{a, c, {}};
  switch (call) {
    case Call::Allreduce:
    case Call::Reduce_scatter_block: p.out.sent = p.out.received = p.doublings() * a.bytes(2, 3); break;
    case Call::Reduce_scatter: p.by_doubling([&, type = a.type(3)](int r) { return a.part(2, r, type); }); break;
    case Call::Bcast:
      p.rooted(
          3, true, [&] { return a.bytes(1, 2); }, [&] { return p.others() * a.bytes(1, 2); });
      break;
    case Call::Reduce:
      p.rooted(
          5, false, [&] { return a.bytes(2, 3); }, [&] { return p.others() * a.bytes(2, 3); });
      break;
    case Call::Gather:
      p.rooted(
          6, false, [&] { return a.bytes(1, 2); }, [&] { return p.others() * a.bytes(4, 5); });
      break;
    case Call::Gatherv:
      p.rooted(
          7, false, [&] { return a.bytes(1, 2); },
          [&, type = [&] { return a.type(6); }] { return p.of_others([&](int r) { return a.part(4, r, type()); }); });
      break;
    case Call::Scatter:
      p.rooted(
          6, true, [&] { return a.bytes(4, 5); }, [&] { return p.others() * a.bytes(1, 2); });
      break;
    case Call::Scatterv:
      p.rooted(
          7, true, [&] { return a.bytes(5, 6); },
          [&] { return p.of_others([&](int r) { return a.part(1, r, a.type(3)); }); });
      break;
    case Call::Allgather:
    case Call::Allgatherv: gather_to_all(p, call); break;
    case Call::Alltoall:
    case Call::Alltoallv:
    case Call::Alltoallw: all_to_all(p, call); break;
    case Call::Scan:
    case Call::Exscan:
      if (c.me + 1 < c.size) p.out.sent = a.bytes(2, 3);
      if (c.me > 0) p.out.received = a.bytes(2, 3);
      break;
    case Call::Neighbor_allgather:
    case Call::Neighbor_allgatherv:
    case Call::Neighbor_alltoall:
    case Call::Neighbor_alltoallv:
    case Call::Neighbor_alltoallw:
      find_neighbours(c, a.communicator(info(given).comm));
      neighbourhood(p, call);
      break;
    default: break;  // a barrier
  }
  return p.out;
}

}  // namespace effort::pmpi
