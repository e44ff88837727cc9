#include "adapters/pmpi/traffic.hpp"

#include "runtime/engine/adapter_port.hpp"
#include "runtime/measure/frame.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace effort::pmpi {

bool traffic_on = false;

namespace {

using measure::Flow;

/// What a request that is under way, or a persistent one, belongs to.
struct Pending {
  int peer = -1;           ///< world rank; -1: any source
  bool sends = false, persistent = false;
  double bytes = 0;
};

struct State {
  std::mutex mutex;        // hosts with MPI_THREAD_MULTIPLE
  int rank = 0, size = 1;
  std::int64_t window = 10, steps = 0;
  std::map<std::tuple<int, int, std::uint32_t>, Flow> flows;  ///< by source, destination, region
  std::unordered_map<Word, Pending> requests;
  std::map<Word, std::vector<int>> ranks;                     ///< of a communicator or window: world ranks
  std::vector<Pending> completing;                            ///< of the call under way; one thread completes at a time, mostly
};
State& state() {
  static State* all = new State;  // calls may come while static objects are destroyed
  return *all;
}

std::vector<int> world_ranks(MPI_Group group) {
  int n = 0;
  PMPI_Group_size(group, &n);
  std::vector<int> from(static_cast<std::size_t>(n)), to(from.size());
  for (int i = 0; i < n; ++i) from[static_cast<std::size_t>(i)] = i;
  MPI_Group world;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, n, from.data(), world, to.data());
  PMPI_Group_free(&world);
  PMPI_Group_free(&group);
  for (int& r : to) r = r == MPI_UNDEFINED ? -1 : r;
  return to;
}

/// World ranks of those that a communicator's ranks name; of an intercommunicator, the remote ones.
const std::vector<int>& ranks_of(MPI_Comm comm) {
  auto [at, fresh] = state().ranks.try_emplace(word_of(comm));
  if (fresh) {
    int inter = 0;
    MPI_Group group;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
      PMPI_Comm_remote_group(comm, &group);
    else
      PMPI_Comm_group(comm, &group);
    at->second = world_ranks(group);
  }
  return at->second;
}

int world_rank(const std::vector<int>& ranks, int rank) {
  return rank >= 0 && static_cast<std::size_t>(rank) < ranks.size() ? ranks[static_cast<std::size_t>(rank)] : -1;
}

MPI_Datatype type_at(const Arguments& a, int i) { return a.fortran ? PMPI_Type_f2c(*a.pointer<MPI_Fint>(i)) : from_word<MPI_Datatype>(a.words[i]); }

double bytes_of(double count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return count * size;
}

MPI_Request request_at(const Arguments& a, int place, int i) {
  return a.fortran ? PMPI_Request_f2c(a.pointer<MPI_Fint>(place)[i]) : a.pointer<MPI_Request>(place)[i];
}

/// One call's part: adds to flows under its region.
struct Tally {
  std::uint32_t region;
  void add(int source, int destination, double messages, double bytes, double seconds) const {
    if (source < 0 || destination < 0) return;
    Flow& f = state().flows[{source, destination, region}];
    f.messages += messages;
    f.bytes += bytes;
    f.seconds += seconds;
  }
  void sent(int to, double bytes, double seconds) const { add(state().rank, to, 1, bytes, seconds); }
  void received(int from, double bytes, double seconds) const { add(from, state().rank, 1, bytes, seconds); }
  void waited(int from, double seconds) const { add(from, state().rank, 0, 0, seconds); }
};

/// Rooted collectives: between the root and each other rank; the one that is not the root counts.
void rooted(Call call, const Arguments& a, const Tally& tally, double seconds) {
  struct Places {
    int count, type, root;
    bool from_root;
  };
  Places p{};
  switch (call) {
    case Call::Bcast: p = {1, 2, 3, true}; break;
    case Call::Gather: p = {1, 2, 6, false}; break;
    case Call::Gatherv: p = {1, 2, 7, false}; break;
    case Call::Scatter: p = {4, 5, 6, true}; break;
    case Call::Scatterv: p = {5, 6, 7, true}; break;
    case Call::Reduce: p = {2, 3, 5, false}; break;
    default: return;
  }
  const int root = world_rank(ranks_of(a.communicator(info(call).comm)), a.integer(p.root));
  if (root < 0 || root == state().rank) return;
  const double bytes = bytes_of(a.integer(p.count), type_at(a, p.type));
  if (p.from_root)
    tally.received(root, bytes, seconds);
  else
    tally.sent(root, bytes, seconds);
}

/// Collectives of all: what comes from each rank where each sends its own, else one message to the rank 1, 2, 4, ... further
/// on, as a reduction by doubling needs.
void of_all(Call call, const Arguments& a, const Tally& tally, double seconds) {
  const std::vector<int>& ranks = ranks_of(a.communicator(info(call).comm));
  const auto n = static_cast<int>(ranks.size());
  const int me = static_cast<int>(std::find(ranks.begin(), ranks.end(), state().rank) - ranks.begin());
  if (n < 2 || me == n) return;
  const double share = seconds / (n - 1);
  auto from_each = [&](auto&& count, MPI_Datatype type) {
    for (int r = 0; r < n; ++r)
      if (r != me) tally.received(ranks[static_cast<std::size_t>(r)], bytes_of(count(r), type), share);
  };
  auto counts = [&](int place) { return [&a, place](int r) { return a.fortran ? static_cast<int>(a.pointer<MPI_Fint>(place)[r]) : a.pointer<int>(place)[r]; }; };
  auto same = [&](int place) { return [&a, place](int) { return a.integer(place); }; };
  double bytes = 0;
  switch (call) {
    case Call::Alltoall: case Call::Allgather: return from_each(same(4), type_at(a, 5));
    case Call::Allgatherv: return from_each(counts(4), type_at(a, 6));
    case Call::Alltoallv: return from_each(counts(5), type_at(a, 7));
    case Call::Allreduce: case Call::Reduce_scatter_block: bytes = bytes_of(a.integer(2), type_at(a, 3)); break;
    default: break;
  }
  int rounds = 0;
  for (int d = 1; d < n; d *= 2) ++rounds;
  for (int d = 1; d < n; d *= 2) tally.sent(ranks[static_cast<std::size_t>((me + d) % n)], bytes, seconds / rounds);
}

void starts(Call call, const Arguments& a, const Tally& tally, double seconds, bool sends, bool persistent) {
  const int peer = world_rank(ranks_of(a.communicator(5)), a.integer(3));
  Pending p{peer, sends, persistent, 0};
  if (sends && peer >= 0) p.bytes = bytes_of(a.integer(1), type_at(a, 2));
  if (sends && !persistent) tally.sent(peer, p.bytes, seconds);
  state().requests[word_of(request_at(a, 6, 0))] = p;
  (void)call;
}

void start_persistent(Call call, const Arguments& a, const Tally& tally, double seconds) {
  const int n = call == Call::Startall ? a.integer(0) : 1, place = call == Call::Startall ? 1 : 0;
  for (int i = 0; i < n; ++i) {
    const auto known = state().requests.find(word_of(request_at(a, place, i)));
    if (known != state().requests.end() && known->second.sends) tally.sent(known->second.peer, known->second.bytes, seconds / n);
  }
}

void one_sided(Call call, const Arguments& a, const Tally& tally, double seconds) {
  const int place = call == Call::Accumulate || call == Call::Raccumulate ? 8 : 7;
  const MPI_Win win = a.fortran ? PMPI_Win_f2c(*a.pointer<MPI_Fint>(place)) : from_word<MPI_Win>(a.words[place]);
  auto [at, fresh] = state().ranks.try_emplace(~word_of(win));
  if (fresh) {
    MPI_Group group;
    PMPI_Win_get_group(win, &group);
    at->second = world_ranks(group);
  }
  const int target = world_rank(at->second, a.integer(3));
  if (target < 0) return;
  const double bytes = bytes_of(a.integer(1), type_at(a, 2));
  if (call == Call::Get || call == Call::Rget)
    tally.received(target, bytes, seconds);
  else
    tally.sent(target, bytes, seconds);
}

/// How many requests a completing call has, and where.
std::pair<int, int> requests_of(Call call, const Arguments& a) {
  switch (call) {
    case Call::Wait: case Call::Test: return {1, 0};
    case Call::Waitany: case Call::Waitall: case Call::Waitsome: case Call::Testany: case Call::Testall: case Call::Testsome: return {a.integer(0), 1};
    default: return {0, 0};
  }
}

void completed(const Tally& tally, double seconds) {
  State& s = state();
  for (const Pending& p : s.completing) {
    const double share = seconds / static_cast<double>(s.completing.size());
    if (p.sends)
      tally.add(s.rank, p.peer, 0, 0, share);
    else
      tally.waited(p.peer, share);
  }
  s.completing.clear();
}

}  // namespace

void begin_traffic() {
  State& s = state();
  const config::Settings* settings = effort_adapter_port()->settings();
  traffic_on = settings && settings->comm_matrix;
  if (!traffic_on) return;
  s.window = settings->window;
  s.steps = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &s.size);
}

void before_completion(Call call, const Arguments& a) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.completing.clear();
  const auto [n, place] = requests_of(call, a);
  for (int i = 0; i < n; ++i) {
    const auto known = s.requests.find(word_of(request_at(a, place, i)));
    if (known == s.requests.end()) continue;
    s.completing.push_back(known->second);
    // A handle that is asked for again is one that is made again, but for a persistent one and for polls.
    if (!known->second.persistent && (call == Call::Wait || call == Call::Waitall)) s.requests.erase(known);
  }
}

void saw_traffic(Call call, const Arguments& a, std::uint32_t region, double seconds) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const Tally tally{region};
  switch (info(call).role) {
    case Role::send: {
      const int to = world_rank(ranks_of(a.communicator(5)), a.integer(3));
      if (to >= 0) tally.sent(to, bytes_of(a.integer(1), type_at(a, 2)), seconds);
      break;
    }
    case Role::receive: tally.waited(world_rank(ranks_of(a.communicator(5)), a.integer(3)), seconds); break;
    case Role::exchange: {
      const bool replace = call == Call::Sendrecv_replace;
      const std::vector<int>& ranks = ranks_of(a.communicator(info(call).comm));
      const int to = world_rank(ranks, a.integer(3));
      if (to >= 0) tally.sent(to, bytes_of(a.integer(1), type_at(a, 2)), 0);
      tally.waited(world_rank(ranks, a.integer(replace ? 5 : 8)), seconds);
      break;
    }
    case Role::isend: starts(call, a, tally, seconds, true, false); break;
    case Role::ireceive: starts(call, a, tally, seconds, false, false); break;
    case Role::persistent_send: starts(call, a, tally, seconds, true, true); break;
    case Role::persistent_receive: starts(call, a, tally, seconds, false, true); break;
    case Role::start_persistent: start_persistent(call, a, tally, seconds); break;
    case Role::put: one_sided(call, a, tally, seconds); break;
    case Role::rooted: rooted(call, a, tally, seconds); break;
    case Role::sync: of_all(call, a, tally, seconds); break;
    case Role::complete: case Role::poll: completed(tally, seconds); break;
    default: break;
  }
}

void traffic_step(bool last) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (++s.steps % s.window != 0 && !last) return;
  std::vector<Flow> flows;
  for (auto& [key, flow] : s.flows) {
    flow.source = std::get<0>(key);
    flow.destination = std::get<1>(key);
    flow.region = std::get<2>(key);
    flows.push_back(flow);
  }
  s.flows.clear();
  effort_adapter_port()->traffic(flows);
}

void forget_traffic_communicators() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.ranks.clear();
}

}  // namespace effort::pmpi
