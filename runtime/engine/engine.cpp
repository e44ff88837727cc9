#include "runtime/engine/engine.hpp"

#include "analytics/window/exchange.hpp"
#include "runtime/engine/kokkos_scope.hpp"
#include "runtime/engine/report.hpp"
#include "runtime/engine/snapshot_job.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/quiet_write.hpp"
#include "runtime/status.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <numeric>
#include <system_error>

#include <pthread.h>

namespace effort::engine {

using measure::Definition;
using measure::Kind;

namespace {

/// Of the largest and the mean load of every step in the file: what is read from a chart of them, at one or two bytes per step.
constexpr double step_loads_nrmse = 1e-3;

window::Settings analysis_settings(const config::Settings& s) {
  window::Settings w;
  w.window = s.window;
  w.hint_lag = s.hint_lag;
  w.rebalance_threshold = s.rebalance_threshold;
  w.strata = s.strata;
  w.strata_level = s.strata_level;
  w.initial_price = s.rebalance_price;
  w.minimum_gain = s.rebalance_gain;
  w.patience = s.rebalance_patience;
  w.strata_check = s.strata_level > 0;
  w.trials = !s.threshold_given && s.rebalance_price < 0;
  return w;
}

void smooth(double& mean, double value) { mean = mean > 0 ? mean + 0.2 * (value - mean) : value; }

// Adds node-local rows [n_local][columns] into those of the run's table, the first `steps` columns.
/// [n_local][steps] += the columns of [n_local][columns] from `first` on.
void add_columns(double* to, const std::vector<double>& from, int n_local, int columns, int first, int steps) {
  for (int r = 0; r < n_local; ++r)
    for (int c = 0; c < steps; ++c) to[static_cast<std::size_t>(r) * static_cast<std::size_t>(steps) + static_cast<std::size_t>(c)] += from[static_cast<std::size_t>(r) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(first + c)];
}

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

node::Appointment first_look(const config::Settings& s) {
  // The run's first step is start-up.
  if (s.window == 0) return {1, 1 + (s.hint_lag >= 0 ? s.hint_lag : 1)};
  return {s.window - 1, s.window - 1 + s.hint_lag};
}

Engine::Engine(config::Settings settings, NodeSetup setup, node::Segment& segment, Communicator& nodes,
               std::function<void()> leave, Placement* placement)
    : settings_(std::move(settings)), setup_(std::move(setup)), segment_(segment), nodes_(nodes),
      leave_(std::move(leave)), placement_(placement), collector_(segment, names_, settings_.tile_steps()),
      history_(segment.n_local(), settings_, nodes.size()),
      analyzer_(std::make_unique<window::Analyzer>(analysis_settings(settings_))),
      appointment_(first_look(settings_)),
      strata_log_(record::StrataLog::usual_bound(setup_.n_ranks)) {}

Engine::~Engine() { stop(); }

void Engine::start() {
  own_thread_ = true;
  try {
    thread_.start([this] {
      pthread_setname_np(pthread_self(), "effort");
      run();
    });
  } catch (const std::system_error& e) {
    throw Error(Status::memory, std::string("the background thread could not be started (") + e.what() +
                                    "): allow this user more processes and threads (ulimit -u, or the batch system's limit)");
  }
}

void Engine::join() { thread_.join(); }

void Engine::leave_asleep() { thread_.detach(); }

void Engine::request_stop() {
  stop_.store(true, std::memory_order_release);
  segment_.header().work.notify();
}

void Engine::stop() {
  request_stop();
  join();
}

void Engine::run() {
  try {
    std::vector<cpu_set_t> cpus;
    for (int r = 0; r < segment_.n_local(); ++r) cpus.push_back(segment_.rank(r).cpus);
    if (own_thread_)
      setup_.notes.push_back(place_this_thread(settings_.pin, placement_, cpus));
    KokkosScope kokkos;
    loop();
  } catch (const std::exception& e) {
    record_failure(e.what());
  } catch (...) {
    record_failure("an unknown exception");
  }
  finished_.store(true, std::memory_order_release);
  segment_.header().news.notify();
}

void Engine::record_failure(const char* what) noexcept {
  try {
    failure_ = what;
  } catch (...) {
  }
  try {
    if (nodes_.rank() == 0 && settings_.report != "off")
      report_ = "effort: switched off after step " + std::to_string(followed_) + ", the run went on without it: " + what +
                "\n  no snapshot was written; a remedy, if there is one, is in the message\n";
  } catch (...) {
  }
  failed_.store(true, std::memory_order_release);
  // The others first: they can be told only while this node's ranks, waiting for the next hint, still drive the exchange.
  if (leave_) leave_();
  segment_.board().publish_switched_off(segment_.board().newest() + 1);
  segment_.header().news.notify();
}

void Engine::loop() {
  while (!stop_.load(std::memory_order_acquire)) {
    const std::uint32_t ticket = segment_.header().work.ticket();
    look_for_failed_ranks();
    const bool came = collector_.drain();
    const bool complete = collector_.advance(pass_end());

    std::string path;
    if (collector_.snapshot_step(snapshots_done_ + 1, path) <= pass_end()) {
      const int status = write_snapshot(path, Occasion::asked);
      segment_.board().publish_snapshot(++snapshots_done_, status);
      segment_.header().news.notify();
      continue;
    }
    if (complete) {
      const std::int64_t steps = collector_.final_steps();
      if (steps >= 0 && steps <= pass_end()) return finish(steps);
      if (!process_steps()) return;
      continue;
    }
    if (came || history_.work() || (step_loads_ && step_loads_->work())) continue;
    // Ranks notify at the end of a window and when a ring fills; the timeout only covers a stop.
    segment_.header().work.wait(ticket, 100'000'000);
  }
}

/// A rank that cannot go on ends the analysis for all.
void Engine::look_for_failed_ranks() {
  for (int r = 0; r < segment_.n_local(); ++r)
    if (segment_.rank(r).failed.load(std::memory_order_acquire) != 0) throw Error(Status::memory, segment_.rank(r).failure);
}

/// Returns the steps after which the run ends, the fewest of all nodes; -1 while no node is at its end.
std::int64_t Engine::share_names_and_answers(std::int64_t final_steps) {
  constexpr std::int64_t goes_on = std::numeric_limits<std::int64_t>::max();
  std::vector<RebalanceAnswer> answers = collector_.take_rebalances();
  const auto ended = collector_.steps_of_ranks();
  const bool uneven = final_steps >= 0 && std::any_of(ended.begin(), ended.end(), [&](const auto& e) { return e.first != final_steps; });
  std::int64_t news[5] = {names_.has_news(), !answers.empty(), final_steps < 0 ? goes_on : final_steps, final_steps < 0 ? -goes_on : -final_steps, uneven};
  nodes_.allreduce(std::span(news), ReduceOp::max);
  const std::int64_t first_end = -news[3];
  if (first_end != goes_on && (first_end != news[2] || news[4])) note_uneven_steps(first_end);
  if (news[0]) names_.share(nodes_);
  new_rebalances_.clear();
  if (news[1]) unite_answers(answers);
  return first_end == goes_on ? -1 : first_end;
}

/// Which ranks called effort_progress_step more or less often than most.  Collective.
void Engine::note_uneven_steps(std::int64_t fewest) {
  struct Ended {
    std::int64_t rank, steps, final;
  };
  const auto ended = collector_.steps_of_ranks();
  std::vector<Ended> mine;
  for (std::size_t l = 0; l < ended.size(); ++l) mine.push_back({setup_.ranks[l], ended[l].first, ended[l].second});
  const auto all = nodes_.allgatherv(std::span<const Ended>(mine));
  std::map<std::int64_t, std::int64_t> times;
  for (const Ended& e : all.values) ++times[e.steps];
  const std::int64_t usual = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
  constexpr int most = 3;
  int n = 0;
  std::string others;
  for (const Ended& e : all.values)
    if (e.steps != usual && ++n <= most) others += ", rank " + std::to_string(e.rank) + " " + std::to_string(e.steps) + (e.final ? "" : " or more");
  uneven_steps_ = "the ranks took different numbers of steps, the fewest " + std::to_string(fewest) + " (most ranks " + std::to_string(usual) + others + (n > most ? ", ..." : "") +
                  "): from an extra or missing call on, steps that do not belong together were compared, and what came later is not in here; call "
                  "effort_progress_step equally often on all ranks";
}

/// What the host does wrong, as far as it is known.
std::vector<std::string> Engine::faults() const {
  std::vector<std::string> out;
  // Where ranks count steps differently, what happened in one step seems to have happened in several.
  if (const std::string& wrong = uneven_steps_.empty() ? partly_bracketed_ : uneven_steps_; !wrong.empty()) out.push_back(wrong);
  if (settings_.load_metric != "time" && settings_.load_metric != "cpu_time" && wall_seconds_ > 0 && critical_path_ == 0)
    out.push_back("no rank counted any '" + settings_.load_metric + "' in a compute region, so every load is 0: correct LOAD_METRIC, or add to it (effort_metric)");
  return out;
}

void Engine::unite_answers(const std::vector<RebalanceAnswer>& answers) {
  const auto all = nodes_.allgatherv(std::span<const RebalanceAnswer>(answers));
  std::map<std::int64_t, RebalanceAnswer> by_step;
  for (const RebalanceAnswer& a : all.values) {
    const auto [at, fresh] = by_step.try_emplace(a.step, a);
    if (!fresh) at->second.add(a);
  }
  for (const auto& [step, a] : by_step) {
    if (a.answer < 0) setup_.notes.push_back("the rebalance callback failed with " + std::to_string(a.answer) + " at step " + std::to_string(step));
    if (a.answer <= 0) continue;
    new_rebalances_.push_back({a.last_old_step(), a.seconds()});
    ++rebalances_done_;
    prices_ += std::max(0.0, a.seconds());
    record_rebalance(a);
  }
}

void Engine::record_rebalance(const RebalanceAnswer& a) {
  // What happens until the next hint belongs to the window that the last one was made from.  A bracketed rebalance happens
  // before its step's hint.
  const std::int64_t before = a.step + (a.bracketed > 0 ? 0 : 1);
  std::size_t w = windows_.size();
  while (w > 0 && window_looks_[w - 1].due >= before) --w;
  if (w > 0) {
    windows_[w - 1].rebalanced = true;
    windows_[w - 1].rebalanced_at = a.step;
  } else {
    early_rebalance_ = a.step;
  }
  if (a.bracketed == 0) return;
  // Between a look and its hint: the ranks delivered that hint as stale.
  for (std::size_t i = w; i < windows_.size(); ++i) {
    if (window_looks_[i].last >= a.step) break;
    windows_[i].rebalance = false;
    windows_[i].advice |= window::advice_stale;
  }
  if (a.bracketed < setup_.n_ranks && partly_bracketed_.empty())
    partly_bracketed_ = "the rebalance of step " + std::to_string(a.step) + " was bracketed by " + std::to_string(a.bracketed) + " of " + std::to_string(setup_.n_ranks) +
                        " ranks: call effort_rebalance_begin and _end on all of them, in the same step, or hints differ";
}

/// Up to where steps are read next: the look that is due, or the end of the window that is to be described.
std::int64_t Engine::pass_end() const { return std::min(appointment_.last, collector_.window_end()); }

window::Steps Engine::steps_for(std::int64_t last) {
  const WindowBlock& block = collector_.block();
  const auto columns = static_cast<std::size_t>(block.steps), first = static_cast<std::size_t>(followed_ + 1 - block.first_step),
             end = static_cast<std::size_t>(last + 1 - block.first_step);
  const auto n_local = static_cast<std::size_t>(segment_.n_local());
  const auto cut = [&](const std::vector<double>& from, double* to) {
    for (std::size_t r = 0; r < n_local; ++r) to = std::copy(from.data() + r * columns + first, from.data() + r * columns + end, to);
  };
  const std::size_t per_row = n_local * (end - first), n_units = names_.run().of(Definition::unit).size();
  step_load_.assign(per_row, 0.0);
  cut(block.load, step_load_.data());
  step_work_.assign(n_units * per_row, 0.0);
  for (const auto& [unit, values] : block.work) cut(values, step_work_.data() + names_.global(Definition::unit, unit) * per_row);
  return {followed_ + 1, last, setup_.n_ranks, setup_.ranks, step_load_, static_cast<int>(n_units), step_work_, new_rebalances_, false};
}

/// What the window at hand holds of the present distribution.
window::Input Engine::described_input() {
  const WindowBlock& block = collector_.block();
  const int n_local = segment_.n_local();
  const auto first = static_cast<int>(std::max<std::int64_t>(0, analyzer_->since() - block.first_step));
  const auto steps = static_cast<int>(followed_ + 1 - block.first_step) - first;
  const auto per_row = static_cast<std::size_t>(n_local) * static_cast<std::size_t>(steps);
  const auto& regions = names_.run().of(Definition::region);
  const auto& units = names_.run().of(Definition::unit);
  const auto& metrics = names_.run().of(Definition::metric);
  std::uint32_t load_metric = 0;
  while (load_metric < metrics.size() && metrics[load_metric].name != settings_.load_metric) ++load_metric;

  region_load_.assign(regions.size() * per_row, 0.0);
  for (const auto& [key, values] : block.series) {
    const std::uint32_t region = names_.global(Definition::region, key.region);
    if (regions[region].kind == Kind::compute && names_.global(Definition::metric, key.metric) == load_metric)
      add_columns(region_load_.data() + region * per_row, values, n_local, block.steps, first, steps);
  }
  work_.assign(units.size() * per_row, 0.0);
  for (const auto& [unit, values] : block.work)
    add_columns(work_.data() + names_.global(Definition::unit, unit) * per_row, values, n_local, block.steps, first, steps);
  for (auto [to, from] : {std::pair{&rank_load_, &block.load}, {&rank_wait_, &block.wait}, {&step_wall_, &block.wall}}) {
    to->assign(per_row, 0.0);
    add_columns(to->data(), *from, n_local, block.steps, first, steps);
  }

  window::Input in;
  in.first_step = block.first_step + first;
  in.last_step = followed_;
  in.n_ranks = setup_.n_ranks;
  in.ranks = setup_.ranks;
  in.n_regions = static_cast<int>(regions.size());
  in.region_load = region_load_;
  in.rank_load = rank_load_;
  in.n_units = static_cast<int>(units.size());
  in.work = work_;
  // Elapsed seconds say something beside a load in seconds only, and would make hints from counts depend on timing.
  if (settings_.load_metric == "time" || settings_.load_metric == "cpu_time") {
    in.rank_wait = rank_wait_;
    in.step_wall = step_wall_;
  }
  return in;
}

window::LookCost Engine::look_cost() const { return {cpu_per_look_, latency_, wait_, step_seconds_}; }

void Engine::measure_step_time(std::int64_t first, std::int64_t last) {
  const WindowBlock& block = collector_.block();
  double sum = 0;
  for (std::int64_t s = first; s <= last; ++s) {
    double largest = 0;
    for (std::size_t r = 0; r < static_cast<std::size_t>(segment_.n_local()); ++r)
      largest = std::max(largest, block.wall[r * static_cast<std::size_t>(block.steps) + static_cast<std::size_t>(s - block.first_step)]);
    sum += largest;
  }
  if (first > 0) smooth(step_seconds_, sum / static_cast<double>(last - first + 1));
}

bool Engine::process_steps() {
  const std::int64_t last = pass_end();
  const bool looks = last == appointment_.last;
  if (looks && before_look) before_look(looks_);
  const std::int64_t ends = share_names_and_answers(-1);
  if (ends >= 0) {
    // Another node's ranks have finalized, these have not: they are let go at the next due hint.
    end(ends);
    segment_.board().publish_switched_off(segment_.board().newest() + 1);
    segment_.header().news.notify();
    return false;
  }
  const std::uint64_t began = measure::monotonic_ns();
  const std::int64_t began_cpu = measure::thread_cpu_ns();
  measure_step_time(followed_ + 1, last);
  if (!analyzer_->follow(nodes_, steps_for(last))) throw Error(Status::internal, "the analysis of step " + std::to_string(last) + " failed: " + analyzer_->failure());
  followed_ = last;
  const bool full = last == collector_.window_end();
  const int steps = static_cast<int>(last + 1 - collector_.block().first_step);
  if (looks) {
    known_ = &analyzer_->look(nodes_, look_cost());
    // A fixed window's hint describes it.  Where looks come more often, hints do not wait for that, but for the first one's.
    if (settings_.window > 0 || !described_) describe_window();
    look();
    smooth(latency_, static_cast<double>(measure::monotonic_ns() - began) * 1e-9);
    smooth(cpu_per_look_, static_cast<double>(measure::thread_cpu_ns() - began_cpu) * 1e-9);
  }
  if (!full) return true;
  if (settings_.window == 0) describe_window();
  remember_description(*known_);
  remember_window(*known_);
  close_window(steps);
  collector_.next_window();
  const std::int64_t begin = collector_.block().first_step;
  if (settings_.snapshot_every > 0 && begin / settings_.snapshot_every > (begin - steps) / settings_.snapshot_every)
    lost_status_ = std::min(lost_status_, write_snapshot("", Occasion::periodic));
  return true;
}

void Engine::describe_window() {
  known_ = &analyzer_->describe(nodes_, described_input());
  if (known_->failed) throw Error(Status::internal, "the description of step " + std::to_string(followed_) + " failed: " + analyzer_->failure());
  described_ = true;
}

/// Publishes what the look has found, and makes the next appointment.
void Engine::look() {
  const node::Appointment now = appointment_;
  appointment_ = {now.last + known_->next.steps, now.last + known_->next.steps + known_->next.lag};
  publish_hint(*known_, now);
  if (now.last == now.due) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int l = 0; l < segment_.n_local(); ++l) least = std::min(least, segment_.rank(l).last_wait_ns.load(std::memory_order_relaxed));
    smooth(wait_, static_cast<double>(least) * 1e-9);
  }
  ++looks_;
  last_look_ = now;
  if (known_->rebalance) remember_window(*known_);
}

void Engine::publish_hint(const window::Result& r, node::Appointment now) {
  std::vector<std::string> region_names, unit_names;
  for (const auto& item : names_.run().of(Definition::region)) region_names.push_back(item.name);

  // Units whose cost could not be told are absent, not invented.
  std::vector<double> cost, error;
  const auto& units = names_.run().of(Definition::unit);
  const bool all_known = !r.unit_cost.empty() && std::all_of(r.unit_cost.begin(), r.unit_cost.end(), [](double c) { return c >= 0; });
  if (all_known)
    for (std::size_t u = 0; u < units.size() && u < r.unit_cost.size(); ++u) {
      unit_names.push_back(units[u].name);
      cost.push_back(r.unit_cost[u]);
      error.push_back(r.unit_cost_error[u]);
    }

  const auto n_regions = static_cast<std::size_t>(r.n_regions);
  const auto n_local = static_cast<std::size_t>(segment_.n_local());
  std::vector<double> region_load(n_regions * n_local);
  for (std::size_t g = 0; g < n_regions; ++g)
    for (std::size_t l = 0; l < n_local; ++l) region_load[l * n_regions + g] = r.local_region_load[g * n_local + l];

  std::vector<double> speed = r.speed;
  speed.resize(r.load.size(), 1.0);  // without work units, no rank is told from another

  node::HintContent hint;
  hint.numbers.look = looks_;
  hint.numbers.now = now;
  hint.numbers.next = appointment_;
  hint.numbers.n_regions = r.n_regions;
  hint.numbers.n_units = static_cast<std::int32_t>(cost.size());
  hint.numbers.report = r;
  hint.load = r.load;
  hint.predicted = r.predicted;
  hint.speed = speed;
  hint.stratum = r.stratum;
  hint.medoid_rank = r.medoid_rank;
  hint.stratum_region_load = r.stratum_region_load;
  hint.stratum_stride = n_regions;
  hint.region_load = region_load;
  hint.region_names = region_names;
  hint.unit_names = unit_names;
  hint.unit_cost = cost;
  hint.unit_cost_error = error;
  // Every node has what it publishes: one that fails before this keeps the hint from all, and after it from none.
  nodes_.allreduce(std::span<std::int64_t>(), ReduceOp::max);
  segment_.board().publish(hint);
  segment_.header().news.notify();
}

/// The looks since the last window that was remembered are one: up to a recommended rebalance, or a described window's end.
void Engine::remember_window(const window::Result& r) {
  if (windowed_ == followed_) return;
  const window::WindowLoads loads = analyzer_->close_window(nodes_);
  windowed_ = followed_;
  record::Window w;
  static_cast<window::Report&>(w) = r;
  loads.describe(w);
  w.rebalance = r.rebalance && last_look_.last >= loads.first;
  if (r.worst_region >= 0) w.worst_region_name = names_.run().of(Definition::region)[static_cast<std::size_t>(r.worst_region)].name;
  if (windows_.empty() && early_rebalance_ >= 0) {
    w.rebalanced = true;
    w.rebalanced_at = early_rebalance_;
  }
  // The wait for the hint before this one; this one is not due yet.
  std::int64_t waited = 0;
  for (int l = 0; l < segment_.n_local(); ++l) waited = std::max(waited, segment_.rank(l).wait_ns.exchange(0, std::memory_order_relaxed));
  if (!windows_.empty()) windows_.back().wait_seconds = static_cast<double>(waited) * 1e-9;
  windows_.push_back(std::move(w));
  window_looks_.push_back(last_look_);
}

void Engine::remember_description(const window::Result& r) {
  const auto& regions = names_.run().of(Definition::region);
  last_strata_ = {collector_.block().first_step, followed_, r.stratum, r.medoid_rank, {}, r.stratum_region_load};
  for (const auto& item : regions) last_strata_.region.push_back(item.name);
  unit_costs_.clear();
  const auto& units = names_.run().of(Definition::unit);
  for (std::size_t u = 0; u < r.unit_cost.size() && u < units.size(); ++u)
    if (r.unit_cost[u] >= 0) unit_costs_.push_back({units[u].name, r.unit_cost[u], r.unit_cost_error[u]});
  if (nodes_.rank() == 0) remember_for_the_file(r);
}

/// What only the node that writes the file keeps of every window.
void Engine::remember_for_the_file(const window::Result& r) {
  if (r.strata > 0) strata_log_.add(last_strata_.first, last_strata_.last, r.strata, r.stratum);
  for (const record::UnitCost& cost : unit_costs_)
    window_costs_.push_back({last_strata_.first, cost.name, cost.seconds_per_unit, cost.error});
  if (!unit_costs_.empty() && r.speed.size() == static_cast<std::size_t>(setup_.n_ranks)) speed_ = r.speed;
}

void Engine::close_window(int steps) {
  if (steps <= 0) return;
  const WindowBlock& block = collector_.block();
  history_.append(block, steps, names_);
  // The critical path needs every step's largest rank of the run; its mean, the sum.
  const auto n_steps = static_cast<std::size_t>(steps);
  std::vector<double> largest(2 * n_steps, 0.0);
  for (int r = 0; r < segment_.n_local(); ++r)
    for (std::size_t c = 0; c < n_steps; ++c) {
      const std::size_t i = static_cast<std::size_t>(r) * static_cast<std::size_t>(block.steps) + c;
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
  for (int r = 0; r < segment_.n_local(); ++r)
    for (std::size_t c = 0; c < n_steps; ++c) sum.add_to(c, block.load[static_cast<std::size_t>(r) * static_cast<std::size_t>(block.steps) + c]);
  sum.reduce(nodes_);
  std::vector<double> paths(largest.begin(), largest.begin() + steps);
  for (std::size_t c = 0; c < n_steps; ++c) paths.push_back(sum[c] / setup_.n_ranks);
  critical_path_ += critical;
  mean_path_ += std::accumulate(paths.begin() + steps, paths.end(), 0.0);
  wall_seconds_ += wall;
  if (nodes_.rank() != 0) return;
  if (!step_loads_) step_loads_ = std::make_unique<codec::History>(2, codec::Target::nrmse(step_loads_nrmse));
  step_loads_->append(paths, n_steps);
}

void Engine::finish(std::int64_t steps) { end(share_names_and_answers(steps)); }

void Engine::end(std::int64_t steps) {
  if (known_) remember_window(*known_);
  close_window(static_cast<int>(std::max<std::int64_t>(0, steps - collector_.block().first_step)));
  const int status = steps > 0 ? write_snapshot("", Occasion::end) : 0;
  segment_.board().publish_finished(status);
  segment_.header().news.notify();
}

double Engine::own_cpu_seconds() const { return static_cast<double>(measure::thread_cpu_ns()) * 1e-9 + writing_cpu_seconds_; }

/// The run goes on; the loss is counted, and said in the next snapshot and by finalize.
int Engine::lose_snapshot(const char* why) {
  ++lost_snapshots_;
  setup_.notes.push_back(std::string("a snapshot was lost: ") + why);
  failure_ = setup_.notes.back();
  return static_cast<int>(Status::io);
}

/// Waits for the periodic snapshot that is being written, if there is one.
void Engine::finish_writing() {
  if (!writing_.valid()) return;
  try {
    writing_cpu_seconds_ += writing_.get();
  } catch (const std::exception& e) {
    lost_status_ = lose_snapshot(e.what());
  }
}

/// Runs `write` on a thread of its own; where none is to be had, at once.
void Engine::write_aside(std::function<double()> write) {
  const auto task = std::make_shared<std::packaged_task<double()>>(std::move(write));
  writing_ = task->get_future();
  try {
    writer_.start([task] { (*task)(); });
  } catch (const std::system_error&) {
    (*task)();
  }
}

/// Collective.  Returns the least status of all nodes; of the last snapshot, with that of periodic ones, of which nobody
/// has been told yet.
int Engine::write_snapshot(const std::string& path, Occasion occasion) {
  finish_writing();
  const bool final = occasion == Occasion::end;
  SnapshotJob job(nodes_, history_, segment_, setup_.ranks);
  auto parts = job.gather(final, own_cpu_seconds());
  std::int64_t status = final ? lost_status_ : 0;
  if (nodes_.rank() == 0) {
    try {
      record::Run run = describe();
      if (step_loads_) run.step_loads = final ? step_loads_->serialize_final() : step_loads_->serialize();
      job.complete(run, names_.run(), setup_.n_ranks);
      if (final && settings_.verbose && settings_.report != "summary")
        for (const std::string& fault : faults()) say(fault);
      if (final && settings_.report != "off") report_ = summary(run, {critical_path_, mean_path_, prices_, rebalances_done_});
      auto write = [run = std::move(run), parts = std::move(parts), path, directory = settings_.snapshot_dir] {
        const std::int64_t start = measure::thread_cpu_ns();
        write_snapshot_file(run, parts, directory, path);
        return static_cast<double>(measure::thread_cpu_ns() - start) * 1e-9;
      };
      // Hints do not wait for a file system.
      if (occasion == Occasion::periodic)
        write_aside(std::move(write));
      else
        write();
    } catch (const std::exception& e) {
      status = lose_snapshot(e.what());
    }
  }
  nodes_.allreduce(std::span(&status, 1), ReduceOp::min);
  return static_cast<int>(status);
}

record::Run Engine::describe() {
  record::Run run;
  run.version = EFFORT_VERSION_STRING;
  run.name = setup_.name;
  run.job = setup_.job;
  run.place(setup_.node_of_rank);
  run.window = settings_.window;
  run.hint_lag = std::max(0, settings_.hint_lag);
  run.load_metric = settings_.load_metric;
  run.wall_seconds = wall_seconds_;
  run.critical_path = critical_path_;
  run.mean_path = mean_path_;
  run.lost_snapshots = lost_snapshots_;
  for (const auto& m : names_.run().of(Definition::metric)) run.metrics.push_back({m.name, m.unit});
  for (const auto& m : names_.run().of(Definition::module)) {
    const std::size_t space = m.unit.find(' ');
    run.modules.push_back({m.name, m.unit.substr(space + 1), m.unit.substr(0, space)});
  }
  run.windows = windows_;
  if (!last_strata_.label.empty()) run.strata.push_back(last_strata_);
  run.moves = strata_log_.moves();
  run.unit_costs = unit_costs_;
  run.window_costs = window_costs_;
  run.speeds = speed_runs(speed_);
  run.notes = setup_.notes;
  for (const auto& note : names_.run().of(Definition::note)) run.notes.push_back(note.name);
  for (const auto& m : names_.run().of(Definition::module))
    if (m.conflict) run.notes.push_back("module '" + m.name + "' is not the same file on all ranks: offsets are looked up in that of the first");
  for (const auto& region : names_.run().of(Definition::region))
    if (region.conflict) run.notes.push_back("region '" + region.name + "' was registered with different kinds; the first holds");
  for (std::string& fault : faults()) run.notes.push_back(std::move(fault));
  run.notes.insert(run.notes.end(), settings_.notes.begin(), settings_.notes.end());
  return run;
}

}  // namespace effort::engine
