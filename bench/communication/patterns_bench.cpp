// bench_patterns phases [INSTANCES]    cuts sequences of pattern instances into phases: blocks, random ones, and
//                                      iterative programs, whose trees are deep; 10^6 instances by default
// bench_patterns patterns [EVENTS]     finds patterns and slow instances in the record of a halo exchange with a
//                                      reduction on 64 ranks, and of irregular messages; 10^6 events by default
// CPU seconds of one thread.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analytics/communication/patterns.hpp"
#include "analytics/communication/phases.hpp"
#include "analytics/communication/slow.hpp"

namespace {

using namespace effort::communication;

double seconds_of(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

using Sequence = std::vector<std::uint32_t>;

void cut(const char* what, const Sequence& sequence, std::size_t symbols) {
  Phases phases;
  const double seconds = seconds_of([&] { phases = find_phases(sequence, symbols); });
  std::size_t depth = 0;
  double symbols_of_nodes = 0;  // symbols that a search of all places of each part would visit
  for (const Split& split : phases.tree) {
    depth = std::max(depth, split.depth + 1);
    symbols_of_nodes += static_cast<double>(split.end - split.first);
  }
  std::printf("%-34s %7zu patterns, %7zu phases, depth %7zu (%9.1f x length): %7.3f s\n", what, symbols,
              phases.leaves.size(), depth, symbols_of_nodes / static_cast<double>(sequence.size()), seconds);
}

void measure_phases(std::size_t n) {
  std::mt19937 random(1);
  const auto sequence = [n](const std::function<std::size_t(std::size_t)>& symbol) {
    Sequence out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::uint32_t>(symbol(i));
    return out;
  };
  std::printf("%zu instances\n", n);
  cut("blocks of 100, all different", sequence([](std::size_t i) { return i / 100 % 10000; }), 10000);
  cut("blocks of 1000, each of 10 at random",
      sequence([&](std::size_t i) { return i / 1000 % 1000 * 10 + random() % 10; }), 10000);
  cut("random", sequence([&](std::size_t) { return random() % 10000; }), 10000);
  cut("a growing alphabet",
      sequence([&](std::size_t i) { return random() % std::min<std::size_t>(i / 100 + 1, 10000); }), 10000);
  cut("iterations of 3 + 1 + 6 + 4", sequence([](std::size_t i) {
        const std::size_t at = i % 14;
        return at < 3 ? 0 : at < 4 ? 1 : at < 10 ? 2 : 3;
      }),
      4);
  cut("iterations of 3 + 3", sequence([](std::size_t i) { return i / 3 % 2; }), 2);
  cut("iterations of 60 x 30", sequence([](std::size_t i) { return i / 30 % 60; }), 60);
  cut("iterations of 1000 x 10", sequence([](std::size_t i) { return i / 10 % 1000; }), 1000);
  cut("iterations of 10000 x 1", sequence([](std::size_t i) { return i % 10000; }), 10000);
}

/// Adds calls, one rank after the other.
class Maker {
 public:
  explicit Maker(std::int32_t ranks)
      : calls_(static_cast<std::size_t>(ranks)), clocks_(static_cast<std::size_t>(ranks)) {
    record_.n_ranks = ranks;
    record_.regions = {"MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce", "MPI_Send", "MPI_Recv"};
  }

  /// @return the call's number on its rank
  std::uint32_t call(std::int32_t rank, std::uint32_t region, Operation operation, std::int64_t ns) {
    const auto r = static_cast<std::size_t>(rank);
    calls_[r].push_back({clocks_[r], clocks_[r] + ns, region, none, operation});
    clocks_[r] += ns + 10;
    return static_cast<std::uint32_t>(calls_[r].size() - 1);
  }
  void message(std::int32_t from, std::int32_t to, std::uint32_t send, std::uint32_t sent, std::uint32_t receive,
               std::uint32_t received) {
    record_.messages.push_back({from, to, 0, 0, 8192, send, sent, receive, received});
  }
  void reduce(std::int64_t ns) {
    Collective collective;
    collective.first = record_.participations.size();
    for (std::int32_t rank = 0; rank < record_.n_ranks; ++rank) {
      Participation part;
      part.rank = rank;
      part.start = part.done = call(rank, 3, Operation::nxn, ns);
      part.sent = 8;
      record_.participations.push_back(part);
    }
    collective.end = record_.participations.size();
    record_.collectives.push_back(collective);
  }

  Record finish() {
    std::vector<std::uint32_t> first;
    for (std::size_t r = 0; r < calls_.size(); ++r) {
      first.push_back(static_cast<std::uint32_t>(record_.calls.size()));
      record_.calls.insert(record_.calls.end(), calls_[r].begin(), calls_[r].end());
      record_.locations.push_back({static_cast<std::int32_t>(r), 0, first.back(), record_.calls.size()});
    }
    for (Message& m : record_.messages) {
      const std::uint32_t from = first[static_cast<std::size_t>(m.sender)];
      const std::uint32_t to = first[static_cast<std::size_t>(m.receiver)];
      m.send_start += from, m.send_done += from, m.receive_start += to, m.receive_done += to;
    }
    for (Participation& part : record_.participations) {
      part.start += first[static_cast<std::size_t>(part.rank)];
      part.done = part.start;
    }
    return std::move(record_);
  }

 private:
  Record record_;
  std::vector<std::vector<Call>> calls_;
  std::vector<std::int64_t> clocks_;
};

/// A halo on 8 x 8 ranks, periodic, and after every fourth a reduction.
Record halo_record(std::size_t events) {
  constexpr std::int32_t side = 8, ranks = side * side;
  Maker maker(ranks);
  std::mt19937 random(2);
  const auto neighbour = [](std::int32_t rank, int direction) {
    const std::int32_t x = rank % side, y = rank / side;
    if (direction < 2) return y * side + (x + (direction == 0 ? 1 : side - 1)) % side;
    return (y + (direction == 2 ? 1 : side - 1)) % side * side + x;
  };
  std::vector<std::uint32_t> receives(4 * ranks), sends(4 * ranks), waits(ranks);
  for (std::size_t made = 0, step = 0; made < events; ++step) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const auto slot = static_cast<std::size_t>(4 * rank);
      for (std::size_t d = 0; d < 4; ++d) receives[slot + d] = maker.call(rank, 0, Operation::receive_start, 100);
      for (std::size_t d = 0; d < 4; ++d) sends[slot + d] = maker.call(rank, 1, Operation::send_start, 100);
      waits[static_cast<std::size_t>(rank)] = maker.call(
          rank, 2, Operation::wait_all, 1000 + static_cast<std::int64_t>(random() % (step % 100 == 7 ? 90000 : 500)));
    }
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      for (int d = 0; d < 4; ++d) {
        const std::int32_t to = neighbour(rank, d);
        const int back = d ^ 1;
        maker.message(rank, to, sends[static_cast<std::size_t>(4 * rank + d)], waits[static_cast<std::size_t>(rank)],
                      receives[static_cast<std::size_t>(4 * to + back)], waits[static_cast<std::size_t>(to)]);
      }
    }
    made += 8 * ranks;
    if (step % 4 == 3) maker.reduce(2000), made += ranks;
  }
  return maker.finish();
}

/// Groups of 1 to 6 messages between random ranks, completed together: nothing recurs on purpose.
Record irregular_record(std::size_t events) {
  constexpr std::int32_t ranks = 64;
  Maker maker(ranks);
  std::mt19937 random(3);
  for (std::size_t made = 0; made < events;) {
    const auto from = static_cast<std::int32_t>(random() % ranks);
    std::vector<std::int32_t> to(1 + random() % 6);
    std::vector<std::uint32_t> sends, receives, received;
    for (std::int32_t& rank : to) {
      rank = static_cast<std::int32_t>(random() % ranks);
      sends.push_back(maker.call(from, 1, Operation::send_start, 100));
    }
    const std::uint32_t sent = maker.call(from, 2, Operation::wait_all, 100);
    for (const std::int32_t rank : to) receives.push_back(maker.call(rank, 5, Operation::receive, 100));
    for (std::size_t m = 0; m < to.size(); ++m) maker.message(from, to[m], sends[m], sent, receives[m], receives[m]);
    made += 2 * to.size();
  }
  return maker.finish();
}

void measure_patterns(std::size_t events) {
  for (const bool halo : {true, false}) {
    const Record record = halo ? halo_record(events) : irregular_record(events);
    for (const Symbols symbols : {Symbols::relative, Symbols::absolute}) {
      Patterns patterns;
      std::vector<SlowInstance> slow;
      const double found = seconds_of([&] { patterns = find_patterns(record, symbols); });
      const double judged = seconds_of([&] { slow = find_slow(record, patterns, 3.5); });
      std::printf("%-10s %-9s %zu events, %zu instances of %zu patterns (first: %s): %.3f s; %zu slow: %.3f s\n",
                  halo ? "halo" : "irregular", symbols == Symbols::relative ? "relative" : "absolute",
                  patterns.events.size(), patterns.instances.size(), patterns.patterns.size(),
                  patterns.patterns.front().name.c_str(), found, slow.size(), judged);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000;
  if (argc > 1 && n > 0 && std::strcmp(argv[1], "phases") == 0) {
    measure_phases(n);
  } else if (argc > 1 && n > 0 && std::strcmp(argv[1], "patterns") == 0) {
    measure_patterns(n);
  } else {
    std::fprintf(stderr, "bench_patterns phases [INSTANCES] | patterns [EVENTS]\n");
    return 2;
  }
  return 0;
}
