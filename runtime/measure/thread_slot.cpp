#include "runtime/measure/thread_slot.hpp"

#include "runtime/measure/boundary.hpp"
#include "runtime/measure/careful.hpp"
#include "runtime/thread_end.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

namespace effort::measure {

extern "C" {
__thread void* effort_this_thread_slot = nullptr;
}

static_assert(sizeof(SlotFront) == 64);

namespace {

std::mutex registry_mutex;

/// The calling thread's slot until the thread ends, also while effort_this_thread_slot is null.
EFFORT_IN_EVERY_THREAD thread_local ThreadSlot* owned = nullptr;

void copy_cell(Cell& to, const Cell& from) {
  copy_value(to.ticks, from.ticks);
  copy_value(to.begins, from.begins);
}

}  // namespace

// ---- ThreadSlot

void ThreadSlot::make_room(std::uint32_t room, const SlotPlan& plan) {
  if (room > room_) {
    grow(cells, cell_arrays_, room_, room, copy_cell);
    amounts.make_room(room_, room);
  }
  counters.make_room(room, plan);
  room_ = room;
}

/// Sets everything to zero, for a session that reuses the slot of an earlier one.
void ThreadSlot::clear() {
  depth = 0;
  pricing = {};
  own.before_begin.store(0, std::memory_order_relaxed);
  own.before_end.store(0, std::memory_order_relaxed);
  current.store(outside, std::memory_order_relaxed);
  requests.store(0, std::memory_order_relaxed);
  gate.reset();
  sampling.reset();
  counters.reset();
  amounts.reset(room_);
  for (std::uint32_t r = 0; r < room_; ++r) copy_cell(cells.load(std::memory_order_relaxed)[r], Cell());
  outside_claimed_ = 0;
}

void ThreadSlot::prepare(std::uint64_t session, std::uint32_t regions, const SlotPlan& plan) {
  limit.store(0, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool first = this->session() != session;
  if (first) clear();
  const Careful arrays_half_made(*this);
  const std::uint32_t needed = regions + 1;
  if (needed > room_)
    make_room(std::max({2 * room_, needed, 64u}), plan);
  else if (!counters.has_room_for(room_, plan))
    make_room(room_, plan);
  // A slot may come from a thread that has ended, with that thread's counters.
  if (first || !counters.is_open()) counters.start(plan);
  if (first || !registry_) registry_ = plan.registry ? *plan.registry : nullptr;
  if (first) {
    short_path_ = counters.count() == 0 && tick_rate().use_tsc;
    layout.store(tick_rate().use_tsc ? inline_layout : 0, std::memory_order_relaxed);
    sampling.seed(number_);
    events.offer(plan.events);
    record_events();
    stamp.store(ticks(), std::memory_order_release);
    session_.store(session, std::memory_order_release);
  } else if (!events.on()) {
    record_events();  // the previous thread has closed them
  }
  known.store(regions, std::memory_order_release);
}

// ---- SlotRegistry

/// Returns the slot of a thread that ends.  Later calls of the thread acquire a new one.
void SlotRegistry::thread_ends(void*) {
  effort_this_thread_slot = nullptr;
  ThreadSlot* const slot = std::exchange(owned, nullptr);
  if (!slot) return;
  if (slot->cells.load(std::memory_order_relaxed)) leave_all(*slot);
  {
    const Busy way(*slot);
    slot->events.close();
  }
  slot->counters.thread_ends();
  slot->counters.close();
  slot->owned_.store(false, std::memory_order_release);
}

SlotRegistry& SlotRegistry::instance() noexcept {
  // Never destroyed: threads may outlive static destruction.  Not from the heap, which may have no memory left.
  alignas(SlotRegistry) static std::byte place[sizeof(SlotRegistry)];
  static SlotRegistry* const registry = new (place) SlotRegistry;
  return *registry;
}

ThreadSlot& SlotRegistry::acquire() {
  static const ThreadEnd end(thread_ends);
  std::lock_guard lock(registry_mutex);
  if (!owned) {
    // Otherwise the slot would keep its counters, and the region that is open, beyond the thread's end.
    if (!end.ask()) throw std::bad_alloc();
    auto free = std::find_if(all_.begin(), all_.end(),
                             [](const auto& s) { return !s->owned_.load(std::memory_order_acquire); });
    if (free == all_.end()) {
      free = all_.insert(all_.end(), std::make_unique<ThreadSlot>(static_cast<std::uint32_t>(all_.size())));
      count_.store(all_.size(), std::memory_order_release);
    }
    (*free)->owned_.store(true, std::memory_order_relaxed);
    owned = free->get();
  }
  effort_this_thread_slot = owned;
  return *owned;
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
    slot->retire();
    slot->current.store(outside, std::memory_order_relaxed);
  }
  // Other threads close their own counters: at their next session, or when they end.
  if (owned) {
    owned->counters.close();
    owned->leave_session();
  }
  effort_this_thread_slot = nullptr;
}

void SlotRegistry::abandon() {
  effort_this_thread_slot = nullptr;
  if (!owned) return;
  owned->retire();
  owned->events.withdraw();
  owned->counters.abandon();
  owned = nullptr;
}

}  // namespace effort::measure
