#include "runtime/measure/thread_slot.hpp"

#include "runtime/measure/boundary.hpp"

#include <algorithm>
#include <mutex>

namespace effort::measure {

extern "C" {
__thread void* effort_this_thread_slot = nullptr;
}

namespace {

std::mutex registry_mutex;

/// While it lives, begins and ends of signal handlers in this thread are counted out; also where an allocation fails.
struct Busy {
  explicit Busy(ThreadSlot& s) : slot(s) {
    slot.busy.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Busy() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    slot.busy.store(false, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ThreadSlot& slot;
};

// What they have counted stays for the reader, and so does how many there are.
void close_counters(ThreadSlot& s) {
  s.counters_open = s.brief_by_ticks = false;
  s.boundary = s.at_step = nullptr;
  for (auto& reader : s.readers) reader.reset();
}

// Gives the slot back when its thread ends.
struct SlotOwner {
  ThreadSlot* slot = nullptr;
  ~SlotOwner() {
    effort_this_thread_slot = nullptr;
    if (!slot) return;
    if (slot->cells.load(std::memory_order_relaxed)) leave_all(*slot);
    for (auto& reader : slot->readers)
      if (reader) reader->thread_ends();
    close_counters(*slot);
    slot->owned.store(false, std::memory_order_release);
    slot = nullptr;  // what the thread still calls finds one anew
  }
};
thread_local SlotOwner slot_owner;

/// A longer array with the old one's content; the old one stays for whoever is reading it.
template <typename Array, typename Owned, typename Copy>
void grow(Array& array, Owned& owned, std::size_t old_size, std::size_t new_size, const Copy& copy) {
  using Element = std::remove_pointer_t<decltype(array.load())>;
  auto fresh = std::make_unique<Element[]>(new_size);
  if (const Element* old = array.load(std::memory_order_relaxed))
    for (std::size_t i = 0; i < old_size; ++i) copy(fresh[i], old[i]);
  array.store(fresh.get(), std::memory_order_release);
  owned.push_back(std::move(fresh));
}

template <typename T>
void copy_value(std::atomic<T>& to, const std::atomic<T>& from) {
  to.store(from.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void copy_cell(Cell& to, const Cell& from) {
  copy_value(to.ticks, from.ticks);
  copy_value(to.begins, from.begins);
}

/// Room for `room` regions and their counters.
void make_room(ThreadSlot& slot, std::uint32_t room, int n_counters) {
  const std::uint32_t old = slot.capacity;
  const auto width = static_cast<std::size_t>(n_counters);
  if (room > old) {
    grow(slot.cells, slot.cell_arrays, old, room, copy_cell);
    for (auto& metric : slot.metric)
      if (metric.load(std::memory_order_relaxed)) grow(metric, slot.metric_arrays, old, room, copy_value<double>);
  }
  if (width > 0) grow(slot.counters, slot.counter_arrays, old * width, room * width, copy_value<std::int64_t>);
  slot.capacity = room;
}

/// Everything to zero, for a session that finds the slot as an older one left it.
void clear(ThreadSlot& slot) {
  slot.depth = 0;
  slot.special = slot.all_timed = slot.unseen = 0;
  slot.pricing = {};
  slot.skips.store(0, std::memory_order_relaxed);
  slot.cpu_readings.store(0, std::memory_order_relaxed);
  slot.own.before_begin.store(0, std::memory_order_relaxed);
  slot.own.before_end.store(0, std::memory_order_relaxed);
  slot.current.store(outside, std::memory_order_relaxed);
  slot.requests.store(0, std::memory_order_relaxed);
  slot.busy.store(false, std::memory_order_relaxed);
  slot.offered.store(nullptr, std::memory_order_relaxed);
  slot.sampling = nullptr;
  slot.fallen.store(0, std::memory_order_relaxed);
  close_counters(slot);
  slot.n_counters = slot.n_step_counters = 0;
  // Another number of counters changes the meaning of the array, so a session starts with a new one.
  slot.counters.store(nullptr, std::memory_order_relaxed);
  for (std::uint32_t r = 0; r < slot.capacity; ++r) {
    copy_cell(slot.cells.load(std::memory_order_relaxed)[r], Cell());
    for (auto& metric : slot.metric)
      if (auto* cells = metric.load(std::memory_order_relaxed)) cells[r].store(0, std::memory_order_relaxed);
  }
  slot.outside_claimed = 0;
  std::fill(std::begin(slot.outside_counters_claimed), std::end(slot.outside_counters_claimed), 0);
  for (auto& w : slot.work) w.store(0, std::memory_order_relaxed);
  for (auto& total : slot.step_totals) total.store(0, std::memory_order_relaxed);
}

/// Opens the session's counters in the calling thread and takes their first readings.
void start_counters(ThreadSlot& slot, const SlotPlan& plan) {
  const SourceSet* const sets[2] = {plan.boundary, plan.at_step};
  for (std::size_t i = 0; i < 2; ++i)
    if (sets[i] && sets[i]->count() > 0) slot.readers[i] = sets[i]->open(plan.whole);
  slot.boundary = slot.readers[0].get();
  slot.at_step = slot.readers[1].get();
  slot.n_counters = plan.boundary ? plan.boundary->count() : 0;
  slot.n_step_counters = plan.at_step ? plan.at_step->count() : 0;
  slot.cpu_counter = -1;
  for (int c = 0; c < slot.n_counters; ++c)
    if (plan.boundary->counters()[static_cast<std::size_t>(c)].name == "cpu_time") slot.cpu_counter = c;
  slot.step_values = 0;
  for (int c = 0; c < slot.n_step_counters; ++c)
    if (plan.at_step->counters()[static_cast<std::size_t>(c)].value) slot.step_values |= 1u << c;
  if (slot.at_step) slot.at_step->read(slot.step_stamp);
  if (slot.boundary) slot.boundary->read(slot.counter_stamp);
  slot.brief_by_ticks = plan.brief_by_ticks && slot.boundary && tick_rate().use_tsc;
  slot.cpu_ahead = 0;
  slot.counters_open = true;
}

}  // namespace

void claim_outside(ThreadSlot& s, std::uint32_t region) noexcept {
  claim_outside_ticks(s, region);
  std::atomic<std::int64_t>* cells = s.counters.load(std::memory_order_relaxed);
  const auto n = static_cast<std::size_t>(s.n_counters);
  for (std::size_t c = 0; c < n; ++c) {
    const std::int64_t total = cells[outside * n + c].load(std::memory_order_relaxed);
    if (region != outside) {
      std::atomic<std::int64_t>& cell = cells[region * n + c];
      cell.store(cell.load(std::memory_order_relaxed) + (total - s.outside_counters_claimed[c]), std::memory_order_release);
    }
    s.outside_counters_claimed[c] = total;
  }
}

SlotRegistry& SlotRegistry::instance() {
  static SlotRegistry* registry = new SlotRegistry;  // never destroyed: threads may outlive static destruction
  return *registry;
}

ThreadSlot& SlotRegistry::acquire() {
  std::lock_guard lock(registry_mutex);
  if (slot_owner.slot) {
    effort_this_thread_slot = slot_owner.slot;
    return *slot_owner.slot;
  }
  auto free = std::find_if(all_.begin(), all_.end(),
                           [](const auto& s) { return !s->owned.load(std::memory_order_acquire); });
  if (free == all_.end()) {
    all_.push_back(std::make_unique<ThreadSlot>());
    all_.back()->number = static_cast<std::uint32_t>(all_.size() - 1);
    count_.store(all_.size(), std::memory_order_release);
    free = all_.end() - 1;
  }
  (*free)->owned.store(true, std::memory_order_relaxed);
  slot_owner.slot = free->get();
  effort_this_thread_slot = slot_owner.slot;
  return *slot_owner.slot;
}

std::vector<ThreadSlot*> SlotRegistry::slots() {
  std::lock_guard lock(registry_mutex);
  std::vector<ThreadSlot*> out;
  for (auto& slot : all_) out.push_back(slot.get());
  return out;
}

void SlotRegistry::retire_all() {
  std::lock_guard lock(registry_mutex);
  for (auto& slot : all_) {
    slot->limit.store(0, std::memory_order_relaxed);
    slot->known.store(0, std::memory_order_relaxed);
    slot->current.store(outside, std::memory_order_relaxed);
  }
  // Other threads' counters are closed by them: at their next session, or when they end.
  if (slot_owner.slot) close_counters(*slot_owner.slot);
  effort_this_thread_slot = nullptr;
}

void SlotRegistry::abandon() {
  effort_this_thread_slot = nullptr;
  if (!slot_owner.slot) return;
  ThreadSlot& slot = *slot_owner.slot;
  slot.limit.store(0, std::memory_order_relaxed);
  slot.known.store(0, std::memory_order_relaxed);
  slot.boundary = slot.at_step = nullptr;
  // They count the parent; closing them here would reach into its business.
  for (auto& reader : slot.readers) (void)reader.release();
  slot_owner.slot = nullptr;
}

void prepare_slot(ThreadSlot& slot, std::uint64_t session, std::uint32_t regions, const SlotPlan& plan) {
  slot.limit.store(0, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool first = slot.session.load(std::memory_order_relaxed) != session;
  if (first) clear(slot);
  const std::uint32_t word = slot.current.load(std::memory_order_relaxed);
  slot.current.store(word | careful, std::memory_order_relaxed);
  {
    const Busy arrays_half_made(slot);
    const std::uint32_t needed = regions + 1;
    const int n_counters = plan.boundary ? plan.boundary->count() : 0;
    const bool counters_missing = n_counters > 0 && !slot.counters.load(std::memory_order_relaxed);
    if (needed > slot.capacity || counters_missing)
      make_room(slot, needed > slot.capacity ? std::max({2 * slot.capacity, needed, 64u}) : slot.capacity, n_counters);
    // A slot may come from a thread that has ended, and another's counters with it.
    if (first || !slot.counters_open) start_counters(slot, plan);
    slot.registry = plan.registry;
    if (first) {
      slot.short_path = slot.n_counters == 0 && tick_rate().use_tsc;
      slot.layout.store(tick_rate().use_tsc ? inline_layout : 0, std::memory_order_relaxed);
      slot.random = 0x9e3779b97f4a7c15u * (slot.number + 1);
      slot.stamp.store(ticks(), std::memory_order_release);
      slot.session.store(session, std::memory_order_release);
    }
    slot.known.store(regions, std::memory_order_release);
  }
  if (!slot.short_path || slot.special > 0) return;
  slot.current.store(word & ~careful, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (slot.requests.load(std::memory_order_relaxed) == 0) slot.limit.store(regions, std::memory_order_release);
}

std::atomic<double>* metric_cells(ThreadSlot& slot, std::uint32_t metric) {
  if (!slot.metric[metric].load(std::memory_order_relaxed)) {
    auto fresh = std::make_unique<std::atomic<double>[]>(slot.capacity);
    slot.metric[metric].store(fresh.get(), std::memory_order_release);
    slot.metric_arrays.push_back(std::move(fresh));
  }
  return slot.metric[metric].load(std::memory_order_relaxed);
}

}  // namespace effort::measure
