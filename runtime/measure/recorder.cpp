#include "runtime/measure/recorder.hpp"

#include "runtime/measure/boundary.hpp"
#include "runtime/measure/careful.hpp"

#include <algorithm>

namespace effort::measure {
namespace {

std::atomic<std::uint64_t> sessions{0};

/// Records the end of a step.  Open regions are split there, so that every step can be read on its own.
/// @param at  after the last boundary
void record_step(ThreadSlot& s, std::int64_t next_step, std::uint64_t at) noexcept {
  const Busy way(s);
  if (!s.events.on()) return;
  const std::uint64_t before = s.stamp.load(std::memory_order_relaxed);
  const auto open = [&](std::uint32_t d) { return region_of(d < s.depth ? s.stack[d] : innermost(s)); };
  for (std::uint32_t d = s.depth; d > 0; --d) s.events.boundary(recording::RecordKind::leave, open(d), before);
  s.events.step(next_step, at);
  for (std::uint32_t d = 1; d <= s.depth; ++d) s.events.boundary(recording::RecordKind::enter, open(d), at);
}

/// The registry of a new session: the first phase, and the first metric.
Registry& with_first_names(Registry& registry) {
  tick_rate();
  registry.phase("main");
  registry.metric("time", "s");
  return registry;
}

/// The name of an application metric reserves its id now; its unit becomes known when the application defines it.
LoadRule load_rule(const Choices& choices, Registry& registry) {
  const std::uint32_t metric = choices.load_metric == "time" ? 0 : registry.metric(choices.load_metric.c_str(), "").id;
  return {metric, choices.threads, choices.load_metric == "cpu_time"};
}

}  // namespace

Recorder::Recorder(const std::vector<std::string>& metrics, const std::string& load_metric, LoadThreads threads,
                   const Options& options)
    : session_(sessions.fetch_add(1, std::memory_order_relaxed) + 1),
      choices_{metrics, load_metric, threads, options},
      first_thread_(std::this_thread::get_id()),
      counters_(metrics, load_metric, options, with_first_names(*registry_)),
      load_(load_rule(choices_, *registry_)),
      derived_(metrics, load_.in_seconds() ? "s" : "", *registry_),
      events_(session_),
      frame_(load_, derived_, counters_.at_steps()),
      sampling_(options.max_overhead, ticks()),
      last_stamp_(ticks()) {}

bool Recorder::measures(const std::vector<std::string>& metrics, const std::string& load_metric, LoadThreads threads,
                        const Options& options) const {
  return Choices{metrics, load_metric, threads, options} == choices_;
}

ThreadSlot& Recorder::slot() {
  ThreadSlot& s = SlotRegistry::instance().acquire();
  s.prepare(session_, registry_->n_regions(), plan());
  return s;
}

void Recorder::add_seconds(std::uint32_t region, double seconds) {
  ThreadSlot& s = slot();
  add_own(s.cells.load(std::memory_order_relaxed)[region].ticks,
          static_cast<std::uint64_t>(seconds / tick_rate().seconds_per_tick + 0.5));
  if (load_.is_cpu_time) s.counters.add_cpu_ns(region, static_cast<std::int64_t>(seconds * 1e9 + 0.5));
}

void Recorder::add_work(std::uint32_t unit, double amount) {
  slot().amounts.add_work(unit, amount);
  record([&](recording::Stream& events) { events.work(unit, amount); });
}

void Recorder::set_phase(std::uint32_t phase) noexcept {
  phase_.store(phase, std::memory_order_relaxed);
  record([&](recording::Stream& events) { events.boundary(recording::RecordKind::phase, phase, ticks()); });
}

void Recorder::record_rebalance() noexcept {
  record([](recording::Stream& events) { events.boundary(recording::RecordKind::rebalance, 0, ticks()); });
}

/// Runs a recording action of the calling thread, if it records events.
template <typename Record>
void Recorder::record(const Record& record) noexcept {
  ThreadSlot* const own = this_thread_slot();
  if (!own || !is_ours(*own)) return;
  const Busy way(*own);
  if (own->events.on()) record(own->events);
}

void Recorder::record_events(recording::Memory memory) {
  events_.turn_on(memory);
  frame_.count_calls();
  slot();  // the thread that ends steps records them, even if it marks no regions
}

void Recorder::add_metric(std::uint32_t metric, double value) {
  ThreadSlot& s = slot();
  s.amounts.add_metric(metric, innermost(s), value, s.room());
}

void Recorder::begin_price(Pricing& around) {
  priced_ = &slot();
  around = open_price(*priced_);
  const SlotReader* const reader = reader_of(*priced_);
  load_before_price_ = (reader ? *reader : SlotReader(priced_)).load_since_step(reading_, frame_);
}

/// Null before the slot's first step.
SlotReader* Recorder::reader_of(const ThreadSlot& slot) const {
  const auto at =
      std::find_if(readers_.begin(), readers_.end(), [&](const auto& reader) { return &reader->slot() == &slot; });
  return at == readers_.end() ? nullptr : at->get();
}

Price Recorder::end_price(const Pricing& around) {
  ThreadSlot& s = slot();
  if (&s != priced_) priced_->ask(stop_pricing);
  const Pricing p = close_price(s, around);
  if (!p.open || !load_.in_seconds()) return {};
  const auto seconds = [&](const Pricing::Spent& spent) {
    return load_.is_cpu_time ? static_cast<double>(spent.cpu_ns) * 1e-9
                             : static_cast<double>(spent.ticks) * tick_rate().seconds_per_tick;
  };
  if (SlotReader* const reader = reader_of(s)) reader->leave_out(seconds(p.computed));
  const double whole = seconds(p.whole), own = std::max(0.0, whole - seconds(p.waited));
  // On an oversubscribed core, waiting in marked communication also takes CPU time.  Elapsed time includes the
  // transfer.
  return {load_.is_cpu_time ? own : whole, p.marked ? own : -1};
}

void Recorder::publish_definitions(RecordStream& out) {
  if (registry_->n_defined() == published_definitions_) return;
  // Other threads may add definitions at any time; this step uses only those that it has published.
  for (const Defined& d : registry_->since(published_definitions_)) {
    out.definition(d);
    ++published_definitions_;
    frame_.define(d);
  }
}

/// Charges the calling thread's time up to now.  Null if the thread has no slot in this session.
ThreadSlot* Recorder::settle_stepping_thread() {
  ThreadSlot* own = this_thread_slot();
  if (own && !is_ours(*own)) own = nullptr;
  // A host that marks no regions still has steps; its counts start at the end of the first step.
  if (!counters_.at_steps().empty() && (!own || !own->counters.is_open())) own = &slot();
  if (!own && events_.memory()) own = &slot();
  if (!own) return nullptr;
  if (!cost_.known()) {
    SlotPlan plan = counters_.plan(false, shared_registry_);
    plan.events = events_.memory();  // recording takes time, too
    cost_ = measure_cost(*own, plan);
  }
  settle_step(*own);
  return own;
}

void Recorder::read_slots(const ThreadSlot* stepping, std::uint64_t now) {
  if (readers_.size() < SlotRegistry::instance().count()) {
    const auto all = SlotRegistry::instance().slots();
    for (std::size_t i = readers_.size(); i < all.size(); ++i) readers_.push_back(std::make_unique<SlotReader>(all[i]));
  }
  frame_.begin();
  ours_.clear();
  for (auto& reader : readers_) {
    if (!is_ours(reader->slot())) continue;
    ours_.push_back(reader.get());
    reader->read(reading_, &reader->slot() == stepping, now, frame_);
  }
}

void Recorder::end_step(std::int64_t first_step, std::int64_t last_step, RecordStream& out) {
  ThreadSlot* const stepping = settle_stepping_thread();
  const std::uint64_t now = stepping ? stepping->last_boundary() : ticks();
  if (recording::Memory* const events = events_.memory(); events && stepping) {
    const std::uint64_t at = now + 1;
    record_step(*stepping, last_step + 1, at);
    events->end_step(last_step, at);
  }
  stepping_ = stepping;
  last_depth_ = stepping ? static_cast<std::int64_t>(stepping->depth) : 0;
  if (first_depth_ < 0) first_depth_ = last_depth_;
  publish_definitions(out);
  read_slots(stepping, now);

  FrameHeader h{};
  h.first_step = first_step;
  h.last_step = last_step;
  h.wall = static_cast<double>(now - last_stamp_) * tick_rate().seconds_per_tick;
  h.phase = phase_.load(std::memory_order_relaxed);
  frame_.write(h, out);
  // The cost of a pair was measured at another moment.  Limit the total to the step's duration, which contains it.
  own_seconds_ += std::min(frame_.measuring() + step_cost_, h.wall);
  last_stamp_ = now;

  sampling_.step(ours_, frame_, reading_, now, *registry_);
  step_cost_ = without_interruption(static_cast<double>(ticks() - now) * tick_rate().seconds_per_tick);
  sampling_.add_fixed(step_cost_);
}

/// The time that ending a step took, limited to a multiple of what it usually takes: on busy cores, the thread may not
/// have run meanwhile.
double Recorder::without_interruption(double seconds) {
  constexpr double most_usual = 8, least_limit = 50e-6;
  if (usual_step_cost_ == 0) usual_step_cost_ = seconds;
  const double limited = std::min(seconds, std::max(most_usual * usual_step_cost_, least_limit));
  usual_step_cost_ += (limited - usual_step_cost_) / 8;
  return limited;
}

void Recorder::resume() {
  ThreadSlot* own = this_thread_slot();
  if (own && is_ours(*own) && (own->depth > 0 || own->pricing.open)) disregard(*own);
}

void Recorder::add_final_notes(RecordStream& out) {
  std::uint32_t fallen = 0;
  for (const auto& reader : readers_)
    if (is_ours(reader->slot())) fallen |= reader->slot().counters.fallen();
  counters_.note_remarks(fallen, *registry_);
  note_open_region();
  publish_definitions(out);
}

/// A region around the whole run may be open, or one around its end.  One that was begun between the first and the last
/// step may be meant, too, but more often its end was forgotten.
void Recorder::note_open_region() {
  const ThreadSlot* const own = this_thread_slot();
  if (!own || own != stepping_ || !is_ours(*own)) return;
  const std::int64_t depth = std::min(static_cast<std::int64_t>(own->depth), last_depth_);
  if (depth <= first_depth_) return;
  // The region around an open one is on the stack.
  const auto above = static_cast<std::size_t>(first_depth_) + 1;
  const std::uint32_t region = above < own->depth ? region_of(own->stack[above]) : innermost(*own);
  registry_->note(("region '" + registry_->region_name(region).substr(0, 300) +
                   "' was begun during the run and was still open at its end: unless that is meant, a call of "
                   "effort_end is missing, and time outside of regions counted for it")
                      .c_str());
}

}  // namespace effort::measure
