#include "runtime/history/run_log.hpp"

#include "analytics/window/exchange.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <span>

namespace effort::engine {

using measure::Definition;

namespace {

/// Runs of equal speeds.
std::vector<record::SpeedRun> speed_runs(const std::vector<double>& speed) {
  std::vector<record::SpeedRun> out;
  for (const double time : speed) {
    if (out.empty() || out.back().time != time) out.push_back({0, time});
    ++out.back().count;
  }
  return out;
}

}  // namespace

RunLog::RunLog(const config::Settings& settings, NodeSetup setup, const NameUnion& names, node::Segment& segment,
               Communicator& nodes)
    : settings_(settings), setup_(std::move(setup)), names_(names), segment_(segment), nodes_(nodes) {}

void RunLog::add_rebalance(const RebalanceAnswer& a) {
  ++rebalances_;
  prices_ += std::max(0.0, a.seconds());
  // A rebalance before the next hint belongs to the window of the last hint.  A bracketed rebalance precedes its step's
  // hint.
  const std::int64_t before = a.step + (a.bracketed > 0 ? 0 : 1);
  std::size_t w = windows_.size();
  while (w > 0 && window_looks_[w - 1].due >= before) --w;
  if (w > 0) {
    windows_[w - 1].rebalanced = true;
    windows_[w - 1].rebalanced_at = a.step;
    ++windows_[w - 1].rebalances;
  } else {
    early_rebalance_ = a.step;
    ++early_rebalances_;
  }
  if (a.bracketed == 0) return;
  // The rebalance was between a look and its hint, so the ranks delivered that hint as stale.
  for (std::size_t i = w; i < windows_.size(); ++i) {
    if (window_looks_[i].last >= a.step) break;
    windows_[i].rebalance = false;
    windows_[i].advice |= window::advice_stale;
  }
  if (a.bracketed < setup_.n_ranks && partly_bracketed_.empty())
    partly_bracketed_ =
        "the rebalance of step " + std::to_string(a.step) + " was bracketed by " + std::to_string(a.bracketed) +
        " of " + std::to_string(setup_.n_ranks) +
        " ranks: call effort_rebalance_begin and effort_rebalance_end on all ranks in the same step, or hints differ";
}

void RunLog::add_window(const window::Result& r, const window::WindowLoads& loads, node::Appointment last_look) {
  record::Window w;
  static_cast<window::Report&>(w) = static_cast<const window::Report&>(r);
  loads.describe(w);
  w.rebalance = r.rebalance && last_look.last >= loads.first;
  if (r.worst_region >= 0)
    w.worst_region_name = names_.run().of(Definition::region)[static_cast<std::size_t>(r.worst_region)].name;
  if (windows_.empty() && early_rebalance_ >= 0) {
    w.rebalanced = true;
    w.rebalanced_at = early_rebalance_;
    w.rebalances = early_rebalances_;
  }
  // This is the wait for the previous hint, because the present one is not due yet.
  std::int64_t waited = 0;
  for (int l = 0; l < segment_.n_local(); ++l)
    waited = std::max(waited, segment_.rank(l).wait_ns.exchange(0, std::memory_order_relaxed));
  if (!windows_.empty()) windows_.back().wait_seconds = static_cast<double>(waited) * 1e-9;
  windows_.push_back(std::move(w));
  window_looks_.push_back(last_look);
}

void RunLog::add_description(const window::Result& r, std::int64_t first, std::int64_t last) {
  if (nodes_.rank() != 0) return;
  std::vector<std::string> regions;
  for (const auto& item : names_.run().of(Definition::region)) regions.push_back(item.name);
  strata_.add({first, last, r.stratum, r.medoid_rank, std::move(regions), r.stratum_region_load});
  unit_costs_.clear();
  const auto& units = names_.run().of(Definition::unit);
  for (std::size_t u = 0; u < r.unit_cost.size() && u < units.size(); ++u)
    if (r.unit_cost[u] >= 0) unit_costs_.push_back({units[u].name, r.unit_cost[u], r.unit_cost_error[u]});
  for (const record::UnitCost& cost : unit_costs_)
    window_costs_.push_back({first, cost.name, cost.seconds_per_unit, cost.error});
  if (!unit_costs_.empty() && r.speed.size() == static_cast<std::size_t>(setup_.n_ranks)) speed_ = r.speed;
}

void RunLog::add_steps(const WindowBlock& block, int steps) {
  // The critical path needs the maximum over the run's ranks in every step; the mean needs the sum.
  const auto n_steps = static_cast<std::size_t>(steps);
  std::vector<double> largest(2 * n_steps, 0.0);
  for (int l = 0; l < segment_.n_local(); ++l)
    for (std::size_t c = 0; c < n_steps; ++c) {
      const std::size_t i = static_cast<std::size_t>(l) * static_cast<std::size_t>(block.steps) + c;
      largest[c] = std::max(largest[c], block.load[i]);
      largest[n_steps + c] = std::max(largest[n_steps + c], block.wall[i]);
    }
  nodes_.allreduce(std::span(largest), ReduceOp::max);
  double critical = 0, wall = 0;
  for (std::size_t c = 0; c < n_steps; ++c) {
    critical += largest[c];
    wall += largest[n_steps + c];
  }
  window::ExactSum sum(critical * setup_.n_ranks);
  sum.reserve(n_steps);
  for (int l = 0; l < segment_.n_local(); ++l)
    for (std::size_t c = 0; c < n_steps; ++c)
      sum.add_to(c, block.load[static_cast<std::size_t>(l) * static_cast<std::size_t>(block.steps) + c]);
  sum.reduce(nodes_);
  wall_seconds_ += wall;
  if (nodes_.rank() != 0) return;
  std::vector<double> loads(largest.begin(), largest.begin() + steps);
  for (std::size_t c = 0; c < n_steps; ++c) loads.push_back(sum[c] / setup_.n_ranks);
  step_loads_.append(loads);
}

void RunLog::add_uneven_steps(std::int64_t fewest, const std::vector<std::pair<std::int64_t, bool>>& ended) {
  struct Ended {
    std::int64_t rank, steps, final;
  };
  std::vector<Ended> mine;
  for (std::size_t l = 0; l < ended.size(); ++l) mine.push_back({setup_.ranks[l], ended[l].first, ended[l].second});
  const auto all = nodes_.allgatherv(std::span<const Ended>(mine));
  std::map<std::int64_t, std::int64_t> times;
  for (const Ended& e : all.values) ++times[e.steps];
  const std::int64_t usual = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) {
                               return a.second < b.second;
                             })->first;
  constexpr int most = 3;
  int n = 0;
  std::string others;
  for (const Ended& e : all.values)
    if ((e.steps != usual || !e.final) && ++n <= most)
      others += ", rank " + std::to_string(e.rank) + " " + std::to_string(e.steps) + (e.final ? "" : " or more");
  uneven_steps_ =
      "the ranks took different numbers of steps, the fewest " + std::to_string(fewest) + " (most ranks " +
      std::to_string(usual) + others + (n > most ? ", ..." : "") +
      "): from the first extra or missing call on, the analysis compared different steps of the ranks, and the last "
      "results are missing; call effort_progress_step the same number of times on all ranks";
}

void RunLog::add_failed_callback(std::int64_t step, int answer) {
  Failures& f = failed_callbacks_[answer];
  if (f.times++ == 0) f.first = step;
  f.last = step;
}

std::vector<std::string> RunLog::faults() const {
  std::vector<std::string> out;
  // If ranks count steps differently, events of one step appear to belong to several steps.
  if (const std::string& wrong = uneven_steps_.empty() ? partly_bracketed_ : uneven_steps_; !wrong.empty())
    out.push_back(wrong);
  if (settings_.load_metric != "time" && settings_.load_metric != "cpu_time" && wall_seconds_ > 0 &&
      step_loads_.critical_path() == 0)
    out.push_back("no rank counted any '" + settings_.load_metric +
                  "' in a compute region, so every load is 0: correct LOAD_METRIC, or call effort_metric");
  if ((settings_.load_metric == "time" || settings_.load_metric == "cpu_time") && wall_seconds_ > 0 &&
      step_loads_.critical_path() == 0)
    out.push_back(
        "no rank spent any time in a COMPUTE region, so every load is 0: call effort_begin and effort_end around the "
        "computation, or preload libeffort_pmpi");
  for (const auto& [answer, f] : failed_callbacks_)
    out.push_back(
        "the rebalance callback failed with " + std::to_string(answer) + " at step " + std::to_string(f.first) +
        (f.times > 2
             ? ", and " + std::to_string(f.times - 1) + " more times, the last at step " + std::to_string(f.last)
         : f.times == 2 ? " and step " + std::to_string(f.last)
                        : std::string()));
  return out;
}

record::Run RunLog::describe(bool final) const {
  record::Run run;
  run.version = EFFORT_VERSION_STRING;
  run.name = setup_.name;
  run.job = setup_.job;
  run.place(setup_.node_of_rank);
  run.window = settings_.window;
  run.hint_lag = std::max(0, settings_.hint_lag);
  run.load_metric = settings_.load_metric;
  run.wall_seconds = wall_seconds_;
  run.lost_snapshots = lost_snapshots_;
  for (const auto& m : names_.run().of(Definition::metric)) run.metrics.push_back({m.name, m.unit});
  for (const auto& m : names_.run().of(Definition::module)) {
    const std::size_t space = m.unit.find(' ');
    run.modules.push_back({m.name, m.unit.substr(space + 1), m.unit.substr(0, space)});
  }
  run.windows = windows_;
  strata_.describe(run);
  run.unit_costs = unit_costs_;
  run.window_costs = window_costs_;
  run.speeds = speed_runs(speed_);
  step_loads_.describe(run, final);
  run.notes = setup_.notes;
  for (const auto& note : names_.run().of(Definition::note)) run.notes.push_back(note.name);
  for (const auto& m : names_.run().of(Definition::module))
    if (m.conflict)
      run.notes.push_back("module '" + m.name +
                          "' is not the same file on all ranks: call paths are resolved with the first rank's file");
  for (const auto& region : names_.run().of(Definition::region))
    if (region.conflict)
      run.notes.push_back("region '" + region.name +
                          "' was registered with different kinds, and the first one is used: use one kind everywhere");
  for (std::string& fault : faults()) run.notes.push_back(std::move(fault));
  run.notes.insert(run.notes.end(), settings_.notes.begin(), settings_.notes.end());
  return run;
}

}  // namespace effort::engine
