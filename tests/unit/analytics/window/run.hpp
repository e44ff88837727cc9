// Runs windows of a synthetic run through the analysis on several simulated nodes.
#pragma once

#include "analytics/comm/thread_group.hpp"
#include "analytics/window/window.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <vector>

namespace effort::window::test {

/// Windows of 10 steps.
inline Settings windows_of_ten() {
  Settings settings;
  settings.window = 10;
  settings.hint_lag = 2;
  return settings;
}

/// A run: the cost of each rank and region in each step.
struct Run {
  int n_ranks = 8, n_regions = 2, n_units = 0;
  std::function<double(int region, int rank, std::int64_t step)> load = [](int, int, std::int64_t) { return 1.0; };
  std::function<double(int unit, int rank, std::int64_t step)> work = [](int, int, std::int64_t) { return 0.0; };
  std::function<double(int rank, std::int64_t step)> wait;             ///< empty: not given
  std::function<double(int rank, std::int64_t step)> wall;             ///< empty: not given
  std::function<double(int rank, std::int64_t step)> delay, transfer;  ///< empty: not given
  bool synchronized_steps = false;                                     ///< as in Input
};

/// One node's arrays of one window.
struct Slice {
  std::vector<int> ranks;
  std::vector<double> region, rank, work, wait, wall, delay, transfer;
  Input input;

  Slice(const Run& run, int node, int nodes, std::int64_t first, int steps) {
    for (int r = 0; r < run.n_ranks; ++r)
      if (static_cast<std::int64_t>(r) * nodes / run.n_ranks == node) ranks.push_back(r);
    const auto n = static_cast<int>(ranks.size());
    rank.assign(static_cast<std::size_t>(n) * steps, 0.0);
    for (int g = 0; g < run.n_regions; ++g)
      for (int i = 0; i < n; ++i)
        for (int s = 0; s < steps; ++s) {
          region.push_back(run.load(g, ranks[i], first + s));
          rank[static_cast<std::size_t>(i) * steps + s] += region.back();
        }
    for (int u = 0; u < run.n_units; ++u)
      for (int i = 0; i < n; ++i)
        for (int s = 0; s < steps; ++s) work.push_back(run.work(u, ranks[i], first + s));
    for (int i = 0; i < n; ++i)
      for (int s = 0; s < steps; ++s) {
        if (run.wait) wait.push_back(run.wait(ranks[i], first + s));
        if (run.wall) wall.push_back(run.wall(ranks[i], first + s));
        if (run.delay) delay.push_back(run.delay(ranks[i], first + s));
        if (run.transfer) transfer.push_back(run.transfer(ranks[i], first + s));
      }
    input.first_step = first;
    input.last_step = first + steps - 1;
    input.n_ranks = run.n_ranks;
    input.ranks = ranks;
    input.n_regions = run.n_regions;
    input.region_load = region;
    input.rank_load = rank;
    input.n_units = run.n_units;
    input.work = work;
    input.rank_wait = wait;
    input.step_wall = wall;
    input.delay = delay;
    input.transfer = transfer;
    input.synchronized_steps = run.synchronized_steps;
  }
};

/// A whole window: its steps, a look, its description.
inline Result analyze(Analyzer& analyzer, Communicator& nodes, const Input& in,
                      std::span<const Rebalance> rebalances = {}) {
  if (analyzer.follow(nodes, {in.first_step, in.last_step, in.n_ranks, in.ranks, in.rank_load, in.n_units, in.work,
                              rebalances, in.failed}))
    analyzer.look(nodes);
  return analyzer.describe(nodes, in);
}

/// Results of all windows on all nodes, [node][window].
/// `rebalances(window)`: the rebalances that become known before that window.
inline std::vector<std::vector<Result>> analyze(
    const Run& run, const Settings& settings, int nodes, int windows,
    const std::function<std::vector<Rebalance>(int)>& rebalances = [](int) { return std::vector<Rebalance>{}; }) {
  std::vector<std::vector<Result>> out(static_cast<std::size_t>(nodes));
  run_thread_group(nodes, [&](Communicator& comm) {
    Analyzer analyzer(settings);
    for (int w = 0; w < windows; ++w) {
      Slice slice(run, comm.rank(), nodes, static_cast<std::int64_t>(w) * settings.window, settings.window);
      const std::vector<Rebalance> known = rebalances(w);
      out[comm.rank()].push_back(analyze(analyzer, comm, slice.input, known));
    }
  });
  return out;
}

/// Reproducible noise of mean 0 and deviation 1, the same for the same arguments.
inline double noise(std::uint64_t a, std::uint64_t b, std::uint64_t seed = 1) {
  std::seed_seq seq{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(seed)};
  std::mt19937 engine(seq);
  return std::normal_distribution<double>()(engine);
}

}  // namespace effort::window::test
