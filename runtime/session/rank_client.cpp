#include "runtime/session/rank_client.hpp"

#include "analytics/sampling/planned_sample.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <new>

namespace effort::session {

using measure::RecordType;

RankClient::RankClient(Setup setup, measure::Recorder& recorder, node::Segment& segment)
    : setup_(std::move(setup)),
      recorder_(recorder),
      segment_(segment),
      area_(segment.rank(setup_.local)),
      ring_(segment.ring(setup_.local)),
      appointment_(setup_.first_look) {
  latest_.rank = setup_.rank;
  latest_.n_ranks = setup_.n_ranks;
  // Delivering a hint must not allocate.
  region_names_.reserve(node::max_hint_regions);
  unit_names_.reserve(node::max_hint_units);
}

void RankClient::fail(const char* why) noexcept {
  if (failed_) return;
  failed_ = true;
  // Do not publish the rest of an incomplete record.
  pending_.clear();
  fresh_.clear();
  sent_ = 0;
  std::snprintf(area_.failure, sizeof area_.failure, "rank %d cannot continue: %s", setup_.rank, why);
  area_.failed.store(1, std::memory_order_release);
  segment_.header().work.notify();
}

/// Runs `body` unless this rank has failed.
template <typename Body>
void RankClient::attempt(const Body& body) {
  if (failed_) return;
  try {
    body();
  } catch (const std::bad_alloc&) {
    fail("out of memory");
  } catch (const std::exception& e) {
    fail(e.what());
  }
}

/// Writes as many of the pending bytes into the ring as fit; true if none is left.
inline bool RankClient::flush() {
  const std::span<const std::byte> bytes = pending_.bytes();
  if (bytes.empty()) return true;
  sent_ += ring_.push(bytes.subspan(sent_));
  if (sent_ < bytes.size()) return false;
  pending_.clear();
  sent_ = 0;
  return true;
}

void RankClient::push_answer(std::int64_t step, const measure::Price& price, int answer, bool bracketed) {
  measure::RebalanceRecord r{};
  r.step = step;
  r.price = price.elapsed;
  r.computing = price.computing;
  r.before = bracketed && rebalancing_since_ < step ? HUGE_VAL : recorder_.load_before_price();
  r.answer = answer;
  r.bracketed = bracketed ? 1 : 0;
  pending_.fixed(r, RecordType::rebalance);
  if (answer > 0) recorder_.record_rebalance();
}

/// Waits for the board and meanwhile drives everything that others may wait for: this rank's own frames, the exchange
/// that only the host's thread may drive, and the host's pending messages.
template <typename Ready>
bool RankClient::wait_for(const Ready& ready, bool is_hint) {
  if (ready()) {
    if (is_hint) area_.last_wait_ns.store(0, std::memory_order_relaxed);
    return true;
  }
  const std::uint64_t start = measure::monotonic_ns();
  for (int round = 0;; ++round) {
    const std::uint32_t ticket = segment_.header().news.ticket();
    if (ready()) break;
    if (!flush() || round == 0) segment_.header().work.notify();
    if (setup_.mailbox) setup_.mailbox->drive();
    if (setup_.transport) setup_.transport->progress();
    if (ready()) break;
    // Sleep only briefly, because MPI must be driven often.  Do not spin, because a spinning rank would take the core
    // from the thread it waits for.
    segment_.header().news.wait(ticket, setup_.transport ? 50'000 : 1'000'000);
    const double waited = static_cast<double>(measure::monotonic_ns() - start) * 1e-9;
    if (is_hint && setup_.hint_timeout > 0 && waited > setup_.hint_timeout && !late_reported_) {
      late_reported_ = true;
      if (setup_.on_late)
        attempt([&] {
          setup_.on_late("the hint due at step " + std::to_string(step_) + " is late by more than HINT_TIMEOUT (" +
                         std::to_string(setup_.hint_timeout) +
                         " s): a rank has probably stopped calling effort_progress_step");
        });
    }
  }
  if (is_hint) {
    const auto waited = static_cast<std::int64_t>(measure::monotonic_ns() - start);
    area_.last_wait_ns.store(waited, std::memory_order_relaxed);
    if (waited > area_.wait_ns.load(std::memory_order_relaxed)) area_.wait_ns.store(waited, std::memory_order_relaxed);
  }
  return true;
}

bool RankClient::switched_off() const {
  return segment_.board().off_from() != std::numeric_limits<std::int64_t>::max();
}

void RankClient::build(std::int64_t look, std::int64_t step) {
  const node::Board& board = segment_.board();
  latest_.step = step;
  latest_.view = board.view(look, setup_.local);
  for (int i = static_cast<int>(region_names_.size()); i < latest_.view.numbers->n_regions; ++i)
    region_names_.push_back(board.region_name(i));
  for (int i = static_cast<int>(unit_names_.size()); i < latest_.view.numbers->n_units; ++i)
    unit_names_.push_back(board.unit_name(i));
  latest_.region_name = region_names_.data();
  latest_.unit_name = unit_names_.data();
  sample_from_ = latest_.view.numbers->sample_from;
  next_probability_ = latest_.view.probability;
}

/// Waits until the ring has room and publishes the steps that were held back, up to `last_step`.
void RankClient::publish_held_back(std::int64_t last_step) {
  if (first_unpublished_ > last_step) return;
  wait_for([&] { return flush() || switched_off(); }, false);
  attempt([&] { recorder_.end_step(first_unpublished_, last_step, pending_); });
  first_unpublished_ = last_step + 1;
}

/// Finds the hint that is due now or next, for a rank that has not followed the hints because it had no listener.
void RankClient::catch_up(std::int64_t step) {
  const node::Board& board = segment_.board();
  while (appointment_.due < step && !switched_off()) {
    wait_for([&] { return board.newest() >= look_ || switched_off(); }, false);
    const std::int64_t newest = board.newest();
    node::Appointment now, next;
    if (newest < look_ || !board.appointments(newest, now, next)) continue;
    look_ = now.due >= step ? newest : newest + 1;
    appointment_ = now.due >= step ? now : next;
  }
}

/// Publishes at once the step that has just ended, because the rank is about to wait for the look that needs it.
inline void RankClient::release_step() {
  attempt([&] { pending_.take(fresh_); });
  fresh_from_ = std::numeric_limits<std::int64_t>::max();
  flush();
}

inline Status RankClient::deliver_due(std::int64_t step, const Deliver& deliver) {
  if (appointment_.due < step) catch_up(step);
  if (appointment_.due > step) return Status::ok;  // even if already off: all ranks switch off at the same step
  if (appointment_.due < step) {                   // no further hints will come
    off_.store(true, std::memory_order_relaxed);
    return Status::switched_off;
  }
  const std::int64_t look = look_;
  node::Board& board = segment_.board();
  if (first_unpublished_ <= appointment_.last) {
    // A full ring has held back steps that the look needs.  The hint cannot come before they are published.
    publish_held_back(step - 1);
    fresh_from_ = step;
    attempt([&] { recorder_.end_step(step, step, fresh_); });
    first_unpublished_ = step + 1;
  }
  // The look may need the frame published with this step, which covers this step or steps that a full ring held back.
  if (fresh_from_ <= appointment_.last) release_step();
  wait_for([&] { return board.newest() >= look || board.off_from() <= look; }, true);
  if (board.newest() < look) {
    off_.store(true, std::memory_order_relaxed);
    return Status::switched_off;
  }
  build(look, step);
  ++look_;
  appointment_ = latest_.view.numbers->next;
  latest();
  recorder_.resume();
  call_back(deliver);
  return Status::ok;
}

void RankClient::call_back(const Deliver& deliver) {
  attempt([&] { recorder_.begin_price(around_callback_); });
  delivering_ = true;
  answered_ = false;
  int answer = -1;
  try {
    answer = deliver(latest_);
  } catch (...) {  // the thread ends in the callback; another thread may continue with the next step
    callback_left();
    throw;
  }
  callback_ended(answer);
}

void RankClient::callback_ended(int answer) {
  delivering_ = false;
  attempt([&] {
    const measure::Price price = recorder_.end_price(around_callback_);
    // Ranks that did not take part report nothing, because their time is not part of a price.
    if (answer != 0 && !answered_) push_answer(step_, price, answer, false);
  });
}

void RankClient::callback_left() {
  if (!delivering_) return;
  callback_ended(-1);
  finish_step();
}

/// Draws whether this rank is in the sample of the window that begins, if one begins.  Decisions arrive with hints, so
/// all ranks have the same one at the same step.
inline void RankClient::draw() {
  if (sample_from_ < 0 || step_ % setup_.tile != 0) return;
  if (step_ >= sample_from_) probability_ = next_probability_;
  sampled_.store(
      sampling::is_drawn_independently(setup_.rank, probability_, static_cast<std::uint64_t>(step_ / setup_.tile)),
      std::memory_order_relaxed);
}

/// Publishes the current step and begins the next one.
inline void RankClient::finish_step() {
  const std::int64_t looked_at = appointment_.last, step = step_++;
  release_step();
  draw();
  if (step == looked_at || step_ % setup_.tile == 0 || ring_.filled() > ring_.capacity() / 2)
    segment_.header().work.notify();
  if (setup_.mailbox) setup_.mailbox->drive();
  recorder_.resume();
}

/// Makes the frame of the current step.  If the ring is full, the frame is held back: its cost stays in the totals and
/// is published with a later frame.
inline void RankClient::publish_step() {
  if (!flush()) {
    area_.merged_steps.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  fresh_from_ = first_unpublished_;
  recorder_.end_step(first_unpublished_, step_, fresh_);
  first_unpublished_ = step_ + 1;
  area_.measuring_ns.store(static_cast<std::int64_t>(recorder_.own_seconds() * 1e9), std::memory_order_relaxed);
}

Status RankClient::progress_step(const Deliver& deliver) {
  if (off()) return Status::switched_off;
  attempt([&] { publish_step(); });
  if (deliver) {
    const Status status = deliver_due(step_, deliver);
    if (status != Status::ok) return status;
  } else if (switched_off()) {
    off_.store(true, std::memory_order_relaxed);
    return Status::switched_off;
  }
  finish_step();
  return Status::ok;
}

Status RankClient::snapshot(const char* path) {
  if (off()) return Status::switched_off;
  // All ranks place the request at the same step of their streams, even if a full ring has delayed frames.
  publish_held_back(step_ - 1);
  attempt([&] { pending_.text(RecordType::snapshot, path); });
  const std::int64_t number = ++snapshots_;
  flush();
  segment_.header().work.notify();
  node::Board& board = segment_.board();
  wait_for([&] { return board.snapshots_done() >= number || switched_off(); }, false);
  if (board.snapshots_done() < number) return Status::switched_off;
  return static_cast<Status>(board.snapshot_status());
}

Status RankClient::finalize() {
  node::Board& board = segment_.board();
  if (!off()) {
    measure::FinalRecord f{};
    publish_held_back(step_ - 1);
    f.steps = step_;
    attempt([&] {
      if (rebalancing_)
        recorder_.registry().note(
            "a rebalance was begun and never ended, so its price is unknown: call effort_rebalance_end on every way "
            "out of it");
      recorder_.add_final_notes(pending_);
      pending_.fixed(f, RecordType::final);
    });
    flush();
    segment_.header().work.notify();
  }
  int status = 0;
  wait_for([&] { return board.finished(status) || switched_off(); }, false);
  return board.finished(status) ? static_cast<Status>(status) : Status::switched_off;
}

void RankClient::traffic(std::span<const measure::Flow> flows) {
  constexpr std::size_t most = 1000;  // per record, so that a ring holds many records
  attempt([&] {
    recorder_.publish_definitions(pending_);
    for (std::size_t at = 0; at < flows.size(); at += most)
      pending_.traffic(flows.subspan(at, std::min(most, flows.size() - at)));
  });
}

void RankClient::arrivals(const measure::ArrivalsHeader& header, std::span<const std::uint64_t> words) {
  attempt([&] {
    recorder_.publish_definitions(pending_);
    pending_.arrivals(header, words);
  });
}

void RankClient::rebalance_begin() {
  rebalancing_since_ = step_;
  attempt([&] { recorder_.begin_price(around_bracket_); });
  rebalancing_ = true;
}

void RankClient::rebalance_end() {
  attempt([&] { push_answer(step_, recorder_.end_price(around_bracket_), 1, !delivering_); });
  answered_ = delivering_;
  rebalancing_ = false;
  rebalanced_ = step_;
}

const DeliveredHint& RankClient::latest() {
  // Every rank brackets a rebalance in the same step, so that all ranks agree without communication.
  if (latest_.step >= 0) latest_.overtaken = rebalancing_ || rebalanced_ > latest_.view.numbers->report.last;
  return latest_;
}

}  // namespace effort::session
