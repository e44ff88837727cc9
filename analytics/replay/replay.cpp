#include "analytics/replay/replay.hpp"

#include "analytics/comm/thread_group.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace effort::replay {
namespace {

constexpr std::int64_t ranks_per_node = 256;
constexpr int most_nodes = 16;  // every node holds the hint's arrays of all ranks

std::vector<double> sum_over_regions(const Cube& cube) {
  if (cube.regions < 1 || cube.ranks < 1 || cube.steps < 1)
    throw std::invalid_argument("a recording needs regions, ranks and steps (" + std::to_string(cube.regions) + " x " +
                                std::to_string(cube.ranks) + " x " + std::to_string(cube.steps) +
                                "), give at least 1 of each");
  const std::size_t plane = static_cast<std::size_t>(cube.ranks) * static_cast<std::size_t>(cube.steps);
  if (cube.values.size() != plane * static_cast<std::size_t>(cube.regions))
    throw std::invalid_argument("the recording holds " + std::to_string(cube.values.size()) + " values (expected " +
                                std::to_string(cube.regions) + " x " + std::to_string(cube.ranks) + " x " +
                                std::to_string(cube.steps) + "), check the dimensions");
  std::vector<double> load(plane, 0.0);
  for (int g = 0; g < cube.regions; ++g)
    for (std::size_t i = 0; i < plane; ++i) load[i] += cube.values[static_cast<std::size_t>(g) * plane + i];
  return load;
}

// The distribution of work in force: weights by recorded rank, and what brings each step back to its total.
struct Distribution {
  std::vector<double> weight;
  int window = -1;  // of the hint it was made on
};

// One node's part of the replayed run, window after window.
class Feeder {
 public:
  Feeder(const Cube& cube, const LoadModel& model, const Options& options, std::int64_t ranks, int node, int nodes)
      : cube_(cube), model_(model), options_(options), n_ranks_(static_cast<int>(ranks)) {
    const std::int64_t first = ranks * node / nodes, last = ranks * (node + 1) / nodes;
    for (std::int64_t r = first; r < last; ++r) ids_.push_back(static_cast<int>(r));
  }

  /// Loads of steps first .. first + window - 1; before `changes` under one distribution, from then on another.
  const window::Input& fill(std::int64_t first, const Distribution& before, const Distribution& after, std::int64_t changes) {
    const int steps = options_.analysis.window;
    const std::size_t n = ids_.size();
    factor(first, steps, before, after, changes);
    region_.resize(n * static_cast<std::size_t>(cube_.regions * steps));
    rank_.assign(n * static_cast<std::size_t>(steps), 0.0);
    double* out = region_.data();
    for (int g = 0; g < cube_.regions; ++g)
      for (std::size_t i = 0; i < n; ++i) {
        const int base = ids_[i] % cube_.ranks;
        const double* row = &cube_.values[(static_cast<std::size_t>(g) * cube_.ranks + base) * cube_.steps + first];
        const double* f = &factor_[static_cast<std::size_t>(base) * steps];
        for (int s = 0; s < steps; ++s) {
          const double value = row[s] * f[s];
          *out++ = value;
          rank_[i * static_cast<std::size_t>(steps) + s] += value;
        }
      }
    input_.first_step = first;
    input_.last_step = first + steps - 1;
    input_.n_ranks = n_ranks_;
    input_.ranks = ids_;
    input_.n_regions = cube_.regions;
    input_.region_load = region_;
    input_.rank_load = rank_;
    return input_;
  }

 private:
  // [recorded ranks][steps] what each recorded load is multiplied by.
  void factor(std::int64_t first, int steps, const Distribution& before, const Distribution& after, std::int64_t changes) {
    factor_.resize(static_cast<std::size_t>(cube_.ranks) * static_cast<std::size_t>(steps));
    for (int s = 0; s < steps; ++s) {
      const Distribution& d = first + s < changes ? before : after;
      const double scale = model_.rescale(d.weight, first + s);
      for (int r = 0; r < cube_.ranks; ++r) factor_[static_cast<std::size_t>(r) * steps + s] = d.weight[r] * scale;
    }
  }

  const Cube& cube_;
  const LoadModel& model_;
  const Options& options_;
  int n_ranks_;
  std::vector<int> ids_;
  std::vector<double> region_, rank_, factor_;
  window::Input input_;
};

WindowReport summary(const window::Result& r) {
  WindowReport w;
  w.first = r.first_step;
  w.last = r.last_step;
  w.imbalance = r.imbalance;
  w.rebalance = r.rebalance;
  w.strata = r.n_strata;
  w.unified = r.sample_unified;
  w.stratified = r.sample_stratified;
  w.prediction_error = r.prediction_error;
  w.gain_per_step = r.gain_per_step;
  w.expected_saving = r.expected_saving;
  w.price = r.rebalance_cost;
  w.strata_agreement = r.strata_agreement;
  w.worst_region = r.worst_region;
  w.worst_region_share = r.worst_region_share;
  w.advice = r.advice;
  w.efficiencies = r.efficiencies;
  return w;
}

// CPU time of each stage and window on one node, and the most memory that each stage took there.
struct StageLog {
  std::vector<std::array<double, window::n_stages>> seconds;
  std::array<std::size_t, window::n_stages> bytes{};

  void add(const window::Result& result) {
    seconds.push_back(result.stage_seconds);
    for (std::size_t stage = 0; stage < bytes.size(); ++stage) bytes[stage] = std::max(bytes[stage], result.stage_bytes[stage]);
  }
};

void add_up(const std::vector<StageLog>& logs, Report& report) {
  for (const StageLog& log : logs)
    for (std::size_t stage = 0; stage < log.bytes.size(); ++stage) report.stages[stage].bytes = std::max(report.stages[stage].bytes, log.bytes[stage]);
  for (std::size_t w = 0; w < report.windows.size(); ++w) {
    double critical = 0;
    for (int stage = 0; stage < window::n_stages; ++stage) {
      double largest = 0;
      for (const StageLog& log : logs) {
        largest = std::max(largest, log.seconds[w][stage]);
        report.stages[stage].total_seconds += log.seconds[w][stage];
      }
      report.stages[stage].critical_seconds += largest;
      critical += largest;
    }
    report.largest_window_seconds = std::max(report.largest_window_seconds, critical);
  }
}

// What one node does from the first window to the last.
class NodeReplay {
 public:
  NodeReplay(const Cube& cube, const LoadModel& model, const Options& options, std::int64_t ranks, Communicator& nodes)
      : cube_(cube), model_(model), options_(options), nodes_(nodes), analyzer_(options.analysis),
        feeder_(cube, model, options, ranks, nodes.rank(), nodes.size()), now_{model.weights(-1), -1}, next_(now_) {}

  void run() {
    const int window = options_.analysis.window;
    for (int k = 0; static_cast<std::int64_t>(k + 1) * window <= cube_.steps; ++k) {
      const std::int64_t first = static_cast<std::int64_t>(k) * window;
      window::Input input = feeder_.fill(first, now_, next_, changes_);
      std::vector<window::Rebalance> known;
      // A rebalance that takes effect within this window is known by its end.
      if (pending_ && changes_ < first + window) {
        known.push_back({changes_ - 1, options_.price});
        pending_ = false;
        now_ = next_;
      }
      input.rebalances = known;
      const window::Result result = analyzer_.analyze(nodes_, input);
      if (result.failed) throw std::invalid_argument(std::string("the analysis failed: ") + analyzer_.failure());
      if (options_.on_window) options_.on_window(nodes_.rank(), input, result);
      note(k, result);
    }
  }

  std::vector<WindowReport> windows;
  std::vector<int> rebalanced;
  StageLog stages;
  std::size_t bytes = 0;

 private:
  void note(int k, const window::Result& result) {
    windows.push_back(summary(result));
    stages.add(result);
    bytes = std::max(bytes, result.bytes);
    if (!options_.decide || result.rebalance != 1 || k >= model_.opportunities()) return;
    if (pending_) now_ = next_;  // a lag longer than a window: the later one replaces the earlier
    next_ = {model_.weights(k), k};
    changes_ = model_.effective_step(k);
    pending_ = true;
    rebalanced.push_back(k);
    windows.back().rebalanced_at = changes_;
  }

  const Cube& cube_;
  const LoadModel& model_;
  const Options& options_;
  Communicator& nodes_;
  window::Analyzer analyzer_;
  Feeder feeder_;
  Distribution now_, next_;
  std::int64_t changes_ = 0;  // from this step on, next_
  bool pending_ = false;
};

std::vector<std::int64_t> copies_of(const Cube& cube, std::int64_t ranks) {
  std::vector<std::int64_t> copies(static_cast<std::size_t>(cube.ranks), ranks / cube.ranks);
  for (std::int64_t r = 0; r < ranks % cube.ranks; ++r) ++copies[r];
  return copies;
}

}  // namespace

Report replay(const Cube& cube, const Options& options) {
  const std::vector<double> load = sum_over_regions(cube);
  const std::int64_t ranks = options.virtual_ranks > 0 ? options.virtual_ranks : cube.ranks;
  if (ranks > (std::int64_t{1} << 30))
    throw std::invalid_argument("virtual_ranks is " + std::to_string(ranks) + ", use at most 1073741824");
  if (std::isnan(options.price) || std::isinf(options.price))
    throw std::invalid_argument("price is not a finite number, give seconds");
  const LoadModel model(load, cube.ranks, cube.steps, options.analysis.window, options.analysis.hint_lag,
                        copies_of(cube, ranks));
  Options used = options;
  used.analysis.initial_price = options.price_known && options.price >= 0 ? options.price : -1;
  Report report;
  report.ranks = ranks;
  report.nodes = options.nodes > 0 ? options.nodes
                                   : static_cast<int>(std::clamp<std::int64_t>(ranks / ranks_per_node, 1, most_nodes));

  std::vector<StageLog> stages(static_cast<std::size_t>(report.nodes));
  std::vector<std::size_t> bytes(static_cast<std::size_t>(report.nodes), 0);
  run_thread_group(report.nodes, [&](Communicator& nodes) {
    NodeReplay node(cube, model, used, ranks, nodes);
    node.run();
    stages[nodes.rank()] = std::move(node.stages);
    bytes[nodes.rank()] = node.bytes;
    if (nodes.rank() != 0) return;
    report.windows = std::move(node.windows);
    report.chosen.windows = std::move(node.rebalanced);
  });
  add_up(stages, report);
  report.bytes_per_node = *std::max_element(bytes.begin(), bytes.end());
  const double price = std::max(options.price, 0.0);
  report.cost_never = schedule_cost(model, {}, price);
  report.chosen.cost = schedule_cost(model, report.chosen.windows, price);
  report.best = best_schedule(model, price);
  return report;
}

}  // namespace effort::replay
