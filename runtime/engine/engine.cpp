#include "runtime/engine/engine.hpp"

#include "runtime/engine/host_threads.hpp"

#include "runtime/engine/hint.hpp"
#include "runtime/engine/kokkos_scope.hpp"
#include "runtime/status.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <system_error>

#include <pthread.h>

namespace effort::engine {

namespace {

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

/// Threads of this process that sleep because their exchange is lost, of this session or earlier ones.
std::atomic<int> asleep{0};

}  // namespace

node::Appointment first_look(const config::Settings& s) {
  // The first step of a run contains start-up work.
  if (s.window == 0) return {1, 1 + std::max(s.hint_lag, 0)};
  return {s.window - 1, s.window - 1 + s.hint_lag};
}

Engine::Engine(config::Settings settings, NodeSetup setup, node::Segment& segment, Communicator& nodes,
               std::function<void()> leave, Placement* placement)
    : settings_(std::move(settings)),
      segment_(segment),
      nodes_(nodes),
      leave_(std::move(leave)),
      placement_(placement),
      log_(settings_, std::move(setup), names_, segment, nodes),
      input_(settings_, log_.setup().n_ranks, log_.setup().ranks, names_),
      collector_(segment, names_, settings_.tile_steps()),
      waits_(settings_.comm_waits ? std::make_unique<WaitFinder>(log_.setup().ranks, log_.setup().n_ranks, names_)
                                  : nullptr),
      history_(segment.n_local(), settings_, nodes.size()),
      analyzer_(std::make_unique<window::Analyzer>(analysis_settings(settings_))),
      rules_(settings_, log_.setup().n_ranks, log_.setup().ranks, names_),
      schedule_(settings_.trace, log_.setup().ranks, settings_.tile_steps()),
      tracer_(settings_.trace.on ? std::make_unique<TraceKeeper>(settings_, log_, segment, names_, collector_, rules_,
                                                                 schedule_, nodes)
                                 : nullptr),
      snapshots_(settings_, log_, history_, names_, segment, nodes, tracer_.get()),
      appointment_(first_look(settings_)) {
  if (waits_ && tracer_) waits_->follow_messages(log_.setup().ranks, log_.setup().n_ranks, segment, collector_);
  if (settings_.trace.on) {
    if (std::string absent = absent_ranks(settings_.trace, log_.setup().n_ranks); !absent.empty())
      log_.note(std::move(absent));
  }
}

Engine::~Engine() { stop(); }

void Engine::start() {
  own_thread_ = true;
  try {
    thread_.start([this] {
      pthread_setname_np(pthread_self(), "effort");
      run();
    });
  } catch (const std::system_error& e) {
    throw Error(Status::memory,
                std::string("the background thread could not be started (") + e.what() +
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
    for (int l = 0; l < segment_.n_local(); ++l) cpus.push_back(segment_.rank(l).cpus);
    if (own_thread_) log_.note(place_this_thread(settings_.pin, placement_, cpus));
    if (settings_.load_metric == "time") {
      if (std::string crowded = crowded_units(cpus); !crowded.empty()) log_.note(std::move(crowded));
    }
    KokkosScope kokkos;
    watch_ranks();
    loop();
    watch_.reset();
  } catch (const std::exception& e) {
    record_failure(e.what());
  } catch (...) {
    record_failure("an unknown exception");
  }
  finished_.store(true, std::memory_order_release);
  segment_.header().news.notify();
}

void Engine::lose_nodes(const char* why) noexcept {
  leave_ = nullptr;  // there is no further exchange
  record_failure(why);
  sleeps_ = true;
  ++asleep;
}

void Engine::record_failure(const char* what) noexcept {
  if (failed()) return;
  try {
    failure_ = what;
  } catch (...) {
  }
  try {
    if (nodes_.rank() == 0 && settings_.report != "off")
      report_ = "effort: switched off after step " + std::to_string(followed_) +
                "; the run went on without it: " + what + "\n  no snapshot was written\n";
  } catch (...) {
  }
  failed_.store(true, std::memory_order_release);
  // Tell the other nodes first: this is only possible while this node's ranks wait for the next hint and drive the
  // exchange.
  if (leave_) leave_();
  segment_.board().publish_switched_off(segment_.board().newest() + 1);
  segment_.header().news.notify();
}

void Engine::loop() {
  int idle = 0;
  while (!stop_.load(std::memory_order_acquire)) {
    const std::uint32_t ticket = segment_.header().work.ticket();
    look_for_failed_ranks();
    const bool came = collector_.drain();
    look_for_lost_ranks();
    const bool complete = collector_.advance(pass_end());

    std::string path;
    if (collector_.snapshot_step(snapshots_.asked() + 1, path) <= pass_end()) {
      snapshots_.write_asked(path);
      continue;
    }
    if (complete) {
      const std::int64_t steps = collector_.final_steps();
      if (steps >= 0 && steps <= pass_end()) return finish(steps);
      if (!process_steps()) return;
      continue;
    }
    if (came || history_.work() || log_.work()) continue;
    // About once a second.  A process ends with its last thread; this thread must not keep it alive.
    if (++idle % 10 == 0 && own_thread_ && host_has_ended()) break;
    // Ranks notify at the end of a window and when a ring fills.  The timeout only serves to notice a stop request.
    segment_.header().work.wait(ticket, 100'000'000);
  }
}

bool Engine::host_has_ended() const noexcept {
  const int own = (sleeps_ ? 0 : 1) + (watch_ && watch_->runs() ? 1 : 0);
  return host_threads_have_ended(own + asleep.load(std::memory_order_relaxed));
}

/// A rank that cannot continue ends the analysis for all ranks.
void Engine::look_for_failed_ranks() {
  for (int l = 0; l < segment_.n_local(); ++l)
    if (segment_.rank(l).failed.load(std::memory_order_acquire) != 0)
      throw Error(Status::memory, segment_.rank(l).failure);
}

/// With a trace, the loss of a rank is noticed at once, because little time may be left to save what it has recorded.
void Engine::watch_ranks() {
  if (!tracer_ || !tracer_->records()) return;
  std::vector<pid_t> processes;
  for (int l = 0; l < segment_.n_local(); ++l) processes.push_back(segment_.rank(l).process);
  try {
    watch_ = std::make_unique<RankWatch>(processes, [this] { segment_.header().work.notify(); });
  } catch (const std::system_error& e) {
    log_.note(std::string("the trace will not be saved if a rank is lost: ") + e.what());
  }
}

void Engine::look_for_lost_ranks() {
  if (!watch_) return;
  const auto ranks = collector_.steps_of_ranks();
  for (std::size_t l = 0; l < ranks.size(); ++l) {
    if (!watch_->ended(l) || ranks[l].second) continue;
    tracer_->save_after_loss(collector_.block().first_step);
    watch_.reset();
    return;
  }
}

/// Returns the steps after which the run ends, the fewest of all nodes; -1 while no node is at its end.
std::int64_t Engine::share_names_and_answers(std::int64_t final_steps) {
  constexpr std::int64_t goes_on = std::numeric_limits<std::int64_t>::max();
  std::vector<RebalanceAnswer> answers = collector_.take_rebalances();
  const auto ended = collector_.steps_of_ranks();
  const bool uneven = final_steps >= 0 &&
                      std::any_of(ended.begin(), ended.end(), [&](const auto& e) { return e.first != final_steps; });
  std::int64_t news[5] = {names_.has_news(), !answers.empty(), final_steps < 0 ? goes_on : final_steps,
                          final_steps < 0 ? -goes_on : -final_steps, uneven};
  nodes_.allreduce(std::span(news), ReduceOp::max);
  const std::int64_t first_end = -news[3];
  if (first_end != goes_on && (first_end != news[2] || news[4])) log_.add_uneven_steps(first_end, ended);
  if (news[0]) names_.share(nodes_);
  new_rebalances_.clear();
  if (news[1]) unite_answers(answers);
  return first_end == goes_on ? -1 : first_end;
}

void Engine::unite_answers(const std::vector<RebalanceAnswer>& answers) {
  const auto all = nodes_.allgatherv(std::span<const RebalanceAnswer>(answers));
  std::map<std::int64_t, RebalanceAnswer> by_step;
  for (const RebalanceAnswer& a : all.values) {
    const auto [at, fresh] = by_step.try_emplace(a.step, a);
    if (!fresh) at->second.add(a);
  }
  for (const auto& [step, a] : by_step) {
    if (a.answer < 0) log_.add_failed_callback(step, a.answer);
    if (a.answer <= 0) continue;
    new_rebalances_.push_back({a.last_old_step(), a.seconds()});
    log_.add_rebalance(a);
    rebalanced_ = true;
  }
}

/// The step up to which to read: that of the next look, or the end of the next window to be described.
std::int64_t Engine::pass_end() const { return std::min(appointment_.last, collector_.window_end()); }

bool Engine::process_steps() {
  const std::int64_t last = pass_end();
  const bool looks = last == appointment_.last;
  if (looks && before_look) before_look(looks_);
  const std::int64_t ends = share_names_and_answers(-1);
  if (ends >= 0) {
    // Another node's ranks have finalized but this node's have not: release these at the next due hint.
    end(ends);
    segment_.board().publish_switched_off(segment_.board().newest() + 1);
    segment_.header().news.notify();
    return false;
  }
  meter_.begin();
  meter_.add_steps(collector_.block(), followed_ + 1, last);
  if (!analyzer_->follow(nodes_, input_.steps(collector_.block(), followed_ + 1, last, new_rebalances_)))
    throw Error(Status::internal, "the analysis of step " + std::to_string(last) + " failed: " + analyzer_->failure());
  followed_ = last;
  const bool full = last == collector_.window_end();
  const int steps = static_cast<int>(last + 1 - collector_.block().first_step);
  if (looks) {
    known_ = &analyzer_->look(nodes_, meter_.cost());
    // The hint of a fixed window includes its description.  If looks are more frequent, only the first hint waits for a
    // description, so its cost says nothing about later ones.
    const bool is_typical = settings_.window > 0 || described_;
    if (settings_.window > 0 || !described_) describe_window();
    deliver_hint();
    if (is_typical) meter_.end();
  }
  if (!full) return true;
  if (settings_.window == 0) describe_window();
  log_.add_description(*known_, collector_.block().first_step, followed_);
  remember_window(*known_);
  keep_detail(followed_);
  close_window(steps);
  collector_.next_window();
  const std::int64_t begin = collector_.block().first_step;
  if (settings_.snapshot_every > 0 && begin / settings_.snapshot_every > (begin - steps) / settings_.snapshot_every)
    snapshots_.write_periodic();
  return true;
}

void Engine::describe_window() {
  if (waits_) waits_->find(nodes_, collector_, followed_);
  known_ = &analyzer_->describe(nodes_, input_.window(collector_.block(), analyzer_->since(), followed_));
  if (known_->failed)
    throw Error(Status::internal,
                "the description of step " + std::to_string(followed_) + " failed: " + analyzer_->failure());
  described_ = true;
  if (tracer_ || schedule_.decides_in_advance())
    rules_.measure(nodes_, collector_.block(), analyzer_->since(), followed_);
  if (followed_ == collector_.window_end()) schedule_.learn(*known_, rules_, collector_.block().first_step);
}

/// Chooses the sample of coming windows, if samples are drawn in advance.
void Engine::decide_sample() {
  if (!described_ || !schedule_.is_due(appointment_.due)) return;
  schedule_.decide(*known_, rules_, tracer_ ? tracer_->affordable() : log_.setup().n_ranks, appointment_.due);
}

/// Publishes the look's results and schedules the next look.
void Engine::deliver_hint() {
  decide_sample();
  const node::Appointment now = appointment_;
  appointment_ = {now.last + known_->next.steps, now.last + known_->next.steps + known_->next.lag};
  publish_hint(*known_, {looks_, now, appointment_}, schedule_.content(), names_.run(), nodes_, segment_);
  if (now.last == now.due) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int l = 0; l < segment_.n_local(); ++l)
      least = std::min(least, segment_.rank(l).last_wait_ns.load(std::memory_order_relaxed));
    meter_.add_wait(static_cast<double>(least) * 1e-9);
  }
  ++looks_;
  last_look_ = now;
  if (known_->rebalance) remember_window(*known_);
}

/// Records the looks since the last recorded window as one window, which ends at a recommended rebalance or at the end
/// of a described window.
void Engine::remember_window(const window::Result& r) {
  if (windowed_ == followed_) return;
  const window::WindowLoads loads = analyzer_->close_window(nodes_);
  windowed_ = followed_;
  log_.add_window(r, loads, last_look_);
}

/// Keeps the events of the window up to the step `last`, if there is a trace.
void Engine::keep_detail(std::int64_t last) {
  // The window after a rebalance shows what it changed.
  if (tracer_) tracer_->keep(*known_, collector_.block(), last, rebalanced_ || rebalanced_before_);
  rebalanced_before_ = rebalanced_;
  rebalanced_ = false;
}

void Engine::close_window(int steps) {
  if (steps <= 0) return;
  history_.append(collector_.block(), steps, names_);
  log_.add_steps(collector_.block(), steps);
}

void Engine::finish(std::int64_t steps) { end(share_names_and_answers(steps)); }

void Engine::end(std::int64_t steps) {
  if (known_) remember_window(*known_);
  if (described_ && (tracer_ || schedule_.decides_in_advance()) && !rules_.guide_is_measured())
    log_.note(
        "no rank counted TRACE_GUIDE '" + settings_.trace.guide +
        "': samples were drawn for the load; name a metric of METRICS, or an application's, and a region of the run");
  if (known_ && steps > collector_.block().first_step) keep_detail(steps - 1);
  if (tracer_) tracer_->finish(steps);
  if (tracer_ && !known_) log_.note("nothing is traced: the run ended before the loads of any step were known");
  if (waits_) {
    waits_->find(nodes_, collector_, steps - 1);
    const std::string account = waits_->account(nodes_);
    if (nodes_.rank() == 0) log_.note(account);
  }
  close_window(static_cast<int>(std::max<std::int64_t>(0, steps - collector_.block().first_step)));
  if (steps == 0) snapshots_.none();
  const int status = steps > 0 ? snapshots_.write_last() : 0;
  segment_.board().publish_finished(status);
  segment_.header().news.notify();
}

}  // namespace effort::engine
