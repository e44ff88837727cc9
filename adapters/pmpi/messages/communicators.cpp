#include "adapters/pmpi/messages/communicators.hpp"

#include "adapters/pmpi/calls/arguments.hpp"
#include "adapters/pmpi/calls/port.hpp"
#include "runtime/recording/members.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <unordered_map>
#include <utility>

namespace effort::pmpi {
namespace {

using Hash = std::uint64_t;

/// Communicators with names of their own.  A host may make a new one in every step.
constexpr std::uint32_t most_named = 4096;

struct State {
  std::unordered_map<Word, std::unique_ptr<Communicator>> all;
  std::unordered_map<Hash, std::uint32_t> alike;  ///< communicators whose hash does not depend on their parent's calls
  std::uint32_t named = 0;
};
State& state() {
  static State* all = new State;  // calls may come while static objects are destroyed
  return *all;
}

/// SplitMix64's output function over both.
constexpr Hash mixed(Hash a, Hash b) {
  Hash z = a * 0x9e3779b97f4a7c15u + b + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
constexpr Hash of_world = mixed(1, 0), of_self = mixed(2, 0), of_groups = mixed(3, 0), of_list = mixed(4, 0);

Hash hash_of(Hash start, const std::vector<int>& ranks) {
  Hash h = mixed(start, ranks.size());
  for (const int r : ranks) h = mixed(h, static_cast<std::uint32_t>(r));
  return h;
}

std::string hexadecimal(Hash h) {
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; h >>= 4) out[i] = "0123456789abcdef"[h & 15];
  return out;
}

/// The world ranks of a group, which is freed.
std::vector<int> ranks_of(MPI_Group group) {
  int n = 0;
  PMPI_Group_size(group, &n);
  std::vector<int> from(static_cast<std::size_t>(n)), to(from.size());
  for (int i = 0; i < n; ++i) from[static_cast<std::size_t>(i)] = i;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  if (n > 0) PMPI_Group_translate_ranks(group, n, from.data(), world, to.data());
  PMPI_Group_free(&world);
  PMPI_Group_free(&group);
  for (int& r : to) r = r == MPI_UNDEFINED ? -1 : r;
  return to;
}

/// The members of a communicator: of both groups if it is an intercommunicator.
struct Members {
  std::vector<int> local, remote;

  explicit Members(MPI_Comm handle, bool inter) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(handle, &group);
    local = ranks_of(group);
    if (!inter) return;
    PMPI_Comm_remote_group(handle, &group);
    remote = ranks_of(group);
  }
  /// Both groups in an order that all members agree on.
  std::pair<const std::vector<int>&, const std::vector<int>&> sorted() const {
    return local <= remote ? std::pair<const std::vector<int>&, const std::vector<int>&>(local, remote)
                           : std::pair<const std::vector<int>&, const std::vector<int>&>(remote, local);
  }
  Hash hash(Hash start) const {
    if (remote.empty()) return hash_of(start, local);
    const auto [first, second] = sorted();
    return hash_of(hash_of(mixed(start, of_groups), first), second);
  }
  std::string text() const {
    if (remote.empty()) return recording::members_text(local);
    const auto [first, second] = sorted();
    const std::string a = recording::members_text(first), b = recording::members_text(second);
    return a.empty() || b.empty() ? std::string() : a + "|" + b;
  }
};

/// Adds the communicator of a handle, once `hash_with` has made a hash of its members.
template <typename HashWith>
Communicator& add(MPI_Comm handle, const HashWith& hash_with) {
  auto made = std::make_unique<Communicator>();
  Communicator& c = *made;
  int inter = 0;
  PMPI_Comm_test_inter(handle, &inter);
  PMPI_Comm_rank(handle, &c.me);
  c.inter = inter != 0;
  Members members(handle, c.inter);
  c.hash = hash_with(members);
  c.members = members.text();
  c.world = std::move(c.inter ? members.remote : members.local);
  c.size = static_cast<int>(c.world.size());
  if (!c.inter)
    c.doublings = static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(std::max(c.size, 1) - 1)));
  bool equal = true;
  for (int i = 0; i < c.size && equal; ++i) equal = c.world[static_cast<std::size_t>(i)] == i;
  if (equal) std::vector<int>().swap(c.world);
  State& s = state();
  std::unique_ptr<Communicator>& place = s.all[word_of(handle)];
  if (place) saw_freed(handle);  // by a call that was not seen
  s.all[word_of(handle)] = std::move(made);
  last_communicator.communicator = nullptr;
  return c;
}

/// Tells communicators apart that have the same hash so far.
Hash counted(Hash h) {
  auto& alike = state().alike;
  const auto known = alike.find(h);
  if (known != alike.end()) return mixed(h, ++known->second);
  if (alike.size() < most_named) alike.emplace(h, 0);
  return mixed(h, 0);
}

}  // namespace

LastCommunicator last_communicator = {};

void begin_communicators() {
  state() = {};
  last_communicator.communicator = nullptr;
  add(MPI_COMM_WORLD, [](const Members&) { return of_world; }).name = "MPI_COMM_WORLD";
  Communicator& self = add(MPI_COMM_SELF, [](const Members&) { return of_self; });
  self.name = "MPI_COMM_SELF";
  self.members.clear();  // they differ from rank to rank
}

Communicator* find_communicator(MPI_Comm handle) {
  State& s = state();
  if (handle == MPI_COMM_NULL) return nullptr;
  const auto known = s.all.find(word_of(handle));
  Communicator* const found = known != s.all.end()
                                  ? known->second.get()
                                  : &add(handle, [](const Members& members) { return counted(members.hash(of_list)); });
  last_communicator = {handle, found};
  return found;
}

std::uint32_t register_id(Communicator& c) {
  if (c.name.empty()) c.name = hexadecimal(c.hash);
  State& s = state();
  const bool room = s.named < most_named;
  c.id = room ? port().communicator(c.name, c.members) : port().communicator("(other communicators)", "");
  c.shares_id = !room;
  s.named += room ? 1 : 0;
  return c.id;
}

void renew_ids() {
  State& s = state();
  s.named = 0;
  for (auto& [handle, c] : s.all) c->id = Communicator::unknown;
}

void saw_new(Call call, MPI_Comm parent, MPI_Comm made, int tag) {
  Communicator* const from = communicator(parent);
  if (!from) return;
  // In any other call, all members of the parent take part, in the same order.
  const bool all = call != Call::Comm_create_group;
  const std::uint32_t number = all ? from->made++ : 0;
  const Hash parents = from->hash;
  if (made == MPI_COMM_NULL) return;
  if (call == Call::Comm_idup) {  // the new communicator must not be used yet
    auto copy = std::make_unique<Communicator>(*from);
    copy->hash = mixed(parents, number);
    copy->id = Communicator::unknown;
    copy->name.clear();
    copy->made = 0;
    copy->users = 0;
    copy->neighbours_known = false;
    saw_freed(made);
    state().all[word_of(made)] = std::move(copy);
    return;
  }
  add(made, [&](const Members& members) {
    // The groups of a new intercommunicator have different parents.
    if (call == Call::Intercomm_create) return counted(members.hash(of_groups));
    if (!all) return counted(members.hash(mixed(parents, ~static_cast<Hash>(static_cast<std::uint32_t>(tag)))));
    return members.hash(mixed(parents, number));
  });
}

void saw_freed(MPI_Comm handle) {
  State& s = state();
  const auto known = s.all.find(word_of(handle));
  if (known == s.all.end() || handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF) return;
  last_communicator.communicator = nullptr;
  known->second->freed = true;
  if (known->second->users > 0) static_cast<void>(known->second.release());  // drop() deletes it
  s.all.erase(known);
}

void forget_freed(Communicator& c) { delete &c; }

Neighbours neighbours_of(MPI_Comm comm) {
  Neighbours of;
  int kind = MPI_UNDEFINED, n = 0, me = 0;
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) {
    PMPI_Cartdim_get(comm, &n);
    for (int d = 0; d < n; ++d) {
      int before = MPI_PROC_NULL, after = MPI_PROC_NULL;
      PMPI_Cart_shift(comm, d, 1, &before, &after);
      of.sends_to.insert(of.sends_to.end(), {before, after});
    }
    of.receives_from = of.sends_to;
  } else if (kind == MPI_GRAPH) {
    PMPI_Comm_rank(comm, &me);
    PMPI_Graph_neighbors_count(comm, me, &n);
    of.sends_to.resize(static_cast<std::size_t>(n));
    PMPI_Graph_neighbors(comm, me, n, of.sends_to.data());
    of.receives_from = of.sends_to;
  } else if (kind == MPI_DIST_GRAPH) {
    int in = 0, out = 0, weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    of.receives_from.resize(static_cast<std::size_t>(in));
    of.sends_to.resize(static_cast<std::size_t>(out));
    std::vector<int> from_weights(of.receives_from.size()), to_weights(of.sends_to.size());
    PMPI_Dist_graph_neighbors(comm, in, of.receives_from.data(), from_weights.data(), out, of.sends_to.data(),
                              to_weights.data());
  }
  return of;
}

void find_neighbours(Communicator& c, MPI_Comm comm) {
  if (c.neighbours_known) return;
  c.neighbours_known = true;
  c.neighbours = neighbours_of(comm);
}

}  // namespace effort::pmpi
