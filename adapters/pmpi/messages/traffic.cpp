#include "adapters/pmpi/messages/traffic.hpp"

#include "adapters/pmpi/calls/port.hpp"
#include "adapters/pmpi/messages/traffic_rules.hpp"
#include "runtime/measure/frame.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace effort::pmpi {

bool traffic_on = false;

namespace {

using measure::Flow;

/// The message of a pending or persistent request.
struct Pending {
  int peer = -1;  ///< world rank; -1: any source
  bool sends = false, persistent = false;
  double bytes = 0;
  std::vector<Message> messages;  ///< of a collective, instead
};

struct State {
  std::mutex mutex;  // hosts with MPI_THREAD_MULTIPLE
  int rank = 0, size = 1;
  std::int64_t window = 10, steps = 0;
  std::map<std::tuple<int, int, std::uint32_t>, Flow> flows;  ///< by source, destination, region
  std::unordered_map<Word, Pending> requests;
  std::map<Word, std::vector<int>> ranks;  ///< of a communicator or window: world ranks
  std::vector<Pending> completing;         ///< of the call under way; one thread completes at a time, mostly
};
State& state() {
  static State* all = new State;  // calls may come while static objects are destroyed
  return *all;
}

/// Runs `body` on the state.  If it throws (out of memory), no more messages are counted, and the host continues.
template <typename Body>
void with_state(const Body& body) noexcept {
  try {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    body(s);
  } catch (const std::exception&) {
    traffic_on = false;
    note([] { return "no memory was left to count the messages of this rank: COMM_MATRIX lacks them from then on"; });
  }
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

/// The world ranks of a communicator's ranks; for an intercommunicator, of the remote ones.
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

/// The time is divided equally among the messages.
void count_messages(const std::vector<Message>& all, const Tally& tally, double seconds) {
  for (const Message& m : all) {
    const double share = seconds / static_cast<double>(all.size());
    m.sends ? tally.sent(m.peer, m.bytes, share) : tally.received(m.peer, m.bytes, share);
  }
}

std::vector<Message> collective(Call call, const Arguments& a, const Tally& tally, double seconds) {
  std::vector<Message> all = messages_of(call, a, ranks_of(a.communicator(info(call).comm)), state().rank);
  count_messages(all, tally, seconds);
  return all;
}

/// The request's place is the one after the communicator's.
void start_collective(Call call, const Arguments& a, const Tally& tally, double seconds) {
  Pending p;
  p.messages = collective(call, a, tally, seconds);
  state().requests[word_of(request_at(a, info(call).comm + 1, 0))] = std::move(p);
}

double bytes_at(const Arguments& a, int count_place, int type_place) {
  return bytes_of(count_place < 0 ? 1 : static_cast<double>(a.count(count_place)), type_at(a, type_place));
}

void starts(Call call, const Arguments& a, const Tally& tally, double seconds, bool sends, bool persistent) {
  const MessagePlaces at = message_places(call);
  const int peer = world_rank(ranks_of(a.communicator(at.comm)), a.integer(at.rank));
  Pending p{peer, sends, persistent, 0, {}};
  if (sends && peer >= 0) p.bytes = bytes_at(a, at.count, at.type) * (is_partitioned(call) ? a.integer(1) : 1);
  if (sends && !persistent) tally.sent(peer, p.bytes, seconds);
  state().requests[word_of(request_at(a, at.request, 0))] = std::move(p);
}

/// The send counts at once; the time to complete both is charged to the rank received from.
void starts_exchange(Call call, const Arguments& a, const Tally& tally, double seconds) {
  const std::vector<int>& ranks = ranks_of(a.communicator(info(call).comm));
  if (const int to = world_rank(ranks, a.integer(3)); to >= 0) tally.sent(to, bytes_at(a, 1, 2), seconds);
  Pending p{world_rank(ranks, a.integer(source_place(call))), false, false, 0, {}};
  state().requests[word_of(request_at(a, info(call).comm + 1, 0))] = std::move(p);
}

void prepares_collective(Call call, const Arguments& a) {
  Pending p;
  p.persistent = true;
  p.messages = messages_of(call, a, ranks_of(a.communicator(info(call).comm)), state().rank);
  state().requests[word_of(request_at(a, info(call).comm + 2, 0))] = std::move(p);
}

void start_persistent(Call call, const Arguments& a, const Tally& tally, double seconds) {
  const int n = call == Call::Startall ? a.integer(0) : 1, place = call == Call::Startall ? 1 : 0;
  for (int i = 0; i < n; ++i) {
    const auto known = state().requests.find(word_of(request_at(a, place, i)));
    if (known == state().requests.end()) continue;
    const Pending& p = known->second;
    if (p.sends) tally.sent(p.peer, p.bytes, seconds / n);
    count_messages(p.messages, tally, seconds / n);
  }
}

void one_sided(Call call, const Arguments& a, const Tally& tally, double seconds) {
  const AccessPlaces places = access_places(call);
  const MPI_Win win = a.window(places.window);
  auto [at, fresh] = state().ranks.try_emplace(~word_of(win));
  if (fresh) {
    MPI_Group group;
    PMPI_Win_get_group(win, &group);
    at->second = world_ranks(group);
  }
  const int target = world_rank(at->second, a.integer(places.target));
  if (target < 0) return;
  const bool sends = sends_to_target(a, places), receives = places.received_type >= 0;
  const double share = sends && receives ? seconds / 2 : seconds;
  if (sends) tally.sent(target, bytes_at(a, places.sent_count, places.sent_type), share);
  if (receives) tally.received(target, bytes_at(a, places.received_count, places.received_type), share);
}

/// The number of requests of a completing call, and their place.
std::pair<int, int> requests_of(Call call, const Arguments& a) {
  switch (call) {
    case Call::Wait:
    case Call::Test: return {1, 0};
    case Call::Waitany:
    case Call::Waitall:
    case Call::Waitsome:
    case Call::Testany:
    case Call::Testall:
    case Call::Testsome: return {a.integer(0), 1};
    default: return {0, 0};
  }
}

void completed(const Tally& tally, double seconds) {
  State& s = state();
  const auto spent = [&](int peer, bool sends, double share) {
    sends ? tally.add(s.rank, peer, 0, 0, share) : tally.waited(peer, share);
  };
  for (const Pending& p : s.completing) {
    const double share = seconds / static_cast<double>(s.completing.size());
    for (const Message& m : p.messages) spent(m.peer, m.sends, share / static_cast<double>(p.messages.size()));
    if (p.messages.empty()) spent(p.peer, p.sends, share);
  }
  s.completing.clear();
}

void count(Call call, const Arguments& a, const Tally& tally, double seconds) {
  switch (info(call).role) {
    case Role::send: {
      const int to = world_rank(ranks_of(a.communicator(5)), a.integer(3));
      if (to >= 0) tally.sent(to, bytes_at(a, 1, 2), seconds);
      break;
    }
    case Role::receive: tally.waited(world_rank(ranks_of(a.communicator(5)), a.integer(3)), seconds); break;
    case Role::exchange: {
      const std::vector<int>& ranks = ranks_of(a.communicator(info(call).comm));
      const int to = world_rank(ranks, a.integer(3));
      if (to >= 0) tally.sent(to, bytes_at(a, 1, 2), 0);
      tally.waited(world_rank(ranks, a.integer(source_place(call))), seconds);
      break;
    }
    case Role::isend: starts(call, a, tally, seconds, true, false); break;
    case Role::ireceive: starts(call, a, tally, seconds, false, false); break;
    case Role::iexchange: starts_exchange(call, a, tally, seconds); break;
    case Role::persistent_send: starts(call, a, tally, seconds, true, true); break;
    case Role::persistent_receive: starts(call, a, tally, seconds, false, true); break;
    case Role::persistent_collective: prepares_collective(call, a); break;
    case Role::start_persistent: start_persistent(call, a, tally, seconds); break;
    case Role::put: one_sided(call, a, tally, seconds); break;
    case Role::rooted:
    case Role::sync: collective(call, a, tally, seconds); break;
    case Role::complete:
    case Role::poll: completed(tally, seconds); break;
    case Role::start:
      if (starts_collective(call)) start_collective(call, a, tally, seconds);
      break;
    default: break;
  }
}

}  // namespace

void begin_traffic() {
  const config::Settings* settings = port().settings();
  traffic_on = settings && settings->comm_matrix;
  if (!traffic_on) return;
  with_state([&](State& s) {
    s.window = settings->tile_steps();
    s.steps = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &s.size);
  });
}

void before_completion(Call call, const Arguments& a) {
  with_state([&](State& s) {
    s.completing.clear();
    const auto [n, place] = requests_of(call, a);
    for (int i = 0; i < n; ++i) {
      const auto known = s.requests.find(word_of(request_at(a, place, i)));
      if (known == s.requests.end()) continue;
      s.completing.push_back(known->second);
      // A handle that appears again was reused, except for persistent requests and polls.
      if (!known->second.persistent && (call == Call::Wait || call == Call::Waitall)) s.requests.erase(known);
    }
  });
}

void saw_traffic(Call call, const Arguments& a, std::uint32_t region, double seconds) {
  with_state([&](State&) { count(call, a, {region}, seconds); });
}

void traffic_step(bool last) {
  with_state([&](State& s) {
    if (++s.steps % s.window != 0 && !last) return;
    std::vector<Flow> flows;
    for (auto& [key, flow] : s.flows) {
      flow.source = std::get<0>(key);
      flow.destination = std::get<1>(key);
      flow.region = std::get<2>(key);
      flows.push_back(flow);
    }
    s.flows.clear();
    port().traffic(flows);
  });
}

void forget_traffic_communicators() {
  with_state([](State& s) { s.ranks.clear(); });
}

}  // namespace effort::pmpi
