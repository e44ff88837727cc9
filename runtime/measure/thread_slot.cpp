#include "runtime/measure/thread_slot.hpp"

#include <algorithm>
#include <mutex>

namespace effort::measure {

extern "C" {
__thread void* effort_this_thread_slot = nullptr;
}

namespace {

std::mutex registry_mutex;

// Gives the slot back when its thread ends.
struct SlotOwner {
  ThreadSlot* slot = nullptr;
  ~SlotOwner() {
    effort_this_thread_slot = nullptr;
    if (!slot) return;
    if (slot->ticks.load(std::memory_order_relaxed)) switch_region(*slot, outside);
    slot->depth = 0;
    slot->owned.store(false, std::memory_order_release);
  }
};
thread_local SlotOwner slot_owner;

template <typename T>
void grow(std::atomic<std::atomic<T>*>& array, std::vector<std::unique_ptr<std::atomic<T>[]>>& owned,
          std::size_t old_size, std::size_t new_size) {
  auto fresh = std::make_unique<std::atomic<T>[]>(new_size);
  if (const std::atomic<T>* old = array.load(std::memory_order_relaxed))
    for (std::size_t i = 0; i < old_size; ++i)
      fresh[i].store(old[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
  array.store(fresh.get(), std::memory_order_release);
  owned.push_back(std::move(fresh));
}

}  // namespace

void switch_region(ThreadSlot& s, std::uint32_t next) noexcept {
  if (s.n_counters > 0) {
    const std::uint32_t current = s.current.load(std::memory_order_relaxed);
    std::int64_t now[max_metrics];
    s.boundary.read(s.boundary.self, now);
    std::atomic<std::int64_t>* cell = s.counters.load(std::memory_order_relaxed) + static_cast<std::size_t>(current) * static_cast<std::size_t>(s.n_counters);
    for (int c = 0; c < s.n_counters; ++c) {
      cell[c].store(cell[c].load(std::memory_order_relaxed) + now[c] - s.counter_stamp[c], std::memory_order_release);
      s.counter_stamp[c] = now[c];
    }
  }
  switch_region_at(s, next, ticks());
}

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
    slot->current.store(outside, std::memory_order_relaxed);
  }
  effort_this_thread_slot = nullptr;
}

void SlotRegistry::abandon() {
  effort_this_thread_slot = nullptr;
  if (slot_owner.slot) slot_owner.slot->limit.store(0, std::memory_order_relaxed);
}

void prepare_slot(ThreadSlot& slot, std::uint64_t session, std::uint32_t regions, const BoundaryCounters& boundary) {
  const bool first = slot.session.load(std::memory_order_relaxed) != session;
  if (first) {
    slot.depth = 0;
    slot.current.store(outside, std::memory_order_relaxed);
    // Another number of counters changes the meaning of the array, so a session starts with a new one.
    slot.n_counters = 0;
    slot.counters.store(nullptr, std::memory_order_relaxed);
    for (std::uint32_t r = 0; r < slot.capacity; ++r) {
      slot.ticks.load(std::memory_order_relaxed)[r].store(0, std::memory_order_relaxed);
      for (auto& metric : slot.metric)
        if (auto* cells = metric.load(std::memory_order_relaxed)) cells[r].store(0, std::memory_order_relaxed);
    }
    slot.outside_claimed = 0;
    std::fill(std::begin(slot.outside_counters_claimed), std::end(slot.outside_counters_claimed), 0);
    for (auto& w : slot.work) w.store(0, std::memory_order_relaxed);
  }
  const std::uint32_t needed = regions + 1;
  const bool counters_missing = boundary.count > 0 && !slot.counters.load(std::memory_order_relaxed);
  if (needed > slot.capacity || counters_missing) {
    const std::uint32_t old = slot.capacity;
    const std::uint32_t room = needed > old ? std::max({2 * old, needed, 64u}) : old;
    if (room > old) {
      grow(slot.ticks, slot.tick_arrays, old, room);
      for (auto& metric : slot.metric)
        if (metric.load(std::memory_order_relaxed)) grow(metric, slot.metric_arrays, old, room);
    }
    if (boundary.count > 0)
      grow(slot.counters, slot.counter_arrays, static_cast<std::size_t>(old) * boundary.count,
           static_cast<std::size_t>(room) * boundary.count);
    slot.capacity = room;
  }
  if (first) {
    slot.boundary = boundary;
    slot.n_counters = boundary.count;
    slot.layout.store(boundary.count == 0 && tick_rate().use_tsc ? inline_layout : 0, std::memory_order_relaxed);
    if (boundary.count > 0) boundary.read(boundary.self, slot.counter_stamp);
    slot.stamp.store(ticks(), std::memory_order_release);
    slot.session.store(session, std::memory_order_release);
  }
  slot.limit.store(regions, std::memory_order_release);
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
