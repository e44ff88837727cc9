#include "analytics/number_text.hpp"
#include "analytics/window/costs.hpp"
#include "analytics/window/exchange.hpp"
#include "analytics/window/judge.hpp"
#include "analytics/window/layout.hpp"
#include "analytics/window/local_loads.hpp"
#include "analytics/window/measure.hpp"
#include "analytics/window/strata.hpp"
#include "analytics/window/waiting.hpp"
#include "analytics/window/watch.hpp"
#include "analytics/window/window.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace effort::window {
namespace {

void check(bool good, const char* name, double value, const char* allowed) {
  if (!good) throw std::invalid_argument(std::string(name) + " is " + number_text(value) + ": use " + allowed);
}

void check(const Settings& s) {
  check(s.window >= 0, "window", s.window, "at least 1 step, or 0 for automatic");
  check(s.window == 0 || s.hint_lag >= 0, "hint_lag", s.hint_lag, "at least 0 steps");
  check(std::isfinite(s.rebalance_threshold) && s.rebalance_threshold >= 0, "rebalance_threshold",
        s.rebalance_threshold, "a number >= 0");
  check(s.strata >= 0, "strata", s.strata, "a number of groups, or 0 for automatic");
  check(s.strata_level >= 0, "strata_level", s.strata_level, "0 or a wavelet level");
  check(s.confidence > 0 && s.confidence < 1, "confidence", s.confidence, "a number between 0 and 1");
  check(s.relative_error > 0 && std::isfinite(s.relative_error), "relative_error", s.relative_error, "a number > 0");
  check(s.patience > 0 && std::isfinite(s.patience), "patience", s.patience, "a number > 0");
  check(s.minimum_gain >= 0 && std::isfinite(s.minimum_gain), "minimum_gain", s.minimum_gain, "a number >= 0");
}

/// The means of the regions, rank by rank.
void take_region_loads(Pass& pass) {
  const std::size_t n_local = pass.rank_mean.size(), n_regions = static_cast<std::size_t>(pass.input.n_regions);
  pass.result.region_load.resize(n_local * n_regions);
  for (std::size_t g = 0; g < n_regions; ++g)
    for (std::size_t l = 0; l < n_local; ++l)
      pass.result.region_load[l * n_regions + g] = pass.row_mean[g * n_local + l];
}

}  // namespace

const char* stage_name(Stage stage) {
  switch (stage) {
    case Stage::loads: return "loads";
    case Stage::strata: return "strata";
    case Stage::prediction: return "prediction";
    case Stage::cost_model: return "cost model";
    case Stage::decision: return "decision";
  }
  return "unknown";
}

struct Analyzer::State {
  explicit State(Settings s);

  Settings settings;
  bool failed = false;
  std::string why;
  Layout layout;
  int rows = 0;  // regions, and one row for the rest of the load; 0: not known
  RowPeaks peaks;
  UnitCosts costs;
  StrataFinder strata;
  Watch watch;
  std::uint32_t decided = 0, described = 0;  // advice of the last look and the last description
  Result known;                              // of the last look and the last description

  bool follow(Communicator& nodes, const Steps& steps);
  const Result& look(Communicator& nodes, const LookCost& cost);
  const Result& describe(Communicator& nodes, const Input& input);
  Result give_up(const std::string& reason);

 private:
  Agreed exchange_shapes(Communicator& nodes, Pass& pass, const std::string& error);
  void reshape(const Input& input, bool layout_changed);
  std::uint32_t advice() const;
  std::size_t bytes() const;
  std::array<std::size_t, n_stages> stage_bytes(const Pass& pass) const;
};

Analyzer::Analyzer(Settings settings) : state_(std::make_unique<State>(settings)) {}
Analyzer::~Analyzer() = default;

bool Analyzer::follow(Communicator& nodes, const Steps& steps) { return state_->follow(nodes, steps); }
const Result& Analyzer::look(Communicator& nodes, const LookCost& cost) { return state_->look(nodes, cost); }
const Result& Analyzer::describe(Communicator& nodes, const Input& input) { return state_->describe(nodes, input); }
WindowLoads Analyzer::close_window(Communicator& nodes) { return state_->watch.close_window(nodes); }
std::int64_t Analyzer::since() const noexcept { return state_->watch.since(); }
const char* Analyzer::failure() const noexcept { return state_->why.c_str(); }

Analyzer::State::State(Settings s) : settings(s), strata(s), watch(s) { check(s); }

Result Analyzer::State::give_up(const std::string& reason) {
  failed = true;
  if (why.empty()) why = reason;
  Result result;
  result.failed = true;
  return result;
}

bool Analyzer::State::follow(Communicator& nodes, const Steps& steps) {
  const double clock = thread_cpu_seconds();
  Steps passed = steps;
  passed.failed = passed.failed || failed;
  known.stage_seconds = {};
  const bool good = watch.follow(nodes, passed);
  if (!good) known = give_up(watch.why());
  known.stage_seconds[static_cast<std::size_t>(Stage::loads)] += thread_cpu_seconds() - clock;
  return good;
}

const Result& Analyzer::State::look(Communicator& nodes, const LookCost& cost) {
  const double clock = thread_cpu_seconds();
  watch.look(nodes, cost, known);
  decided = known.advice;
  known.advice = decided | described;
  known.bytes = bytes();
  known.stage_seconds[static_cast<std::size_t>(Stage::decision)] += thread_cpu_seconds() - clock;
  return known;
}

const Result& Analyzer::State::describe(Communicator& nodes, const Input& input) {
  Pass pass(input, known);
  double clock = thread_cpu_seconds();
  const auto stop = [&](Stage stage) {
    const double now = thread_cpu_seconds();
    known.stage_seconds[static_cast<std::size_t>(stage)] += now - clock;
    clock = now;
  };
  // A node that has failed takes part in the first exchange only; all nodes then stop together.
  std::string error = failed || input.failed ? "the node failed before" : input_error(input);
  if (error.empty()) error = take_means(pass);
  pass.agreed = exchange_shapes(nodes, pass, error);
  if (pass.agreed.failed)
    return known = give_up(error.empty() ? "another node failed or passed other dimensions" : error);
  const bool changed = pass.agreed.layout_changed;
  if (changed && !layout.learn(nodes, input.ranks, input.n_ranks)) return known = give_up(layout_error);
  reshape(input, changed);
  known.n_regions = input.n_regions;
  measure(nodes, pass, peaks);
  stop(Stage::loads);
  costs.fit(nodes, layout, pass);
  watch.set_unit_costs(pass.predicting);
  stop(Stage::cost_model);
  strata.find(nodes, layout, pass);
  stop(Stage::strata);
  described = judge(nodes, pass, advice());
  const Waiting waiting = find_waiting(nodes, layout, pass);
  described |= waiting.advice;
  watch.set_unawaited(waiting.unawaited);
  known.advice = decided | described;
  take_region_loads(pass);
  known.bytes = bytes();
  known.stage_bytes = stage_bytes(pass);
  stop(Stage::decision);
  return known;
}

Agreed Analyzer::State::exchange_shapes(Communicator& nodes, Pass& pass, const std::string& error) {
  const Input in = error.empty() ? pass.input : Input{};
  const double shape[] = {static_cast<double>(in.n_ranks), static_cast<double>(in.n_regions),
                          static_cast<double>(in.n_units), static_cast<double>(in.first_step),
                          static_cast<double>(in.last_step)};
  double rest[] = {layout.is(in.ranks, in.n_ranks) ? 0.0 : 1.0,
                   in.step_wall.empty() ? 0.0 : 1.0,
                   std::max(largest_magnitude(in.rank_load), largest_magnitude(pass.row_mean)),
                   largest_magnitude(in.rank_wait),
                   in.delay.empty() && !in.ranks.empty() ? 1.0 : 0.0,
                   in.synchronized_steps || in.ranks.empty() ? 0.0 : 1.0};
  Agreed agreed;
  agreed.failed = !same_shape(nodes, error.empty(), shape, rest);
  agreed.layout_changed = rest[0] > 0;
  agreed.wall = rest[1] > 0;
  agreed.largest_load = rest[2];
  agreed.largest_wait = rest[3];
  agreed.waits = rest[4] == 0;
  agreed.synchronized_steps = rest[5] == 0;
  return agreed;
}

// New regions do not invalidate what was learned about ranks as a whole, but a change of the ranks does.
void Analyzer::State::reshape(const Input& input, bool layout_changed) {
  if (layout_changed) {
    strata.restart();
    costs.restart();
  }
  if (!layout_changed && rows == input.n_regions + 1) return;
  rows = input.n_regions + 1;
  peaks.restart(rows);
}

std::uint32_t Analyzer::State::advice() const {
  std::uint32_t advice = 0;
  if (costs.slow_node()) advice |= advice_slow_node;
  if (costs.collinear()) advice |= advice_collinear_units;
  if (peaks.periodic()) advice |= advice_periodic;
  return advice;
}

std::array<std::size_t, n_stages> Analyzer::State::stage_bytes(const Pass& pass) const {
  const Result& r = pass.result;
  const auto size = [](const auto&... arrays) { return (std::size_t{0} + ... + (arrays.size() * sizeof(arrays[0]))); };
  std::array<std::size_t, n_stages> out{};
  const auto of = [&out](Stage stage) -> std::size_t& { return out[static_cast<std::size_t>(stage)]; };
  const auto steps = static_cast<std::size_t>(pass.steps), rows_of_steps = static_cast<std::size_t>(pass.rows) * steps;
  of(Stage::loads) = watch.bytes() + layout.bytes() + peaks.bytes() + size(pass.rank_mean, pass.row_mean) +
                     2 * rows_of_steps * sizeof(double);
  of(Stage::cost_model) = costs.bytes() + size(r.speed);
  of(Stage::prediction) = size(r.load, r.predicted, r.region_load, r.delay, r.delay_region);
  // The signatures are a copy of the regions' means.
  of(Stage::strata) = strata.bytes() + size(r.stratum, r.medoid_rank, r.stratum_region_load, r.region_load);
  of(Stage::decision) = sizeof(balance::Decision);
  return out;
}

std::size_t Analyzer::State::bytes() const {
  return sizeof(State) + watch.bytes() + layout.bytes() + strata.bytes() + costs.bytes() + peaks.bytes();
}

}  // namespace effort::window
