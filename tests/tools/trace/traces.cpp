#include "traces.hpp"

#include <algorithm>

namespace effort::tools::test {

using trace::Kind;

Events& Events::add(Kind kind, std::uint32_t id) {
  TraceEvent event;
  event.time_ns = now_;
  event.kind = kind;
  event.id = id;
  events.push_back(event);
  return *this;
}

Events& Events::message(Kind kind, std::int32_t peer, std::int32_t tag, std::uint64_t bytes, std::uint32_t request,
                        std::uint32_t communicator) {
  add(kind, communicator);
  events.back().peer = peer;
  events.back().tag = tag;
  events.back().bytes = bytes;
  events.back().request = request;
  return *this;
}

Events& Events::collective(std::int32_t root, std::uint64_t sent, std::uint64_t received, std::uint32_t communicator) {
  add(Kind::collective, communicator);
  events.back().peer = root;
  events.back().bytes = sent;
  events.back().received_bytes = received;
  return *this;
}

Events& Events::access(std::int32_t target, std::uint64_t sent, std::uint64_t received, std::uint32_t communicator) {
  collective(target, sent, received, communicator);
  events.back().kind = Kind::one_sided;
  return *this;
}

Trace empty_trace(std::int32_t ranks) {
  Trace out;
  out.path = "made";
  out.recorder = "effort 0.1.0";
  out.name = "app";
  out.job = "17";
  out.design = "retrospective";
  out.guide = "load";
  out.n_ranks = ranks;
  out.n_nodes = 2;
  out.error = 0.08;
  out.clock_bound_ns = 0;
  for (std::int32_t rank = 0; rank < ranks; ++rank) out.node_of[rank] = rank < (ranks + 1) / 2 ? 0 : 1;
  out.regions = {{"step", 0}, {"solve", 0}, {"MPI_Send", 1}, {"MPI_Irecv", 1}, {"MPI_Waitall", 2}, {"MPI_Reduce", 1}};
  TraceCommunicator world{"MPI_COMM_WORLD", {}, {}}, inter{"pair", {}, {}};
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    world.members.push_back(rank);
    (rank % 2 == 0 ? inter.members : inter.remote).push_back(rank);
  }
  out.communicators = {world, inter};
  out.phases = {"", "warm, up"};
  out.units = {"cells"};
  return out;
}

TraceWindow& add_window(Trace& trace, std::int64_t ordinal, std::int64_t start_ns, std::int64_t end_ns,
                        std::int64_t steps) {
  TraceWindow window;
  window.ordinal = ordinal;
  window.first_step = ordinal * steps;
  window.last_step = window.first_step + steps - 1;
  window.start_ns = start_ns;
  window.end_ns = end_ns;
  trace.windows.push_back(window);
  return trace.windows.back();
}

void keep(Trace& trace, std::int32_t rank, std::uint16_t reasons, double probability, std::int32_t stratum,
          const Events& events, std::int32_t thread) {
  TraceWindow& window = trace.windows.back();
  if (window.find(rank) == nullptr) {
    KeptRank kept{rank, reasons, probability, stratum};
    const auto at = std::upper_bound(window.ranks.begin(), window.ranks.end(), kept,
                                     [](const KeptRank& a, const KeptRank& b) { return a.rank < b.rank; });
    window.ranks.insert(at, kept);
  }
  window.find(rank)->events = true;
  const auto before = [](const TraceThread& t, std::pair<std::int32_t, std::int32_t> key) {
    return std::pair(t.rank, t.thread) < key;
  };
  auto at = std::lower_bound(trace.threads.begin(), trace.threads.end(), std::pair(rank, thread), before);
  if (at == trace.threads.end() || at->rank != rank || at->thread != thread)
    at = trace.threads.insert(at, TraceThread{rank, thread, {}, {}});
  const std::size_t first = at->events.size();
  at->events.insert(at->events.end(), events.events.begin(), events.events.end());
  at->spans.push_back({trace.windows.size() - 1, first, at->events.size(), window.start_ns, window.end_ns});
}

namespace {

Events rank_0(std::int64_t start, bool all) {
  Events e(start);
  e.step(7).enter(region_step).wait(10).enter(region_solve).wait(500).leave(region_solve);
  e.wait(10).enter(region_send).message(Kind::send, 1, 5, 800).wait(30).leave(region_send);
  e.wait(10).enter(region_receive).message(Kind::receive_start, -1, -1, 0, 0).wait(5).leave(region_receive);
  e.wait(10).enter(region_waitall).wait(90).message(Kind::receive_done, 1, 6, 400, 0).leave(region_waitall);
  if (!all) e.wait(1).enter(region_send).message(Kind::send, 2, 5, 100).wait(5).leave(region_send);
  e.add(Kind::phase, 1).add(Kind::work, 0);
  e.events.back().bytes = 0x4059000000000000;  // 100.0
  e.wait(1).enter(region_reduce).wait(20).collective(0, 8, 32).leave(region_reduce);
  return std::move(e.wait(1).leave(region_step));
}

Events rank_1(std::int64_t start) {
  Events e(start + 5);
  e.step(7).enter(region_step).wait(10).enter(region_receive).message(Kind::receive_start, -1, -1, 0, 0);
  e.message(Kind::receive_start, -1, -1, 0, 1).wait(5).leave(region_receive);
  e.wait(600).enter(region_send).message(Kind::send_start, 0, 6, 400, 2).wait(30).leave(region_send);
  e.wait(1).enter(region_waitall).wait(50).message(Kind::receive_done, 0, 5, 800, 0).request(Kind::send_done, 2);
  e.message(Kind::receive_done, 3, 0, 16, 1).leave(region_waitall);
  e.wait(1).enter(region_reduce).wait(20).collective(0, 8, 0).leave(region_reduce);
  return std::move(e.wait(1).leave(region_step));
}

/// Threads: the second one sends.
Events rank_3(std::int64_t start, bool second) {
  Events e(start + 9);
  if (second) {
    e.wait(40).enter(region_send).message(Kind::send, 1, 0, 16).wait(4).leave(region_send);
    return e;
  }
  e.step(7).enter(region_step).wait(700).enter(region_reduce).wait(20).collective(0, 8, 0).leave(region_reduce);
  return std::move(e.wait(1).leave(region_step).add(Kind::rebalance, 0));
}

}  // namespace

Trace small_trace(bool all) {
  namespace why = record::trace;
  Trace out = empty_trace(4);
  for (const std::int64_t ordinal : {0, 2}) {
    const std::int64_t start = 1000 * ordinal;
    TraceWindow& window = add_window(out, ordinal, start, start + 1000);
    window.strata = {{2, 1}, {2, 1}};
    window.error = 0.05;
    window.confidence = 0.97;
    keep(out, 0, why::reason_sample | why::reason_medoid, 0.5, 0, rank_0(start, all));
    keep(out, 1, why::reason_critical, 0.5, 0, rank_1(start));
    keep(out, 3, why::reason_sample, 0.5, 1, rank_3(start, false));
    keep(out, 3, why::reason_sample, 0.5, 1, rank_3(start, true), 1);
  }
  return out;
}

bool mentions(const std::vector<std::string>& notes, const std::string& text) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

}  // namespace effort::tools::test
