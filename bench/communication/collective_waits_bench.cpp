// bench_collective_waits [NODES [RANKS_PER_NODE [INSTANCES [WINDOWS]]]]: the cost of the waits at the collectives of a
// window, per node; by default 64 nodes of 256 ranks with 100 barriers in a window of 10 steps.  Nodes are threads, so
// elapsed times mean little: CPU seconds are those of one node, medians over windows, and bytes are its contribution to
// reductions.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <random>
#include <vector>

#include "analytics/comm/thread_group.hpp"
#include "analytics/communication/collective_waits.hpp"

namespace {

using namespace effort;
namespace communication = effort::communication;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  const int n_nodes = argument(1, 64), per_node = argument(2, 256), instances = argument(3, 100),
            windows = argument(4, 20), steps = 10;
  std::vector<double> adding, finding;
  std::mutex mutex;
  run_thread_group(n_nodes, [&](Communicator& nodes) {
    const int n = n_nodes * per_node;
    std::vector<int> mine;
    for (int i = 0; i < per_node; ++i) mine.push_back(nodes.rank() * per_node + i);
    communication::CollectiveWaits waits(mine, n);
    std::mt19937 random(static_cast<unsigned>(nodes.rank()));
    std::vector<double> add, find;
    for (int w = 0; w < windows; ++w) {
      std::vector<communication::ArrivalBatch> batches;
      for (int s = 0; s < steps; ++s)
        for (int i = 0; i < per_node; ++i) {
          const auto first = static_cast<std::uint64_t>(instances) * static_cast<std::uint64_t>(w * steps + s) / steps,
                     end =
                         static_cast<std::uint64_t>(instances) * static_cast<std::uint64_t>(w * steps + s + 1) / steps;
          communication::ArrivalBatch batch{0, i, mine[static_cast<std::size_t>(i)], n, first, end, 0, w * steps + s,
                                            0, {}};
          for (std::uint64_t k = first; k < end; ++k)
            batch.arrivals.push_back({k, static_cast<std::int64_t>(k * 1'000'000 + random() % 500'000),
                                      communication::gives | communication::waits});
          batches.push_back(std::move(batch));
        }
      double since = thread_seconds();
      for (auto& batch : batches) waits.add(std::move(batch));
      add.push_back(thread_seconds() - since);
      since = thread_seconds();
      static_cast<void>(waits.find(nodes, 1, {}));
      find.push_back(thread_seconds() - since);
    }
    const std::lock_guard lock(mutex);
    adding.push_back(median(add));
    finding.push_back(median(find));
  });
  std::printf(
      "%d nodes of %d ranks, %d collectives a window: a node takes %.3f ms to sort in the arrivals and %.3f ms "
      "to find the waits, and contributes %d bytes to reductions\n",
      n_nodes, per_node, instances, 1e3 * median(adding), 1e3 * median(finding), 16 * instances + 48);
}
