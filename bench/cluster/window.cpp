// The cost of a window's strata for the background thread.
#include "common.hpp"

#include "analytics/cluster/distributed_clara.hpp"
#include "analytics/comm/thread_group.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <mutex>
#include <numeric>

namespace effort::bench {
namespace {

// Splits a thread's CPU time at every collective, into the stages between them and the collectives themselves.
class Staged final : public Communicator {
 public:
  explicit Staged(Communicator& inner) : inner_(inner), last_(cpu_seconds()) {}
  std::vector<double> stages, collectives;

  void finish() { stages.push_back(cpu_seconds() - last_); }
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  void allreduce(std::span<std::int64_t> values, ReduceOp op) override {
    timed([&] { inner_.allreduce(values, op); });
  }
  void allreduce(std::span<double> values, ReduceOp op) override {
    timed([&] { inner_.allreduce(values, op); });
  }

 protected:
  Gathered<std::byte> allgatherv_bytes(std::span<const std::byte> mine) override {
    Gathered<std::byte> result;
    timed([&] { result = inner_.allgatherv(mine); });
    return result;
  }
  Gathered<std::byte> gatherv_bytes(std::span<const std::byte> mine, int root) override {
    Gathered<std::byte> result;
    timed([&] { result = inner_.gatherv(mine, root); });
    return result;
  }
  Gathered<std::byte> alltoallv_bytes(std::span<const std::byte> mine, std::span<const std::size_t> offsets) override {
    Gathered<std::byte> result;
    timed([&] {
      result = inner_.alltoallv(Gathered<std::byte>{{mine.begin(), mine.end()}, {offsets.begin(), offsets.end()}});
    });
    return result;
  }
  void bcast_bytes(std::span<std::byte> values, int root) override {
    timed([&] { inner_.bcast(values, root); });
  }
  void neighbour_exchange_bytes(std::span<const std::byte> a, std::span<const std::byte> b, std::span<std::byte> c,
                                std::span<std::byte> d) override {
    timed([&] { inner_.neighbour_exchange(a, b, c, d); });
  }

 private:
  template <typename Body>
  void timed(const Body& body) {
    const double begin = cpu_seconds();
    stages.push_back(begin - last_);
    body();
    last_ = cpu_seconds();
    collectives.push_back(last_ - begin);
  }

  Communicator& inner_;
  double last_;
};

std::vector<std::int32_t> ids_from(std::size_t first, std::size_t count) {
  std::vector<std::int32_t> ids(count);
  std::iota(ids.begin(), ids.end(), static_cast<std::int32_t>(first));
  return ids;
}

double one_window(std::size_t n, std::size_t d, int k) {
  const auto values = clouds(n, d, 4, 1, 5);
  const auto ids = ids_from(0, n);
  cluster::ClaraParameters parameters;
  parameters.k = k;
  std::vector<double> times;
  for (int i = 0; i < 25; ++i)
    times.push_back(seconds_of([&] {
      SelfCommunicator self;
      cluster::distributed_clara(Kokkos::Serial{}, self, {values, n, d}, ids, static_cast<std::int64_t>(n), parameters);
    }));
  return median(times);
}

struct Path {
  double stages = 0;       // the largest CPU time of a thread between collectives, summed over stages
  double collectives = 0;  // the same inside the collectives of this communicator
};

void raise(std::vector<double>& largest, const std::vector<double>& values) {
  largest.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) largest[i] = std::max(largest[i], values[i]);
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// Medians over windows of the same threads, as a background thread lives as long as the run. Two windows warm them up.
Path critical_path(int nodes, std::size_t ranks, std::size_t d, const cluster::ClaraParameters& parameters) {
  constexpr std::size_t warm = 2, windows = 11;
  const std::size_t n = static_cast<std::size_t>(nodes) * ranks;
  const auto values = clouds(n, d, 4, 1, 5);
  std::vector<std::vector<double>> stages(windows), collectives(windows);
  std::mutex mutex;
  run_thread_group(nodes, [&](Communicator& comm) {
    const std::size_t first = static_cast<std::size_t>(comm.rank()) * ranks;
    const auto ids = ids_from(first, ranks);
    const cluster::Signatures local{std::span(values).subspan(first * d, ranks * d), ranks, d};
    for (std::size_t window = 0; window < warm + windows; ++window) {
      Staged staged(comm);
      cluster::distributed_clara(Kokkos::Serial{}, staged, local, ids, static_cast<std::int64_t>(n), parameters);
      staged.finish();
      if (window < warm) continue;
      const std::lock_guard lock(mutex);
      raise(stages[window - warm], staged.stages);
      raise(collectives[window - warm], staged.collectives);
    }
  });
  std::vector<double> path, inside;
  for (const auto& window : stages) path.push_back(sum(window));
  for (const auto& window : collectives) inside.push_back(sum(window));
  return {median(path), median(inside)};
}

}  // namespace

void bench_windows() {
  for (const int k : {5, 0}) {
    const std::string name = k == 0 ? "k chosen" : "k = 5";
    report("window, 64 ranks x 32 regions, " + name + ": ms", 1e3 * one_window(64, 32, k), "<", 1);
    report("window, 16384 ranks x 32 regions, " + name + ": ms", 1e3 * one_window(16384, 32, k), "<", 40);
    report("window, 16384 ranks x 120 regions, " + name + ": ms", 1e3 * one_window(16384, 120, k), "<", 40);
    for (const std::size_t d : {32, 120}) {
      cluster::ClaraParameters parameters;
      parameters.k = k;
      const Path path = critical_path(64, 256, d, parameters);
      const double own = one_window(256, d, k);
      char more[160];
      std::snprintf(more, sizeof more,
                    "(path %.3f ms, one node's own 256 ranks %.3f ms; collectives of threads %.3f ms more)",
                    1e3 * path.stages, 1e3 * own, 1e3 * path.collectives);
      report("64 nodes x 256 ranks x " + std::to_string(d) + ", " + name + ": critical path / one node's own",
             path.stages / own, "<", 3, more);
    }
  }
}

}  // namespace effort::bench
