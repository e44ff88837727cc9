#include "analytics/replay/replay.hpp"

#include "analytics/comm/thread_group.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace effort::replay {
namespace {

constexpr std::int64_t ranks_per_node = 256;
constexpr int most_nodes = 16;           // every simulated node holds the hint's arrays of all ranks
constexpr double negative_share = 0.01;  // of the total load, allowed below zero in a lossy file

// The cube without negative values.  Values too negative for the error of a lossy file are refused.
std::vector<double> repaired(const Cube& cube) {
  std::vector<double> values(cube.values.begin(), cube.values.end());
  double negative = 0, positive = 0;
  for (double& x : values) {
    if (!std::isfinite(x)) continue;  // refused later, in the rank's load
    (x < 0 ? negative : positive) += std::fabs(x);
    x = std::max(x, 0.0);
  }
  if (negative > negative_share * positive)
    throw std::invalid_argument(
        "the negative loads of the recording sum up to " + std::to_string(negative) + " s (the others to " +
        std::to_string(positive) +
        " s); repair the recording: only small negative values, from lossy compression, count as 0");
  return values;
}

std::vector<double> sum_over_regions(const Cube& cube) {
  if (cube.regions < 1 || cube.ranks < 1 || cube.steps < 1)
    throw std::invalid_argument("a recording needs regions, ranks and steps (" + std::to_string(cube.regions) + " x " +
                                std::to_string(cube.ranks) + " x " + std::to_string(cube.steps) +
                                "): give at least 1 of each");
  const std::size_t plane = static_cast<std::size_t>(cube.ranks) * static_cast<std::size_t>(cube.steps);
  if (cube.values.size() != plane * static_cast<std::size_t>(cube.regions))
    throw std::invalid_argument("the recording holds " + std::to_string(cube.values.size()) + " values (expected " +
                                std::to_string(cube.regions) + " x " + std::to_string(cube.ranks) + " x " +
                                std::to_string(cube.steps) + "): check the dimensions");
  std::vector<double> load(plane, 0.0);
  for (int g = 0; g < cube.regions; ++g)
    for (std::size_t i = 0; i < plane; ++i) load[i] += cube.values[static_cast<std::size_t>(g) * plane + i];
  return load;
}

// The end of a step, at which the ranks wait for each other.
class Meeting {
 public:
  Meeting(const Recording& recording, std::span<const double> other) : recording_(recording), other_(other) {}

  /// Goes to a step.
  /// @return its critical path, seconds
  double at(std::int64_t step, const Division& division) {
    division.loads(step, busy_);
    largest_ = 0;
    for (std::size_t r = 0; r < busy_.size(); ++r) {
      if (!other_.empty())
        busy_[r] += other_[r * static_cast<std::size_t>(recording_.steps()) + static_cast<std::size_t>(step)];
      if (recording_.copies(static_cast<int>(r)) > 0) largest_ = std::max(largest_, busy_[r]);
    }
    return largest_;
  }
  /// Seconds that a rank waits in this step.
  double waits(std::size_t rank) const { return std::max(0.0, largest_ - busy_[rank]); }

 private:
  const Recording& recording_;
  const std::span<const double> other_;
  std::vector<double> busy_;  // [ranks]
  double largest_ = 0;
};

// One node's loads in the present window, step by step.
class Feeder {
 public:
  Feeder(const Cube& cube, std::int64_t ranks, int node, int nodes, int window, bool know_waits)
      : cube_(cube), n_ranks_(static_cast<int>(ranks)), window_(window), know_waits_(know_waits) {
    const std::int64_t first = ranks * node / nodes, last = ranks * (node + 1) / nodes;
    for (std::int64_t r = first; r < last; ++r) ids_.push_back(static_cast<int>(r));
  }

  /// Adds the next step under the division.
  void add(std::int64_t step, const Division& division, const Meeting& meeting) {
    if (steps_ == 0) first_ = step;
    std::vector<double> recorded(static_cast<std::size_t>(cube_.ranks)), divided(recorded.size());
    std::vector<double> load(ids_.size(), 0.0);
    const auto regions = static_cast<std::size_t>(cube_.regions);
    by_step_.resize((static_cast<std::size_t>(steps_) + 1) * regions * ids_.size());
    double* out = &by_step_[static_cast<std::size_t>(steps_) * regions * ids_.size()];
    for (std::size_t g = 0; g < regions; ++g) {
      for (std::size_t r = 0; r < recorded.size(); ++r)
        recorded[r] = cube_.values[(g * recorded.size() + r) * static_cast<std::size_t>(cube_.steps) +
                                   static_cast<std::size_t>(step)];
      division.divide(recorded, step, divided);
      for (std::size_t i = 0; i < ids_.size(); ++i)
        load[i] += * out++ = divided[static_cast<std::size_t>(ids_[i]) % recorded.size()];
    }
    loads_.push_back(std::move(load));
    for (const int id : ids_) waited_.push_back(meeting.waits(static_cast<std::size_t>(id) % recorded.size()));
    ++steps_;
  }
  bool full() const { return steps_ == window_; }
  std::span<const int> ids() const { return ids_; }

  /// The loads of the last `n` steps, [ranks][n].
  std::vector<double> last(int n) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < ids_.size(); ++i)
      for (std::size_t s = loads_.size() - static_cast<std::size_t>(n); s < loads_.size(); ++s)
        out.push_back(loads_[s][i]);
    return out;
  }
  std::int64_t first() const { return first_; }
  /// The part of the window from a step on.
  const window::Input& window_from(std::int64_t first) {
    const auto regions = static_cast<std::size_t>(cube_.regions), before = static_cast<std::size_t>(first - first_),
               steps = static_cast<std::size_t>(steps_) - before;
    region_.resize(regions * ids_.size() * steps);
    for (std::size_t s = 0; s < steps; ++s)
      for (std::size_t row = 0; row < regions * ids_.size(); ++row)
        region_[row * steps + s] = by_step_[(before + s) * regions * ids_.size() + row];
    rank_ = last(static_cast<int>(steps));
    wait_.assign(rank_.size(), 0.0);
    for (std::size_t s = 0; s < steps; ++s)
      for (std::size_t i = 0; i < ids_.size(); ++i) wait_[i * steps + s] = waited_[(before + s) * ids_.size() + i];
    no_transfer_.assign(rank_.size(), 0.0);
    input_.first_step = first;
    input_.last_step = first_ + steps_ - 1;
    input_.n_ranks = n_ranks_;
    input_.ranks = ids_;
    input_.n_regions = cube_.regions;
    input_.region_load = region_;
    input_.rank_load = rank_;
    if (!know_waits_) return input_;
    input_.rank_wait = wait_;
    input_.delay = input_.transfer = no_transfer_;
    input_.synchronized_steps = true;
    return input_;
  }
  void next_window() {
    steps_ = 0;
    by_step_.clear();
    loads_.clear();
    waited_.clear();
  }

 private:
  const Cube& cube_;
  int n_ranks_, window_, steps_ = 0;
  std::int64_t first_ = 0;
  std::vector<int> ids_;
  std::vector<double> by_step_;             // [steps][regions][n_local]
  std::vector<std::vector<double>> loads_;  // [steps][n_local]
  std::vector<double> waited_;              // [steps][n_local]
  std::vector<double> region_, rank_, wait_, no_transfer_;
  bool know_waits_;
  window::Input input_;
};

// CPU time of each stage and window on one node, and the most memory that each stage took there.
struct StageLog {
  std::vector<std::array<double, window::n_stages>> seconds;
  std::array<std::size_t, window::n_stages> bytes{};

  void add(const window::Result& result) {
    seconds.push_back(result.stage_seconds);
    for (std::size_t stage = 0; stage < bytes.size(); ++stage)
      bytes[stage] = std::max(bytes[stage], result.stage_bytes[stage]);
  }
};

void add_up(const std::vector<StageLog>& logs, Report& report) {
  for (const StageLog& log : logs)
    for (std::size_t stage = 0; stage < log.bytes.size(); ++stage)
      report.stages[stage].bytes = std::max(report.stages[stage].bytes, log.bytes[stage]);
  for (std::size_t w = 0; w < logs[0].seconds.size(); ++w) {
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

// One node's part of the replay, from the first step to the last.
class NodeReplay {
 public:
  NodeReplay(const Cube& cube, const Recording& recording, const Options& options, std::int64_t ranks,
             Communicator& nodes)
      : recording_(recording),
        options_(options),
        nodes_(nodes),
        analyzer_(options.analysis),
        feeder_(cube, ranks, nodes.rank(), nodes.size(),
                options.analysis.window > 0 ? options.analysis.window : tile_steps, options.know_waits),
        meeting_(recording, options.other),
        division_(recording, options.rebalancer),
        cost_{0, 0, 0, recording.mean_step()} {
    if (options.analysis.window > 0) next_look_ = options.analysis.window - 1;
    lag_ = std::max(0, options.analysis.hint_lag);
  }

  void run() {
    for (std::int64_t s = 0; s < recording_.steps(); ++s) {
      cost += meeting_.at(s, division_);
      feeder_.add(s, division_, meeting_);
      ++unseen_;
      if (changes_ == s + 1) apply(s + 1);
      const bool last = s + 1 == recording_.steps(), looks = s == next_look_;
      if (!looks && !feeder_.full() && !last) continue;
      follow(s);
      if (looks) look(s);
      if (looks && options_.know_waits && !described_) describe();  // as a live run does
      if (feeder_.full() || last) {
        describe();
        close(s);
        feeder_.next_window();
      }
      stages.add(*result_);
      bytes = std::max(bytes, result_->bytes);
    }
  }

  std::vector<WindowReport> windows;
  std::vector<std::int64_t> rebalanced;
  StageLog stages;
  std::size_t bytes = 0;
  double cost = 0;

 private:
  // The ranks answer a hint before they publish the step that it comes in.  The code knows its pieces by their costs in
  // the last step, as in schedules of fixed intervals.
  void apply(std::int64_t step) {
    const Price price{std::max(options_.price, 0.0), options_.moving};
    const double paid = price.of(division_.rebalance(predicted_, recording_.mean_before(step, 1)));
    cost += paid;
    known_.push_back({step - 1, options_.price < 0 ? options_.price : paid});
    rebalanced.push_back(step);
    changes_ = -1;
  }

  void follow(std::int64_t step) {
    const std::vector<double> load = feeder_.last(unseen_);
    const window::Steps steps{step - unseen_ + 1, step, n_ranks(), feeder_.ids(), load, 0, {}, known_, false};
    if (!analyzer_.follow(nodes_, steps))
      throw std::invalid_argument(std::string("the analysis failed: ") + analyzer_.failure());
    known_.clear();
    unseen_ = 0;
  }

  int n_ranks() const { return static_cast<int>(recording_.n_ranks()); }

  void look(std::int64_t step) {
    const window::Result& result = analyzer_.look(nodes_, cost_);
    looked_ = step;
    next_look_ = step + result.next.steps;
    result_ = &result;
    const std::int64_t at = step + 1 + lag_;
    lag_ = result.next.lag;
    if (!options_.decide || !result.rebalance) return;
    predicted_.assign(result.predicted.begin(), result.predicted.begin() + recording_.ranks());
    close(step);
    if (at >= recording_.steps()) return;
    changes_ = at;
    windows.back().rebalanced_at = at;
    if (at == step + 1) apply(at);
  }

  void describe() {
    const window::Result& result =
        analyzer_.describe(nodes_, feeder_.window_from(std::max(feeder_.first(), analyzer_.since())));
    if (result.failed) throw std::invalid_argument(std::string("the analysis failed: ") + analyzer_.failure());
    result_ = &result;
    described_ = true;
    if (options_.on_window) options_.on_window(nodes_.rank(), feeder_.window_from(feeder_.first()), result);
  }

  void close(std::int64_t step) {
    if (closed_ == step) return;
    closed_ = step;
    const window::WindowLoads loads = analyzer_.close_window(nodes_);
    WindowReport report{static_cast<const window::Report&>(*result_)};
    loads.describe(report);
    if (looked_ < loads.first) report.rebalance = false;
    windows.push_back(report);
  }

  const Recording& recording_;
  const Options& options_;
  Communicator& nodes_;
  window::Analyzer analyzer_;
  Feeder feeder_;
  Meeting meeting_;
  Division division_;
  window::LookCost cost_;
  const window::Result* result_ = nullptr;
  std::vector<window::Rebalance> known_;
  std::vector<double> predicted_;  // [recorded ranks] loads by which the next division is made
  std::int64_t next_look_ = 1, changes_ = -1, looked_ = -1, closed_ = -1;
  int unseen_ = 0, lag_ = 0;
  bool described_ = false;
};

std::vector<std::int64_t> copies_of(const Cube& cube, std::int64_t ranks) {
  std::vector<std::int64_t> copies(static_cast<std::size_t>(cube.ranks), ranks / cube.ranks);
  for (std::int64_t r = 0; r < ranks % cube.ranks; ++r) ++copies[r];
  return copies;
}

}  // namespace

Report replay(const Cube& given, const Options& options) {
  const std::vector<double> values = repaired(given);
  const Cube cube{values, given.regions, given.ranks, given.steps};
  const std::int64_t ranks = options.virtual_ranks > 0 ? options.virtual_ranks : cube.ranks;
  if (ranks > (std::int64_t{1} << 30))
    throw std::invalid_argument("virtual_ranks is " + std::to_string(ranks) + ": use at most 1073741824");
  if (std::isnan(options.price) || std::isinf(options.price))
    throw std::invalid_argument("price is not a finite number: give seconds");
  if (!options.other.empty() &&
      options.other.size() != static_cast<std::size_t>(cube.ranks) * static_cast<std::size_t>(cube.steps))
    throw std::invalid_argument("other has " + std::to_string(options.other.size()) + " values (expected " +
                                std::to_string(cube.ranks) + " x " + std::to_string(cube.steps) + ")");
  std::vector<double> load = sum_over_regions(cube);
  const Recording recording(std::move(load), cube.ranks, cube.steps, copies_of(cube, ranks));
  Options used = options;
  used.analysis.initial_price = options.price_known && options.price >= 0 ? options.price : -1;
  Report report;
  report.ranks = ranks;
  report.nodes = options.nodes > 0 ? options.nodes
                                   : static_cast<int>(std::clamp<std::int64_t>(ranks / ranks_per_node, 1, most_nodes));

  std::vector<StageLog> stages(static_cast<std::size_t>(report.nodes));
  std::vector<std::size_t> bytes(static_cast<std::size_t>(report.nodes), 0);
  run_thread_group(report.nodes, [&](Communicator& nodes) {
    NodeReplay node(cube, recording, used, ranks, nodes);
    node.run();
    stages[static_cast<std::size_t>(nodes.rank())] = std::move(node.stages);
    bytes[static_cast<std::size_t>(nodes.rank())] = node.bytes;
    if (nodes.rank() != 0) return;
    report.windows = std::move(node.windows);
    report.chosen.steps = std::move(node.rebalanced);
    report.chosen.cost = node.cost;
  });
  add_up(stages, report);
  report.bytes_per_node = *std::max_element(bytes.begin(), bytes.end());
  const Price price{std::max(options.price, 0.0), options.moving};
  report.cost_never = cost_of_never(recording);
  report.best = best_schedule(recording, options.rebalancer, price);
  for (std::size_t i = 0; i < fixed_intervals.size(); ++i)
    report.cost_fixed[i] = fixed_schedule(recording, options.rebalancer, fixed_intervals[i], price).cost;
  if (report.chosen.cost < report.best.cost) report.best = {report.chosen.steps, report.chosen.cost, false};
  return report;
}

}  // namespace effort::replay
