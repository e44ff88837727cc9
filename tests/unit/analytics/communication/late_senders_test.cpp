#include "analytics/communication/late_senders.hpp"

#include "analytics/comm/thread_group.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace effort::communication {
namespace {

using Type = MessagePart::Type;

struct Sent {
  int sender, receiver;
  std::uint32_t communicator;
  std::int32_t tag;
  std::int64_t ns;
  int step, received_in;
};

/// A call that completes receives.
struct Completing {
  int rank, step;
  std::int64_t begin, end;
  std::vector<std::size_t> messages;
  bool blocking;
};

struct Run {
  int n_ranks = 0, steps = 0;
  std::vector<Sent> sent;
  std::vector<Completing> calls;
  std::map<std::pair<int, int>, std::vector<MessagePart>> parts;  ///< by rank and step, on a clock without offset
};

/// Waits, ns, by waiting rank, late rank and step.
using Waits = std::map<std::tuple<int, int, int>, std::int64_t>;
constexpr std::int64_t offset_of_node = 1'000'000'007;  // of each node's clock to that before

int node_of(const Run& run, int rank, int n_nodes, bool round_robin) {
  return round_robin ? rank % n_nodes : rank * n_nodes / run.n_ranks;
}

/// The definition, implemented directly.
Waits expected(const Run& run, std::int64_t bound, int n_nodes, bool round_robin) {
  Waits out;
  for (const Completing& c : run.calls) {
    std::int64_t most = 0;
    int late = -1;
    for (const std::size_t i : c.messages) {
      const Sent& m = run.sent[i];
      const bool near = node_of(run, m.sender, n_nodes, round_robin) == node_of(run, c.rank, n_nodes, round_robin);
      const std::int64_t by = m.ns - c.begin;
      if (m.sender == c.rank || by <= (near ? 0 : bound) || by < most || (by == most && m.sender < late)) continue;
      most = by;
      late = m.sender;
    }
    if (late >= 0) out[{c.rank, late, c.step}] += std::min(most, c.end - c.begin);
  }
  return out;
}

struct Found {
  Waits waits;
  std::uint64_t reversed = 0;
};

/// The library's results if it looks every third step.
Found found(const Run& run, std::int64_t bound, int n_nodes, bool round_robin) {
  Found out;
  std::mutex mutex;
  run_thread_group(n_nodes, [&](Communicator& nodes) {
    std::vector<int> mine;
    for (int r = 0; r < run.n_ranks; ++r)
      if (node_of(run, r, n_nodes, round_robin) == nodes.rank()) mine.push_back(r);
    const std::int64_t offset = offset_of_node * nodes.rank();
    LateSenders all(mine, run.n_ranks);
    for (int s = 0; s < run.steps + 6; ++s) {
      for (std::size_t l = 0; l < mine.size(); ++l) {
        const auto known = run.parts.find({mine[l], s});
        if (known == run.parts.end()) continue;
        std::vector<MessagePart> parts = known->second;
        for (MessagePart& p : parts) {
          for (std::int64_t* const ns : {&p.begin_ns, &p.end_ns, &p.probe_begin_ns, &p.probe_end_ns}) *ns += offset;
        }
        all.add(static_cast<int>(l), parts);
      }
      if (s % 3 != 2) continue;
      for (const LateSender& w : all.find(nodes, {offset, bound})) {
        const std::lock_guard lock(mutex);
        out.waits[{mine[static_cast<std::size_t>(w.local)], w.late, static_cast<int>(w.step)}] += w.ns << w.level;
      }
    }
    const std::lock_guard lock(mutex);
    out.reversed += all.reversed();
  });
  return out;
}

class MakesRuns {
 public:
  MakesRuns(std::uint32_t seed, int n_ranks, int steps, int per_step, bool wildcards)
      : random_(seed), wildcards_(wildcards) {
    run_.n_ranks = n_ranks;
    run_.steps = steps;
    for (int s = 0; s < steps; ++s) send(s, per_step);
    for (int r = 0; r < n_ranks; ++r) receive(r);
  }
  Run take() { return std::move(run_); }

 private:
  int draw(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void send(int step, int n) {
    std::vector<std::int64_t> times;
    for (int i = 0; i < n; ++i) times.push_back(std::int64_t{step} * 1'000'000 + draw(900'000));
    std::sort(times.begin(), times.end());
    for (const std::int64_t ns : times) {
      Sent m{draw(run_.n_ranks), draw(run_.n_ranks), static_cast<std::uint32_t>(draw(2)), draw(3), ns, step, 0};
      // The records of some sends are of a later step than the receive's, or of an earlier one.
      auto& [least_sent, least_received] = least_[{m.sender, m.receiver, m.communicator, m.tag}];
      m.received_in = std::max(step + (draw(5) == 0 ? draw(3) - 1 : 0), least_received);
      m.step = std::max(step, least_sent);
      least_sent = m.step;
      least_received = m.received_in;
      MessagePart p;
      p.type = Type::send;
      p.peer = m.receiver;
      p.tag = m.tag;
      p.communicator = m.communicator;
      p.begin_ns = m.ns;
      p.step = m.step;
      run_.parts[{m.sender, m.step}].push_back(p);
      run_.sent.push_back(m);
    }
  }

  void receive(int rank) {
    std::map<int, std::vector<std::size_t>> by_step;
    for (std::size_t i = 0; i < run_.sent.size(); ++i)
      if (run_.sent[i].receiver == rank) by_step[run_.sent[i].received_in].push_back(i);
    std::vector<Completing> calls;
    std::int64_t now = 0;
    for (const auto& [step, messages] : by_step)
      for (std::size_t i = 0; i < messages.size();) {
        const std::size_t n = std::min<std::size_t>(messages.size() - i, 1 + static_cast<std::size_t>(draw(4)));
        now = std::max(now, std::int64_t{step} * 1'000'000) + 1 + draw(60'000);
        Completing c{rank, step, now, now + draw(3), {}, n == 1 && draw(2) == 0};
        for (std::size_t k = i; k < i + n; ++k) {
          c.messages.push_back(messages[k]);
          c.end = std::max(c.end, run_.sent[messages[k]].ns + draw(3000));
        }
        now = c.end;
        i += n;
        calls.push_back(std::move(c));
      }
    record(rank, calls);
    run_.calls.insert(run_.calls.end(), calls.begin(), calls.end());
  }

  /// The time of the call is spent in a probe before the receive.
  static void probe(MessagePart& receive, const Completing& call) {
    receive.probe_begin_ns = call.begin;
    receive.probe_end_ns = receive.begin_ns = receive.end_ns = call.end;
  }

  /// Posts receives ahead of the calls that complete them, but not past a blocking receive.
  void record(int rank, const std::vector<Completing>& calls) {
    std::set<std::uint32_t> used;
    std::set<std::size_t> probed;
    std::map<std::size_t, std::uint32_t> request;
    std::size_t posted = 0;  // calls whose receives have been posted
    const auto lowest = [&] {
      std::uint32_t n = 0;
      while (used.count(n)) ++n;
      used.insert(n);
      return n;
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const Completing& c = calls[i];
      std::vector<MessagePart>& parts = run_.parts[{rank, c.step}];
      const auto put = [&](Type type, const Sent& m, std::uint32_t number) -> MessagePart& {
        parts.push_back({type, m.sender, m.tag, m.communicator, number, c.begin, c.end, c.step});
        return parts.back();
      };
      const std::size_t ahead = i + static_cast<std::size_t>(draw(4));
      posted = std::max(posted, i);
      for (; posted < calls.size() && posted <= ahead && (!calls[posted].blocking); ++posted)
        for (const std::size_t m : calls[posted].messages) {
          if (draw(20) == 0) {  // one that is cancelled
            const std::uint32_t n = lowest();
            put(Type::receive_start, run_.sent[m], n).peer = draw(2) == 0 ? -1 : run_.sent[m].sender;
            put(Type::cancelled, run_.sent[m], n);
            used.erase(n);
          }
          request[m] = lowest();
          MessagePart& p = put(Type::receive_start, run_.sent[m], request[m]);
          if (posted == i && c.messages.size() == 1 && draw(3) == 0) probe(p, c), probed.insert(m);
          if (wildcards_ && draw(4) == 0) p.peer = -1;
          if (wildcards_ && draw(4) == 0) p.tag = -1;
        }
      for (const std::size_t m : c.messages) {
        MessagePart& p =
            put(c.blocking ? Type::receive : Type::receive_done, run_.sent[m], c.blocking ? 0 : request[m]);
        if (c.blocking && draw(3) == 0) probe(p, c);
        if (probed.count(m)) p.begin_ns = p.end_ns;
        if (!c.blocking) used.erase(request[m]);
      }
      if (c.blocking) posted = i + 1;
    }
  }

  std::mt19937 random_;
  const bool wildcards_;
  Run run_;
  std::map<std::tuple<int, int, std::uint32_t, int>, std::pair<int, int>> least_;
};

Run made_up(std::uint32_t seed, int n_ranks, int steps, int per_step, bool wildcards = true) {
  return MakesRuns(seed, n_ranks, steps, per_step, wildcards).take();
}

}  // namespace

TEST_CASE("Waits for late senders are those of the definition, for any split into nodes") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const Run run = made_up(seed, 9, 8, 150);
    CAPTURE(seed);
    const Waits want = expected(run, 0, 1, false);
    std::int64_t all = 0;
    for (const auto& [key, ns] : want) all += ns;
    REQUIRE(all > 1'000'000);
    for (const auto& [nodes, round_robin] : {std::pair{1, false}, {3, false}, {4, true}, {9, true}}) {
      CAPTURE(nodes);
      const Found got = found(run, 0, nodes, round_robin);
      CHECK(got.waits == want);
      CHECK(got.reversed == 0);
    }
  }
}

TEST_CASE("A message from another node counts only if it was late by more than the clocks' bound") {
  const Run run = made_up(99, 8, 8, 150);
  const Waits all = expected(run, 0, 1, false);
  for (const std::int64_t bound : {5'000, 100'000}) {
    const Waits want = expected(run, bound, 4, true);
    CHECK(want != all);
    CHECK(found(run, bound, 4, true).waits == want);
    CHECK(found(run, bound, 1, false).waits == all);
  }
}

TEST_CASE("If many calls wait for other nodes, a sample stands for all") {
  const Run run = made_up(3, 6, 40, 150, false);
  const Waits want = expected(run, 0, 3, true);
  double total = 0, got = 0;
  for (const auto& [key, ns] : want) total += static_cast<double>(ns);
  std::mutex mutex;
  int deepest = 0;
  run_thread_group(3, [&](Communicator& nodes) {
    std::vector<int> mine{nodes.rank(), nodes.rank() + 3};
    LateSenders all(mine, 6);
    all.most_queries = 200;
    for (int s = 0; s < run.steps; ++s)
      for (std::size_t l = 0; l < 2; ++l)
        if (const auto known = run.parts.find({mine[l], s}); known != run.parts.end())
          all.add(static_cast<int>(l), known->second);
    for (const LateSender& w : all.find(nodes, {})) {
      const std::lock_guard lock(mutex);
      got += static_cast<double>(w.ns << w.level);
      deepest = std::max(deepest, w.level);
    }
  });
  CHECK(deepest >= 2);
  CHECK(std::abs(got - total) < 0.3 * total);
}

namespace {

/// Rank 0 sends to rank 1 at the end of each step, and rank 1 waits `wait_ns` for the message of the step before, or of
/// the same step.
void one_message(LateSenders& all, int rank, int local, int step, bool crosses, std::int64_t wait_ns) {
  MessagePart p;
  p.tag = 7;
  p.peer = 1 - rank;
  p.step = step;
  const std::int64_t begin = std::int64_t{step} * 1'000'000;
  if (rank == 0) {
    p.begin_ns = begin + 900'000;
    if (crosses) p.begin_ns += 100'000 + wait_ns;  // just when the other has begun to wait, in the next step
    all.add(local, std::span(&p, 1));
    return;
  }
  if (crosses && step == 0) return;
  p.type = Type::receive;
  p.begin_ns = crosses ? begin : begin + 900'000 - wait_ns;
  p.end_ns = p.begin_ns + wait_ns + 500;
  all.add(local, std::span(&p, 1));
}

}  // namespace

TEST_CASE("After records have been lost, counting starts again at the end of a step") {
  for (const bool crosses : {false, true}) {
    for (const int n_nodes : {1, 2}) {
      CAPTURE(crosses, n_nodes);
      std::vector<std::int64_t> by_window(8, 0);
      std::mutex mutex;
      run_thread_group(n_nodes, [&](Communicator& nodes) {
        std::vector<int> mine = n_nodes == 1 ? std::vector<int>{0, 1} : std::vector<int>{nodes.rank()};
        LateSenders all(mine, 2);
        for (int s = 0; s < 32; ++s) {
          const int window = s / 4;
          for (std::size_t l = 0; l < mine.size(); ++l) {
            // Of window 2, the first half of the sender's records is lost.
            if (window == 2 && mine[l] == 0 && s % 4 < 2) continue;
            if (s == 10 && mine[l] == 0) all.forget(static_cast<int>(l));
            one_message(all, mine[l], static_cast<int>(l), s, crosses, 20'000);
          }
          if (s % 4 != 3) continue;
          if (window == 2) {
            all.restart();
            continue;
          }
          for (const LateSender& w : all.find(nodes, {})) {
            const std::lock_guard lock(mutex);
            by_window[static_cast<std::size_t>(window)] += w.late == 0 ? w.ns : -1;
          }
        }
      });
      const std::int64_t full = 4 * 20'000;
      CHECK(by_window[0] == (crosses ? full - 20'000 : full));
      CHECK(by_window[1] == full);
      CHECK(by_window[2] == 0);
      // If a message was under way, the window after the loss shows that the count is wrong.
      CHECK(by_window[3] == (crosses ? 0 : full));
      for (std::size_t w = 4; w < 8; ++w) CHECK(by_window[w] == full);
    }
  }
}

TEST_CASE("A receive from any source that was posted first takes the first message, though it is completed last") {
  LateSenders all(std::vector<int>{0, 1}, 2);
  SelfCommunicator self;
  const std::vector<MessagePart> sends{{Type::send, 1, 7, 0, 0, 2000, 2000, 0},
                                       {Type::send, 1, 7, 0, 0, 5000, 5000, 0}};
  const std::vector<MessagePart> receives{{Type::receive_start, -1, -1, 0, 3, 500, 500, 0},
                                          {Type::receive, 0, 7, 0, 0, 1000, 6000, 0},
                                          {Type::receive_done, 0, 7, 0, 3, 7000, 7100, 0}};
  all.add(0, sends);
  all.add(1, std::span(receives).first(2));
  CHECK(all.find(self, {}).empty());  // it is not known yet which message the blocking receive has got
  all.add(1, std::span(receives).last(1));
  const std::vector<LateSender> waits = all.find(self, {});
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].local == 1);
  CHECK(waits[0].late == 0);
  CHECK(waits[0].ns == 4000);
}

TEST_CASE("A probe that ended before a message was sent did not wait for it") {
  LateSenders all(std::vector<int>{0, 1}, 2);
  SelfCommunicator self;
  const std::vector<MessagePart> sends{{Type::send, 1, 7, 0, 0, 2000, 2000, 0}};
  const std::vector<MessagePart> receives{{Type::receive, 0, 7, 0, 0, 1500, 2200, 0, 100, 900}};
  all.add(0, sends);
  all.add(1, receives);
  const std::vector<LateSender> waits = all.find(self, {});
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].ns == 500);  // of the receive
  CHECK(all.reversed() == 0);
}

TEST_CASE("Without late senders there are no waits") {
  LateSenders all(std::vector<int>{0, 1}, 2);
  SelfCommunicator self;
  for (int s = 0; s < 10; ++s) {
    MessagePart send{Type::send, 1, 0, 0, 0, s * 1000, s * 1000, s};
    MessagePart receive{Type::receive,  0, 0, 0, 0, s * 1000,
                        s * 1000 + 900, s};  // at the same time, and a long transfer
    all.add(0, std::span(&send, 1));
    all.add(1, std::span(&receive, 1));
  }
  CHECK(all.find(self, {}).empty());
  CHECK(all.received() == 10);
}

}  // namespace effort::communication
