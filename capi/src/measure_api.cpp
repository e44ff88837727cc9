// Regions, work and metrics: the calls on the host's hot paths.
#include "analytics/number_text.hpp"
#include "effort/effort_inline.h"
#include "runtime/host_scope.hpp"
#include "runtime/measure/boundary.hpp"
#include "runtime/measure/site_cache.hpp"
#include "state.hpp"

#include <cstdio>
#include <cstring>

using namespace effort;
using capi::fail;
using capi::guarded;
using capi::guarded_amount;
using capi::Mode;
using measure::this_thread_slot;
using measure::ThreadSlot;

static_assert(EFFORT_MAX_REGIONS == measure::max_regions && EFFORT_MAX_DEPTH == measure::max_depth &&
              EFFORT_MAX_UNITS == measure::max_units && EFFORT_MAX_METRICS == measure::max_metrics &&
              EFFORT_MAX_NAME == measure::max_name);

#if defined(EFFORT_INLINE_LAYOUT)
static_assert(EFFORT_INLINE_LAYOUT == measure::inline_layout);
#define SAME_PLACE(member, inline_member) \
  static_assert(offsetof(measure::SlotFront, member) == offsetof(effort_thread_slot, inline_member))
SAME_PLACE(layout, layout);
SAME_PLACE(limit, limit);
SAME_PLACE(current, current);
SAME_PLACE(depth, depth);
SAME_PLACE(stamp, stamp);
SAME_PLACE(cells, cells);
SAME_PLACE(stack, stack);
SAME_PLACE(own.before_begin, own_before_begin);
SAME_PLACE(own.before_end, own_before_end);
#undef SAME_PLACE
static_assert(sizeof(measure::Cell) == sizeof(effort_thread_cell) &&
              offsetof(measure::Cell, ticks) == offsetof(effort_thread_cell, ticks) &&
              offsetof(measure::Cell, begins) == offsetof(effort_thread_cell, begins));
#endif

namespace {

/// Runs `body(recorder)` in an active session of the host or of an adapter.
template <typename Body>
effort_status with_recorder(Body&& body) {
  return capi::in_session([&](session::Session& s) { return body(s.recorder()); });
}

effort_status bad_region(effort_region_id r) {
  return fail(Status::unknown_id,
              "region id " + std::to_string(r) + " was never returned by effort_region: use an id that it returned");
}

// The slow path: the first call of a thread, new regions, and all errors.
[[gnu::noinline]] effort_status begin_first(effort_region_id r) {
  return with_recorder([&](measure::Recorder& rec) -> effort_status {
    if (!rec.registry().host_has(r)) return bad_region(r);
    ThreadSlot& slot = rec.slot();
    if (slot.depth >= measure::max_depth)
      return fail(Status::limit, "more than " + std::to_string(measure::max_depth) +
                                     " regions are open at once in this thread; region '" +
                                     rec.registry().region_name(static_cast<std::uint32_t>(r)) +
                                     "' was not begun: end regions, or nest less");
    measure::open_carefully(slot, static_cast<std::uint32_t>(r));
    return EFFORT_OK;
  });
}

// Counters, sampling, or a signal handler in the middle of another begin.  Separate from the slow path, which would
// require saving registers at every call.
[[gnu::noinline]] effort_status begin_slow(effort_region_id r) {
  ThreadSlot* const known = this_thread_slot();
  if (!known ||
      (!known->gate.closed() && (static_cast<std::uint32_t>(r) - 1u >= known->known.load(std::memory_order_relaxed) ||
                                 known->depth >= measure::max_depth)))
    return begin_first(r);
  measure::open_carefully(*known, static_cast<std::uint32_t>(r));
  return EFFORT_OK;
}

[[gnu::noinline]] effort_status bad_end(effort_region_id r) {
  return with_recorder([&](measure::Recorder& rec) -> effort_status {
    if (!rec.registry().host_has(r)) return bad_region(r);
    const std::string name = rec.registry().region_name(static_cast<std::uint32_t>(r));
    const ThreadSlot& slot = rec.slot();
    if (slot.depth == 0)
      return fail(
          Status::nesting,
          "region '" + name + "' was ended in a thread that has none open: call effort_begin first in that thread");
    return fail(Status::nesting, "region '" + name + "' was ended while '" +
                                     rec.registry().region_name(measure::innermost(slot)) +
                                     "' is the innermost one: end regions in the reverse order of their begins");
  });
}

[[gnu::noinline]] effort_status end_slow(effort_region_id r) {
  ThreadSlot* const known = this_thread_slot();
  if (known && measure::close_carefully(*known, static_cast<std::uint32_t>(r))) return EFFORT_OK;
  return bad_end(r);
}

// Limits on the amounts of a call: the sums of a run and their squares stay finite, and the ticks of a step fit their
// counter.
constexpr double most_seconds = 1e6, most_of_anything = 1e100;

effort_status bad_amount(const char* what, double amount, double most) {
  return fail(Status::invalid_argument, std::string(what) + " must be finite, not negative and at most " +
                                            general_text(most, 6) + ", but is " + general_text(amount, 6));
}

/// Shared by the calls that add an amount to something identified by an id, which `known` checks.
template <typename Known, typename Add>
effort_status add_amount(std::int32_t id, double amount, double most, const char* what, const Known& known,
                         const Add& add) {
  session::Session* const s = capi::active_session();
  if (!s) return capi::inactive();
  const AmountScope scope;
  amount = AmountScope::amount(amount);
  measure::Recorder& rec = s->recorder();
  if (!known(rec.registry()))
    return guarded([&] {
      return fail(Status::unknown_id, std::string("id ") + std::to_string(id) + " for " + what +
                                          " was never returned: use an id that its registration returned");
    });
  if (!(amount >= 0 && amount <= most)) return guarded([&] { return bad_amount(what, amount, most); });
  return guarded_amount([&] { add(rec, amount); });
}

static_assert(EFFORT_MAX_REGIONS < 1 << measure::site_id_bits);

/// The id of a call site's name; 0 if it cannot be registered, with the reason in `status`.
effort_region_id named(const char* name, effort_kind kind, volatile effort_region_id* cache, effort_status& status) {
  const ThreadSlot* slot = this_thread_slot();
  if (slot && slot->in_session()) {
    const std::uint32_t id = measure::from_site_cache(__atomic_load_n(cache, __ATOMIC_RELAXED), slot->session());
    if (id > 0) return static_cast<effort_region_id>(id);
  }
  effort_region_id id = -1;
  status = effort_region(name, kind, &id);
  // A region that is already registered with another kind is opened with that kind.
  if (id < 1) return 0;
  status = EFFORT_OK;
  if (session::Session* s = capi::session())
    __atomic_store_n(cache, measure::to_site_cache(s->recorder().session(), static_cast<std::uint32_t>(id)),
                     __ATOMIC_RELAXED);
  return id;
}

effort_status no_cache(const char* function) {
  return fail(
      Status::invalid_argument,
      std::string(function) + ": the cache is a null pointer: pass the address of a variable that is -1 at first");
}

}  // namespace

extern "C" {

// Align both to a cache line: a pair that straddles two lines costs 4 % of the floor more.
[[gnu::aligned(64)]] effort_status effort_begin(effort_region_id r) {
  ThreadSlot* const slot = this_thread_slot();
  if (__builtin_expect(slot == nullptr, 0)) return capi::mode() == Mode::disabled ? EFFORT_OK : begin_slow(r);
  return __builtin_expect(measure::begin_short(*slot, static_cast<std::uint32_t>(r)), 1) ? EFFORT_OK : begin_slow(r);
}

[[gnu::aligned(64)]] effort_status effort_end(effort_region_id r) {
  ThreadSlot* const slot = this_thread_slot();
  if (__builtin_expect(slot == nullptr, 0)) return capi::mode() == Mode::disabled ? EFFORT_OK : end_slow(r);
  return __builtin_expect(measure::end_short(*slot, static_cast<std::uint32_t>(r)), 1) ? EFFORT_OK : end_slow(r);
}

effort_status effort_region(const char* name, effort_kind kind, effort_region_id* out) {
  if (out) *out = -1;
  return with_recorder([&](measure::Recorder& rec) -> effort_status {
    if (!out) return fail(Status::invalid_argument, "effort_region: the address for the id is a null pointer");
    // A C host may pass any number, which would be undefined behaviour to read as a C++ enum.
    int number = 0;
    static_assert(sizeof number == sizeof kind);
    std::memcpy(&number, &kind, sizeof number);
    if (number < EFFORT_COMPUTE || number > EFFORT_IO)
      return fail(Status::invalid_argument, "effort_region: kind " + std::to_string(number) +
                                                " is invalid: use EFFORT_COMPUTE, _COMM, _WAIT or _IO");
    static_assert(int(measure::Kind::compute) == EFFORT_COMPUTE && int(measure::Kind::comm) == EFFORT_COMM &&
                  int(measure::Kind::wait) == EFFORT_WAIT && int(measure::Kind::io) == EFFORT_IO);
    const auto found = rec.registry().region(name, static_cast<measure::Kind>(number));
    rec.registry().give_to_host(found.id);
    *out = static_cast<effort_region_id>(found.id);
    if (!found.conflict) return EFFORT_OK;
    return fail(Status::conflict,
                "region '" + std::string(name) +
                    "' is already registered with another kind, which it keeps: use one kind everywhere");
  });
}

effort_status effort_region_find(const char* name, effort_region_id* out) {
  if (out) *out = -1;
  return with_recorder([&](measure::Recorder& rec) -> effort_status {
    if (!out) return fail(Status::invalid_argument, "effort_region_find: the address for the id is a null pointer");
    const std::uint32_t id = rec.registry().find_region(name);
    if (id == 0)
      return fail(Status::unknown_id, "there is no region '" + std::string(name) + "': register it with effort_region");
    rec.registry().give_to_host(id);
    *out = static_cast<effort_region_id>(id);
    return EFFORT_OK;
  });
}

effort_status effort_begin_named(const char* name, volatile effort_region_id* cache) {
  if (!cache) return no_cache("effort_begin_named");
  effort_status status = EFFORT_OK;
  const effort_region_id id = named(name, EFFORT_COMPUTE, cache, status);
  return id > 0 ? effort_begin(id) : status;
}

effort_status effort_end_named(const char* name, volatile effort_region_id* cache) {
  if (!cache) return no_cache("effort_end_named");
  effort_status status = EFFORT_OK;
  const effort_region_id id = named(name, EFFORT_COMPUTE, cache, status);
  return id > 0 ? effort_end(id) : status;
}

effort_status effort_begin_scope(const char* name, effort_kind kind, volatile effort_region_id* cache,
                                 effort_region_id* id) {
  if (!cache || !id) return no_cache("effort_begin_scope");
  effort_status status = EFFORT_OK;
  const effort_region_id found = named(name, kind, cache, status);
  *id = found > 0 ? found : -1;
  return found > 0 ? effort_begin(found) : status;
}

effort_status effort_add(effort_region_id r, double seconds) {
  return add_amount(
      r, seconds, most_seconds, "seconds", [&](auto& names) { return names.host_has(r); },
      [&](auto& rec, double amount) { rec.add_seconds(static_cast<std::uint32_t>(r), amount); });
}

effort_status effort_phase(const char* name) {
  return with_recorder([&](measure::Recorder& rec) { rec.set_phase(rec.registry().phase(name)); });
}

effort_status effort_work_unit(const char* name, effort_work_id* out) {
  if (out) *out = -1;
  return with_recorder([&](measure::Recorder& rec) -> effort_status {
    if (!out) return fail(Status::invalid_argument, "effort_work_unit: the address for the id is a null pointer");
    *out = static_cast<effort_work_id>(rec.registry().unit(name));
    return EFFORT_OK;
  });
}

effort_status effort_work(effort_work_id w, double amount) {
  return add_amount(
      w, amount, most_of_anything, "an amount of work",
      [&](auto& names) { return w >= 0 && static_cast<std::uint32_t>(w) < names.n_units(); },
      [&](auto& rec, double whole) { rec.add_work(static_cast<std::uint32_t>(w), whole); });
}

effort_status effort_metric_define(const char* name, const char* unit, effort_metric_id* out) {
  if (out) *out = -1;
  return with_recorder([&](measure::Recorder& rec) -> effort_status {
    if (!out) return fail(Status::invalid_argument, "effort_metric_define: the address for the id is a null pointer");
    const auto found = rec.registry().metric_of_application(name, unit);
    *out = static_cast<effort_metric_id>(found.id);
    if (!found.conflict) return EFFORT_OK;
    return fail(Status::conflict,
                "metric '" + std::string(name) +
                    "' is already registered with another unit, which it keeps: use one unit everywhere");
  });
}

effort_status effort_metric(effort_metric_id m, double value) {
  return add_amount(
      m, value, most_of_anything, "a metric", [&](auto& names) { return names.application_has(m); },
      [&](auto& rec, double amount) { rec.add_metric(static_cast<std::uint32_t>(m), amount); });
}

}  // extern "C"
