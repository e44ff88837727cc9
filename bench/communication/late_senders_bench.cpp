// bench_late_senders [NODES [WINDOWS]]: the cost of the late senders of a window for a node of 256 ranks; 64 nodes by
// default, a power of two.  Each rank exchanges messages with its 26 neighbours on a grid in each of 10 steps, and
// completes them in one call.  Nodes are threads, so elapsed times mean little: CPU seconds are those of one node,
// medians over nodes and windows.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "analytics/comm/thread_group.hpp"
#include "analytics/communication/follow_back.hpp"
#include "analytics/communication/late_senders.hpp"
#include "runtime/collect/message_reader.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/recording/stream.hpp"

namespace {

using namespace effort;
using communication::MessagePart;

constexpr int steps = 10, per_node = 256;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// A grid of nodes with 8 x 8 x 4 ranks each.
class Grid {
 public:
  explicit Grid(int n_nodes) {
    for (int d = 0; n_nodes > 1; n_nodes /= 2, d = (d + 1) % 3) nodes_[static_cast<std::size_t>(d)] *= 2;
  }
  /// Periodic; a rank of a small grid may be a neighbour more than once.
  std::vector<int> neighbours(int rank) const {
    const std::array<int, 3> here = place(rank);
    std::vector<int> out;
    for (int x = -1; x <= 1; ++x)
      for (int y = -1; y <= 1; ++y)
        for (int z = -1; z <= 1; ++z)
          if (x != 0 || y != 0 || z != 0) out.push_back(rank_at({here[0] + x, here[1] + y, here[2] + z}));
    return out;
  }

 private:
  static constexpr std::array<int, 3> block = {8, 8, 4};
  std::array<int, 3> place(int rank) const {
    int node = rank / per_node, in = rank % per_node;
    std::array<int, 3> out{};
    for (std::size_t d = 0; d < 3; ++d) {
      out[d] = node % nodes_[d] * block[d] + in % block[d];
      node /= nodes_[d];
      in /= block[d];
    }
    return out;
  }
  int rank_at(std::array<int, 3> at) const {
    int node = 0, in = 0;
    for (std::size_t d = 3; d-- > 0;) {
      const int extent = nodes_[d] * block[d], x = (at[d] + extent) % extent;
      node = node * nodes_[d] + x / block[d];
      in = in * block[d] + x % block[d];
    }
    return node * per_node + in;
  }
  std::array<int, 3> nodes_ = {1, 1, 1};
};

/// The time at which a rank sends in a step, ns.
std::int64_t sends_at(int rank, std::int64_t step) {
  std::uint64_t z = static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15u ^ static_cast<std::uint64_t>(step) << 32;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  return step * 1'000'000 + static_cast<std::int64_t>((z ^ (z >> 27)) % 500'000);
}

/// The records of a rank in a step.
std::vector<MessagePart> parts_of(const Grid& grid, int rank, std::int64_t step) {
  const std::vector<int> peers = grid.neighbours(rank);
  std::vector<MessagePart> out;
  const std::int64_t now = sends_at(rank, step);
  std::int64_t last = now;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const auto request = static_cast<std::uint32_t>(i);
    const auto tag = static_cast<std::int32_t>(25 - i);  // of the opposite direction
    out.push_back({MessagePart::Type::receive_start, peers[i], tag, 0, request, now, now, step});
    last = std::max(last, sends_at(peers[i], step));
  }
  for (std::size_t i = 0; i < peers.size(); ++i)
    out.push_back({MessagePart::Type::send, peers[i], static_cast<std::int32_t>(i), 0, 0, now, now, step});
  for (std::size_t i = 0; i < peers.size(); ++i)
    out.push_back({MessagePart::Type::receive_done, peers[i], static_cast<std::int32_t>(25 - i), 0,
                   static_cast<std::uint32_t>(i), now, last + 2000, step});
  return out;
}

/// CPU seconds to read the records of one rank's window.
double reading(int windows) {
  const std::size_t n_blocks = 64, bytes = (recording::Memory::bytes(n_blocks) + 63) / 64 * 64;
  std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(64, bytes), &std::free);
  std::memset(memory.get(), 0, bytes);
  recording::Memory ring(static_cast<std::byte*>(memory.get()), n_blocks);
  recording::Stream stream;
  stream.offer(&ring);
  stream.adopt(0);
  engine::MessageReader reader(ring, {[](std::uint64_t t) { return measure::ns_of(t); },
                                      [](std::uint32_t) { return 0; }, [](std::uint32_t) { return "MPI_Send"; }});
  using recording::RecordKind;
  std::vector<double> times;
  std::uint64_t now = 1000;
  for (std::int64_t step = 0; step < std::int64_t{steps} * windows; ++step) {
    const auto call = [&](std::uint32_t region, RecordKind what, std::uint32_t i) {
      stream.boundary(RecordKind::enter, region, ++now);
      stream.message(recording::message(what, 0, static_cast<std::int32_t>(i)), 8, i | std::uint64_t{i} << 32);
      stream.boundary(RecordKind::leave, region, ++now);
    };
    for (std::uint32_t i = 0; i < 26; ++i) call(1, RecordKind::receive_start, i);
    for (std::uint32_t i = 26; i < 52; ++i) call(2, RecordKind::send_start, i);
    stream.boundary(RecordKind::enter, 3, ++now);
    stream.boundary(RecordKind::leave, 3, now += 1000);
    for (std::uint32_t i = 0; i < 52; ++i)
      stream.message(recording::message(i < 26 ? RecordKind::receive_done : RecordKind::send_done, 0,
                                        static_cast<std::int32_t>(i)),
                     8, i | std::uint64_t{i} << 32);
    stream.step(step + 1, ++now);
    ring.end_step(step, now);
    if (step % steps != steps - 1) continue;
    const double since = thread_seconds();
    if (!reader.read(step) || reader.parts().size() != 78 * steps) std::puts("records are missing");
    times.push_back(thread_seconds() - since);
  }
  return median(times);
}

}  // namespace

int main(int argc, char** argv) {
  const int n_nodes = argc > 1 ? std::atoi(argv[1]) : 64, windows = argc > 2 ? std::atoi(argv[2]) : 5;
  const Grid grid(n_nodes);
  std::vector<double> adding, finding, following;
  std::uint64_t calls = 0;
  std::mutex mutex;
  run_thread_group(n_nodes, [&](Communicator& nodes) {
    std::vector<int> mine;
    for (int i = 0; i < per_node; ++i) mine.push_back(nodes.rank() * per_node + i);
    communication::LateSenders all(mine, n_nodes * per_node);
    const std::vector<double> busy(per_node, 0.01);
    for (int w = 0; w < windows; ++w) {
      double add = 0;
      for (std::int64_t s = std::int64_t{w} * steps; s < std::int64_t{w + 1} * steps; ++s)
        for (int i = 0; i < per_node; ++i) {
          const std::vector<MessagePart> parts = parts_of(grid, mine[static_cast<std::size_t>(i)], s);
          const double since = thread_seconds();
          all.add(i, parts);
          add += thread_seconds() - since;
        }
      double since = thread_seconds();
      const auto waits = all.find(nodes, {0, 1000});
      const double find = thread_seconds() - since;
      std::map<std::pair<int, int>, double> sums;
      since = thread_seconds();
      for (const auto& l : waits)
        sums[{mine[static_cast<std::size_t>(l.local)], l.late}] += 1e-9 * static_cast<double>(l.ns);
      std::vector<communication::WaitEdge> edges;
      for (const auto& [ranks, seconds] : sums) edges.push_back({ranks.first, ranks.second, seconds});
      static_cast<void>(communication::follow_back(nodes, mine, n_nodes * per_node, std::move(edges), busy));
      const double follow = thread_seconds() - since;
      const std::lock_guard lock(mutex);
      calls += waits.size();
      adding.push_back(add);
      finding.push_back(find);
      if (nodes.rank() == 0) following.push_back(follow);
    }
  });
  const double messages = 26.0 * steps * per_node;
  std::printf(
      "%d nodes of %d ranks, %.0f messages a node and window, %.0f calls waited: a node takes %.1f ms to read the "
      "records, "
      "%.1f ms to sort them in, %.1f ms to match them, and node 0 %.1f ms to follow delays back\n",
      n_nodes, per_node, messages, static_cast<double>(calls) / n_nodes / windows, 1e3 * per_node * reading(windows),
      1e3 * median(adding), 1e3 * median(finding), 1e3 * median(following));
}
