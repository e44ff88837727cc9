// bench_communication waits [EVENTS]    a trace of a halo exchange of 64 ranks: matching, calls, waits, critical path,
//                                       delays; 10^7 events by default
// bench_communication pairs [SIDE]      pairs and dendrograms of SIDE^3 ranks with 26 neighbours each; 2^14 ranks
//                                       (32 x 32 x 16) by default
// CPU and elapsed seconds of each part, and the process's largest memory.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analytics/communication/pairs.hpp"
#include "analytics/communication/sparse_linkage.hpp"
#include "tools/communication/record.hpp"
#include "tools/communication/waits_output.hpp"
#include "tools/trace/analysis/messages.hpp"

namespace {

using namespace effort::tools;
namespace communication = effort::communication;
using effort::trace::Kind;

class Clock {
 public:
  void report(const char* part) {
    const auto now = std::chrono::steady_clock::now();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    std::printf("%-24s %7.3f s of CPU, %7.3f s elapsed, largest memory so far %5.0f MB\n", part, cpu - cpu_,
                std::chrono::duration<double>(now - start_).count(), static_cast<double>(usage.ru_maxrss) / 1024);
    start_ = now;
    cpu_ = cpu;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double cpu_ = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
};

/// A ring of ranks that exchange with three ranks on either side, and reduce after each step.
class Halo {
 public:
  explicit Halo(std::size_t events) : events_(events) {
    trace_.n_ranks = ranks;
    trace_.n_nodes = 1;
    trace_.is_otf2 = true;
    trace_.bound = effort::trace::TimeBound::exact();
    trace_.regions = {{"solve", 0}, {"MPI_Irecv", 1}, {"MPI_Isend", 1}, {"MPI_Waitall", 2}, {"MPI_Allreduce", 1}};
    trace_.communicators = {{"MPI_COMM_WORLD", {}, {}}};
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      trace_.communicators[0].members.push_back(rank);
      trace_.node_of[rank] = 0;
      trace_.threads.push_back({rank, 0, {}, {}});
    }
  }

  Trace run() {
    const std::size_t steps = events_ / (ranks * 54);
    std::mt19937_64 random(3);
    for (TraceThread& thread : trace_.threads) thread.events.reserve(steps * 54);
    for (std::size_t step = 0; step < steps; ++step) {
      const std::int64_t start = static_cast<std::int64_t>(step) * 1'000'000;
      for (TraceThread& thread : trace_.threads)
        rank(thread, start, 100'000 + static_cast<std::int64_t>(random() % 200'000));
    }
    TraceWindow window;
    window.end_ns = static_cast<std::int64_t>(steps) * 1'000'000;
    for (TraceThread& thread : trace_.threads) {
      thread.spans.push_back({0, 0, thread.events.size(), 0, window.end_ns});
      window.ranks.push_back({thread.rank, effort::record::trace::reason_sample, 1, 0});
      window.ranks.back().events = true;
    }
    trace_.windows.push_back(window);
    return std::move(trace_);
  }

 private:
  static constexpr std::int32_t ranks = 64;

  void rank(TraceThread& thread, std::int64_t start, std::int64_t work) {
    add(thread, Kind::enter, start, 0);
    add(thread, Kind::leave, start + work, 0);
    std::int64_t now = start + work;
    for (const Kind kind : {Kind::receive_start, Kind::send_start}) {
      for (std::uint32_t k = 0; k < 6; ++k) {
        const std::uint32_t call = kind == Kind::receive_start ? 1 : 2;
        add(thread, Kind::enter, now, call);
        message(thread, kind, now, k);
        add(thread, Kind::leave, now += 100, call);
      }
    }
    add(thread, Kind::enter, now, 3);
    for (std::uint32_t k = 0; k < 6; ++k) message(thread, Kind::receive_done, start + 400'000, k);
    for (std::uint32_t k = 0; k < 6; ++k) message(thread, Kind::send_done, start + 400'000, k);
    add(thread, Kind::leave, start + 400'000, 3);
    add(thread, Kind::enter, start + 400'000 + work / 10, 4);
    add(thread, Kind::collective, start + 400'000 + work / 10, 0).bytes = 8;
    add(thread, Kind::leave, start + 450'000, 4);
  }

  static TraceEvent& add(TraceThread& thread, Kind kind, std::int64_t time, std::uint32_t id) {
    TraceEvent event;
    event.time_ns = time;
    event.kind = kind;
    event.id = id;
    thread.events.push_back(event);
    return thread.events.back();
  }

  void message(TraceThread& thread, Kind kind, std::int64_t time, std::uint32_t k) {
    constexpr std::int32_t to[6] = {1, 2, 3, ranks - 1, ranks - 2, ranks - 3};
    const bool sends = kind == Kind::send_start || kind == Kind::send_done;
    TraceEvent& event = add(thread, kind, time, 0);
    event.peer = (thread.rank + (sends ? to[k] : ranks - to[k])) % ranks;
    event.bytes = kind == Kind::receive_start || kind == Kind::send_done ? 0 : 4096;
    event.request = k + (sends ? 6 : 0);
  }

  std::size_t events_;
  Trace trace_;
};

void waits(std::size_t events) {
  Clock clock;
  Trace trace = Halo(events).run();
  std::printf("%llu events\n", static_cast<unsigned long long>(trace.events()));
  clock.report("making them");
  CommunicationTrace communication;
  {
    TraceMessages messages = match_messages(trace);
    clock.report("matching messages");
    communication = communication_of(trace, messages);
    trace = Trace();
  }
  clock.report("calls and collectives");
  const WaitFindings findings(std::move(communication));
  clock.report("waits, paths, delays");
  std::printf("%zu waits, %zu messages\n", findings.waits.waits.size(), findings.trace.record.messages.size());
}

void pairs(std::uint32_t side) {
  const std::uint32_t x = side == 0 ? 32 : side, y = x, z = side == 0 ? 16 : side;
  std::mt19937_64 random(3);
  communication::Record record;
  record.n_ranks = static_cast<std::int32_t>(x * y * z);
  // Two messages of each pair of neighbours, with a call for each end.
  const auto rank = [&](std::uint32_t i, std::uint32_t j, std::uint32_t k) {
    return static_cast<std::int32_t>(((k + z) % z * y + (j + y) % y) * x + (i + x) % x);
  };
  for (std::uint32_t i = 0; i < x; ++i)
    for (std::uint32_t j = 0; j < y; ++j)
      for (std::uint32_t k = 0; k < z; ++k)
        for (std::uint32_t n = 0; n < 27; ++n) {
          if (n == 13) continue;
          communication::Message m;
          m.sender = rank(i, j, k);
          m.receiver = rank(i + x + n % 3 - 1, j + y + n / 3 % 3 - 1, k + z + n / 9 - 1);
          m.bytes = 8;
          m.send_start = m.send_done = static_cast<std::uint32_t>(record.calls.size());
          m.receive_start = m.receive_done = m.send_start;
          communication::Call call;
          call.end_ns = 1000 + static_cast<std::int64_t>(random() % 100'000);
          record.calls.push_back(call);
          record.messages.push_back(m);
        }
  Clock clock;
  const communication::Pairs found = communication::find_pairs(record);
  clock.report("pairs");
  std::vector<communication::Distance> distances;
  double largest = 0;
  for (const communication::Pair& pair : found.pairs) {
    distances.push_back(
        {static_cast<std::uint32_t>(pair.a), static_cast<std::uint32_t>(pair.b), communication::pair_distance(pair)});
    largest = std::max(largest, distances.back().distance);
  }
  for (const auto linkage : {communication::Linkage::single, communication::Linkage::average}) {
    const auto merges =
        communication::sparse_linkage(static_cast<std::size_t>(record.n_ranks), distances, 2 * largest, linkage);
    clock.report(linkage == communication::Linkage::single ? "single linkage" : "average linkage");
    std::printf("%d ranks, %zu pairs, %zu merges\n", record.n_ranks, found.pairs.size(), merges.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  const std::size_t size = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (part == "waits") {
    waits(size == 0 ? 10'000'000 : size);
  } else if (part == "pairs") {
    pairs(static_cast<std::uint32_t>(size));
  } else {
    std::fprintf(stderr, "usage: bench_communication waits [EVENTS] | pairs [SIDE]\n");
    return 2;
  }
  return 0;
}
