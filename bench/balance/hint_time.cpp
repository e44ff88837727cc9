#include "analytics/replay/replay.hpp"
#include "bench/balance/parts.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>

namespace effort::bench {
namespace {

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// Per window: the largest CPU time of a thread, summed over stages, and the CPU time of all threads.
struct Log {
  std::vector<std::array<double, window::n_stages>> critical, total;
};

Log timed(const Recording& r, std::int64_t ranks, int nodes) {
  Log log;
  std::mutex mutex;
  replay::Options options;
  options.virtual_ranks = ranks;
  options.nodes = nodes;
  options.decide = false;
  if (options.analysis.window == 0) {  // a look and a description
    options.analysis.window = 10;
    options.analysis.hint_lag = 2;
  }
  options.on_window = [&](int, const window::Input& input, const window::Result& result) {
    const std::lock_guard lock(mutex);
    const auto w = static_cast<std::size_t>(input.last_step / options.analysis.window);
    log.critical.resize(std::max(log.critical.size(), w + 1), {});
    log.total.resize(std::max(log.total.size(), w + 1), {});
    for (std::size_t stage = 0; stage < window::n_stages; ++stage) {
      log.critical[w][stage] = std::max(log.critical[w][stage], result.stage_seconds[stage]);
      log.total[w][stage] += result.stage_seconds[stage];
    }
  };
  replay::replay({r.values, r.regions, r.ranks, r.steps}, options);
  return log;
}

double sum(const std::array<double, window::n_stages>& stages) {
  double s = 0;
  for (double x : stages) s += x;
  return s;
}

void print(const std::string& what, const Log& log, double per) {
  std::vector<double> critical, total;
  for (const auto& window : log.critical) critical.push_back(sum(window));
  for (const auto& window : log.total) total.push_back(sum(window));
  std::printf("| %s | %.3f | %.3f |", what.c_str(), 1e3 * median(critical), 1e3 * median(total) / per);
  for (std::size_t stage = 0; stage < window::n_stages; ++stage) {
    std::vector<double> path, mean;
    for (const auto& window : log.critical) path.push_back(window[stage]);
    for (const auto& window : log.total) mean.push_back(window[stage]);
    std::printf(" %.3f / %.3f |", 1e3 * median(path), 1e3 * median(mean) / per);
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

void bench_hint_time() {
  std::printf("| | critical path, ms | per node, ms |");
  for (int stage = 0; stage < window::n_stages; ++stage)
    std::printf(" %s |", window::stage_name(static_cast<window::Stage>(stage)));
  std::printf("\n|---|---|---|---|---|---|---|---|\n");
  const Recording small = many_regions(32, 8, 200), node = many_regions(32, 256, 120);
  print("8 ranks, 32 regions, 1 node", timed(small, 8, 1), 1);
  for (int nodes : {1, 2, 4, 8, 16, 32, 64})
    print(std::to_string(nodes) + " nodes x 256 ranks x 32 regions", timed(node, 256 * nodes, nodes), nodes);
  const Recording few = many_regions(32, 256, 30);
  print("1,048,576 ranks, 32 regions, 16 nodes (all of them)", timed(few, std::int64_t{1} << 20, 16), 1);
}

}  // namespace effort::bench
