#include "analytics/window/watch.hpp"

#include "analytics/window/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace effort::window {
namespace {

using balance::StepKind;

constexpr double largest_weight = 20.0;  // of a trial, see balance::Trial
// Steps of a batch on which all trials are evaluated; more add no information.
constexpr std::int64_t most_trial_steps = 16;
constexpr double smallest_prediction = 0.05;  // of the mean load, in the change that a rebalance aims at
// Factor per rebalance by which the results of earlier ones fade: a memory of 10 rebalances.
constexpr double move_memory = 0.9;

balance::DecisionSettings decision_settings(const Settings& s) {
  balance::DecisionSettings d;
  d.threshold = s.rebalance_threshold;
  d.initial_price = std::isfinite(s.initial_price) ? s.initial_price : -1;
  d.patience = s.patience;
  d.minimum_gain = s.minimum_gain;
  d.trials = s.trials;
  // With a fixed window, or a threshold of the user, exceeding the threshold suffices.
  d.threshold_binds = !s.trials || s.window > 0;
  d.spacing = s.window > 0 ? s.window : 1;
  return d;
}

// The decision of node 0, broadcast to the others.
struct Conclusion {
  double price, saving;
  std::int32_t rebalance, predictor;
  std::uint32_t advice;
  NextLook next;
};

double largest_of(std::span<const double> v) { return v.empty() ? 0.0 : *std::max_element(v.begin(), v.end()); }
double mean_of(std::span<const double> v) {
  return v.empty() ? 0.0 : std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

std::uint32_t advice_of(const balance::Verdict& v, bool stale) {
  std::uint32_t advice = 0;
  if (stale) advice |= advice_stale;
  if (v.trend) advice |= advice_trend;
  if (v.jump) advice |= advice_jump;
  if (v.balanced) advice |= advice_balanced;
  if (v.no_price) advice |= advice_no_price;
  if (v.too_expensive) advice |= advice_too_expensive;
  if (v.trial) advice |= advice_trial;
  return advice;
}

// Whether the trial is one of the two that find shifts and cycles.
bool shows_shifts(const balance::Trial& trial) { return trial.predictor == balance::Predictor::last && trial.age <= 2; }

std::string steps_error(const Steps& s) {
  if (s.failed) return "the node failed before";
  if (s.last_step < s.first_step || s.last_step - s.first_step > 1'000'000)
    return "the steps are out of range (" + std::to_string(s.first_step) + " to " + std::to_string(s.last_step) +
           "): pass first <= last";
  if (s.n_ranks < 1) return "the run has " + std::to_string(s.n_ranks) + " ranks: pass at least one";
  if (std::string error = ranks_error(s.ranks, s.n_ranks); !error.empty()) return error;
  const std::size_t want = s.ranks.size() * static_cast<std::size_t>(s.last_step - s.first_step + 1);
  if (s.load.size() != want)
    return "there are " + std::to_string(s.load.size()) + " loads (expected " + std::to_string(want) +
           "): pass one per rank and step";
  if (s.work.size() != want * static_cast<std::size_t>(s.n_units))
    return "there are " + std::to_string(s.work.size()) + " amounts of work (expected " +
           std::to_string(want * static_cast<std::size_t>(s.n_units)) + "): pass one per unit, rank and step";
  if (!std::all_of(s.load.begin(), s.load.end(), [](double x) { return std::isfinite(x); }))
    return "a load is not finite: leave such steps out";
  return {};
}

}  // namespace

/// The steps of one call of follow().
struct Watch::Batch {
  struct Event {
    std::size_t step;  // index in the batch of the first step of a new distribution
    double price;
  };
  const Steps& steps;
  std::size_t n_steps;
  std::vector<double> largest, mean;  // [n_steps] over all ranks
  std::vector<Event> events;
  std::vector<StepKind> kinds;  // of all steps but step 0 of the run
  std::vector<TrialStep> tried;
};

Watch::Watch(const Settings& settings) : settings_(settings), decision_(decision_settings(settings)) {}

bool Watch::exchange_shapes(Communicator& nodes, const Steps& steps, const std::string& error) {
  const Steps s = error.empty() ? steps : Steps{};
  const double shape[] = {static_cast<double>(s.n_ranks), static_cast<double>(s.first_step),
                          static_cast<double>(s.last_step), static_cast<double>(s.rebalances.size()),
                          static_cast<double>(s.n_units)};
  double rest[] = {largest_magnitude(s.load), layout_.is(s.ranks, s.n_ranks) ? 0.0 : 1.0};
  bool good = same_shape(nodes, error.empty(), shape, rest);
  if (!good) {
    why_ = error.empty() ? "another node failed or passed other dimensions" : error;
    return false;
  }
  largest_load_ = rest[0];
  if (rest[1] == 0) return true;
  good = layout_.learn(nodes, s.ranks, s.n_ranks);
  if (!good) why_ = layout_error;
  forecast_.reset(layout_.ranks.size() + 1);
  begin_distribution(s.first_step);
  sum_.assign(layout_.ranks.size(), 0.0);
  window_sum_ = sum_;
  summed_ = 0;
  window_first_ = seen_from_ = s.first_step;
  return good;
}

void Watch::begin_distribution(std::int64_t first_step) {
  peaks_.restart();
  fresh_sum_.assign(layout_.ranks.size(), 0.0);
  fresh_ = 0;
  since_ = first_fresh_ = first_step;
  predicted_.clear();
}

// [n_local + 1] load after / before a rebalance that aims at equal loads by the last prediction; 1 for the mean.
std::vector<double> Watch::aimed_change() const {
  const double mean = mean_of(predicted_);
  std::vector<double> change;
  for (int rank : layout_.ranks)
    change.push_back(mean > 0 ? mean / std::max(predicted_[static_cast<std::size_t>(rank)], smallest_prediction * mean)
                              : 1.0);
  change.push_back(1.0);
  return change;
}

bool Watch::follow(Communicator& nodes, const Steps& steps) {
  if (!exchange_shapes(nodes, steps, why_.empty() ? steps_error(steps) : why_)) return false;
  Batch batch{steps, static_cast<std::size_t>(steps.last_step - steps.first_step + 1), {}, {}, {}, {}, {}};
  pending_.insert(pending_.end(), steps.rebalances.begin(), steps.rebalances.end());
  exchange_steps(nodes, batch);
  for (std::size_t s = 0; s < batch.n_steps; ++s) follow_step(batch, s);
  exchange_trials(nodes, batch);
  last_step_ = steps.last_step;
  return true;
}

// Exchanges the largest and mean load of every step, and how far the loads after a rebalance are from its aim (equal
// loads) and from the prediction (as if nothing had been moved).
void Watch::exchange_steps(Communicator& nodes, Batch& batch) {
  const std::size_t n = batch.n_steps;
  batch.largest.assign(n, 0.0);
  ExactSum sum(largest_load_ * layout_.n_ranks);
  const std::size_t to_aim = sum.reserve(n + 2) + n, to_prediction = to_aim + 1, first = first_rebalanced(batch);
  const double aim = std::min(mean_of(predicted_), largest_load_);
  const double* load = batch.steps.load.data();
  for (std::size_t i = 0; i < layout_.ranks.size(); ++i, load += n) {
    for (std::size_t s = 0; s < n; ++s) {
      batch.largest[s] = std::max(batch.largest[s], load[s]);
      sum.add_to(s, load[s]);
    }
    if (first == n || predicted_.empty()) continue;
    const double predicted = std::min(predicted_[static_cast<std::size_t>(layout_.ranks[i])], largest_load_);
    sum.add_to(to_aim, std::fabs(load[first] - aim));
    sum.add_to(to_prediction, std::fabs(load[first] - predicted));
  }
  nodes.allreduce(std::span<double>(batch.largest), ReduceOp::max);
  sum.reduce(nodes);
  for (std::size_t s = 0; s < n; ++s) batch.mean.push_back(sum[s] / layout_.n_ranks);
  if (first == n || predicted_.empty()) return;
  to_aim_ = move_memory * to_aim_ + sum[to_aim];
  to_prediction_ = move_memory * to_prediction_ + sum[to_prediction];
}

// Index in the batch of the first step after a rebalance; n_steps: none.
std::size_t Watch::first_rebalanced(const Batch& batch) const {
  std::int64_t first = batch.steps.last_step + 1;
  for (const Rebalance& r : pending_) first = std::min(first, std::max(r.step + 1, batch.steps.first_step));
  return static_cast<std::size_t>(first - batch.steps.first_step);
}

void Watch::follow_step(Batch& batch, std::size_t s) {
  const std::int64_t step = batch.steps.first_step + static_cast<std::int64_t>(s);
  std::erase_if(pending_, [&](const Rebalance& r) {
    if (r.step >= step) return false;
    batch.events.push_back({s, r.price});
    if (to_aim_ < to_prediction_ && !predicted_.empty())
      forecast_.redistribute(aimed_change());
    else
      forecast_.reset(layout_.ranks.size() + 1);
    begin_distribution(step);
    return true;
  });
  std::vector<double> load;
  for (std::size_t i = 0; i < layout_.ranks.size(); ++i) load.push_back(batch.steps.load[i * batch.n_steps + s]);
  load.push_back(batch.mean[s]);
  for (std::size_t i = 0; i < layout_.ranks.size(); ++i) {
    fresh_sum_[i] += load[i];
    sum_[i] += load[i];
    window_sum_[i] += load[i];
  }
  ++fresh_;
  ++summed_;
  if (step == 0) return;  // step 0 contains start-up and is not representative
  const StepKind kind = peaks_.observe(batch.largest[s], batch.mean[s]);
  batch.kinds.push_back(kind);
  const std::size_t every = (batch.n_steps + most_trial_steps - 1) / most_trial_steps;
  for (const balance::Trial& trial : forecast_.trials())
    if (s % every == 0 || shows_shifts(trial)) batch.tried.push_back(evaluate(trial, load, s));
  forecast_.observe(load, cost_of_work(batch, s), kind);
}

void Watch::set_unit_costs(std::span<const double> unit_cost) {
  const bool known = std::all_of(unit_cost.begin(), unit_cost.end(), [](double c) { return c >= 0; });
  unit_cost_.assign(unit_cost.begin(), known ? unit_cost.end() : unit_cost.begin());
}

// [n_local + 1] modelled cost of the ranks' work, seconds, then the mean load.  Empty if unit costs are not known.
std::vector<double> Watch::cost_of_work(const Batch& batch, std::size_t s) const {
  if (unit_cost_.empty() || unit_cost_.size() != static_cast<std::size_t>(batch.steps.n_units)) return {};
  std::vector<double> cost(layout_.ranks.size(), 0.0);
  for (std::size_t u = 0; u < unit_cost_.size(); ++u)
    for (std::size_t i = 0; i < cost.size(); ++i)
      cost[i] += unit_cost_[u] * batch.steps.work[(u * cost.size() + i) * batch.n_steps + s];
  for (double& w : cost) w = std::isfinite(w) && w > 0 ? w : 0.0;
  cost.push_back(batch.mean[s]);
  return cost;
}

// This node's part of the loss of a step under a trial's weights.
Watch::TrialStep Watch::evaluate(const balance::Trial& trial, std::span<const double> load, std::size_t step) const {
  TrialStep tried{step, trial.predictor, trial.age, 0.0, 0};
  const ExactSum scale(largest_load_ * layout_.n_ranks * largest_weight);
  for (std::size_t i = 0; i < layout_.ranks.size(); ++i) {
    // The division would have given work to an idle rank.  Assume the mean load for it.
    const double value = trial.weight[i] < largest_weight ? load[i] * trial.weight[i] : load.back();
    tried.largest = std::max(tried.largest, value);
    tried.sum += scale.rounded(value);
  }
  return tried;
}

// Exchanges the losses under trials.  Node 0 then learns from the steps in order.
void Watch::exchange_trials(Communicator& nodes, Batch& batch) {
  std::vector<double> largest;
  ExactSum sum(largest_load_ * layout_.n_ranks * largest_weight);
  for (const TrialStep& tried : batch.tried) {
    largest.push_back(tried.largest);
    sum.add(std::span<const std::int64_t>(&tried.sum, 1));
  }
  if (!largest.empty()) {
    nodes.allreduce(std::span<double>(largest), ReduceOp::max);
    sum.reduce(nodes);
  }
  std::size_t next = 0, event = 0, kind = 0;
  for (std::size_t s = 0; s < batch.n_steps; ++s) {
    const bool decides = nodes.rank() == 0;
    for (; event < batch.events.size() && batch.events[event].step == s; ++event)
      if (decides) decision_.rebalanced(batch.events[event].price);
    const std::int64_t step = batch.steps.first_step + static_cast<std::int64_t>(s);
    if (step == 0) continue;
    balance::StepFacts facts;
    facts.largest = batch.largest[s];
    facts.mean = batch.mean[s];
    facts.kind = batch.kinds[kind++];
    double last = -1, before = -1;
    for (; next < batch.tried.size() && batch.tried[next].step == s; ++next) {
      if (!(sum[next] > 0)) continue;
      const TrialStep& tried = batch.tried[next];
      const double loss = std::max(0.0, largest[next] / sum[next] * layout_.n_ranks - 1);
      if (decides) facts.trials.push_back({tried.predictor, tried.age, loss});
      if (tried.predictor != balance::Predictor::last) continue;
      if (tried.age == 1) last = loss;
      if (tried.age == 2) before = loss;
    }
    facts.shift = shifts_.observe(last, before);
    if (facts.shift && since_ < step) forecast_.begin_regime(static_cast<int>(batch.steps.last_step - step) + 2);
    if (decides) decision_.observe(facts);
  }
}

// Results that depend on arrays held by all nodes are computed on each, in the same order and with basic arithmetic
// only, so that they are bitwise equal.
void Watch::look(Communicator& nodes, const LookCost& cost, Result& result) {
  const bool stale = !pending_.empty() || fresh_ == 0;
  const bool fresh = fresh_ > 0;
  std::vector<double> mine = fresh ? fresh_sum_ : sum_;
  for (double& x : mine) x /= fresh ? fresh_ : std::max(summed_, 1);
  result.first = fresh ? first_fresh_ : seen_from_;
  result.last = last_step_;
  result.load = layout_.gather(nodes, mine);
  const double mean = mean_of(result.load), largest = largest_of(result.load);
  result.imbalance = mean > 0 ? largest / mean - 1 : 0.0;
  result.worst_rank = static_cast<int>(std::max_element(result.load.begin(), result.load.end()) - result.load.begin());

  Conclusion c{};
  if (nodes.rank() == 0) {
    balance::LookFacts facts;
    facts.stale = stale;
    facts.imbalance = result.imbalance;
    facts.unawaited = unawaited_;
    if (settings_.window == 0) facts.next_look = cadence_.soonest(cost);
    for (std::size_t p = 0; p < facts.known.size(); ++p)
      facts.known[p] = forecast_.knows(static_cast<balance::Predictor>(p));
    const balance::Verdict v = decision_.decide(facts);
    c.price = v.price;
    c.saving = v.expected_saving;
    c.rebalance = v.rebalance ? 1 : 0;
    c.predictor = static_cast<std::int32_t>(v.predictor);
    c.advice = advice_of(v, stale);
    c.next = settings_.window > 0 ? NextLook{settings_.window, settings_.hint_lag}
                                  : cadence_.next(cost, v.rebalance || stale ? 1 : v.patience, v.urgency);
    if (settings_.hint_lag >= 0) c.next = {std::max(c.next.steps, settings_.hint_lag), settings_.hint_lag};
  }
  nodes.bcast(std::span<Conclusion>(&c, 1), 0);
  result.rebalance_cost = c.price;
  result.expected_saving = c.saving;
  result.rebalance = c.rebalance != 0;
  result.advice = c.advice;
  result.next = c.next;

  result.prediction_error = -1;
  if (fresh && !predicted_.empty() && mean > 0) {
    double error = 0;
    for (std::size_t r = 0; r < predicted_.size(); ++r) error += std::fabs(predicted_[r] - result.load[r]);
    result.prediction_error = error / (mean * layout_.n_ranks);
  }
  const auto predictor = static_cast<balance::Predictor>(c.predictor);
  if (!stale && forecast_.knows(predictor)) {
    std::vector<double> predicted(forecast_.columns());
    forecast_.predict(predictor, c.next.lag + 0.5 * (1 + c.next.steps), predicted);
    predicted.pop_back();
    predicted_ = result.predicted = layout_.gather(nodes, predicted);
  } else {
    result.predicted = result.load;
    predicted_.clear();
  }
  result.gain_per_step = largest_of(result.predicted) - mean_of(result.predicted);

  sum_.assign(layout_.ranks.size(), 0.0);
  fresh_sum_.assign(layout_.ranks.size(), 0.0);
  summed_ = fresh_ = 0;
  first_fresh_ = seen_from_ = last_step_ + 1;
}

WindowLoads Watch::close_window(Communicator& nodes) {
  const std::int64_t steps = last_step_ + 1 - window_first_;
  double largest = largest_of(window_sum_);
  nodes.allreduce(std::span<double>(&largest, 1), ReduceOp::max);
  ExactSum sum(largest * layout_.n_ranks);
  sum.total(window_sum_);
  sum.reduce(nodes);
  std::int64_t worst = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < layout_.ranks.size(); ++i)
    if (window_sum_[i] == largest) worst = std::min<std::int64_t>(worst, layout_.ranks[i]);
  nodes.allreduce(std::span<std::int64_t>(&worst, 1), ReduceOp::min);
  const double mean = sum[0] / layout_.n_ranks;
  const WindowLoads closed{window_first_, last_step_, mean > 0 ? largest / mean - 1 : 0.0, static_cast<int>(worst)};
  window_first_ += steps;
  window_sum_.assign(layout_.ranks.size(), 0.0);
  return closed;
}

std::size_t Watch::bytes() const {
  return sizeof *this + forecast_.bytes() +
         (sum_.size() + fresh_sum_.size() + window_sum_.size() + predicted_.size()) * sizeof(double) + layout_.bytes();
}

}  // namespace effort::window
