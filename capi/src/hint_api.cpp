// Progress steps, hints and rebalances.
#include "analytics/window/report.hpp"
#include "host.hpp"
#include "state.hpp"
#include "step_hooks.hpp"

#include <algorithm>
#include <cstring>

using namespace effort;
using capi::fail;
using capi::host;
using capi::in_host_session;
using session::Session;

#define EFFORT_BIT(name, c_name, bit) static_assert(int(window::advice_##name) == EFFORT_ADVICE_##c_name);
EFFORT_ADVICE_BITS(EFFORT_BIT)
#undef EFFORT_BIT

namespace {

void fill(effort_hint& out, const session::DeliveredHint& h) {
  const node::HintNumbers& n = *h.view.numbers;
  const window::Report& r = n.report;
  out = {};
  out.struct_size = sizeof out;
  out.step = h.step;
  out.window_first = r.first;
  out.window_last = r.last;
  out.rank = h.rank;
  out.n_ranks = h.n_ranks;
  out.n_regions = n.n_regions;
  out.region_name = h.region_name;
  out.n_strata = r.strata;
  out.n_units = n.n_units;
  out.unit_name = h.unit_name;
  out.rebalance = r.rebalance ? 1 : 0;
  out.advice = r.advice;
  out.worst_region = r.worst_region;
  out.load_balance = 1 / (1 + r.imbalance);
#define EFFORT_NUMBER(name, unknown, unit, meaning) out.name = r.name;
  EFFORT_HINT_NUMBERS(EFFORT_NUMBER)
#undef EFFORT_NUMBER
  window::each_hint_array([](window::Extent, auto& array, auto values) { array = values; }, out, h.view);
  if (!h.overtaken) return;
  out.rebalance = 0;
  out.advice |= EFFORT_ADVICE_STALE;
}

int run_callback(const session::DeliveredHint& delivered, LibraryScope& library) {
  if (!host.callback) return 0;
  effort_hint hint;
  fill(hint, delivered);
  const auto call = [](const void* what) { return host.callback(static_cast<const effort_hint*>(what), host.user); };
  return capi::call_host(call, &hint, library);
}

/// Tells the host if this rank has entered or left the sample with the step that now begins.  The time of the host's
/// callback is not part of the loads.
void tell_sampling(Session& s, LibraryScope& library) {
  const bool sampled = s.client().sampled();
  if (sampled == host.sampled) return;
  host.sampled = sampled;
  if (!host.on_sampling) return;
  const std::int64_t step = s.client().steps();
  const auto call = [](const void* first_step) {
    host.on_sampling(host.sampled ? 1 : 0, *static_cast<const std::int64_t*>(first_step), host.sampling_user);
    return 0;
  };
  capi::call_host(call, &step, library);
  s.recorder().resume();
}

}  // namespace

extern "C" {

effort_status effort_progress_step(void) {
  return in_host_session([](Session& s, LibraryScope& library) -> effort_status {
    if (capi::inside_callback()) return capi::not_from_callback("effort_progress_step");
    const capi::StepScope hooks;
    const Status status = s.client().progress_step(
        [&](const session::DeliveredHint& delivered) { return run_callback(delivered, library); });
    tell_sampling(s, library);
    if (status != Status::ok) capi::switch_off(s);
    if (__builtin_expect(s.settings().strict, 0) && s.failed()) return fail(Status::internal, "STRICT: " + s.failure());
    return status == Status::ok ? EFFORT_OK : capi::inactive();
  });
}

effort_status effort_on_rebalance(effort_rebalance_fn fn, void* user) {
  return in_host_session([&](Session&) -> effort_status {
    host.callback = fn;
    host.user = user;
    return EFFORT_OK;
  });
}

effort_status effort_on_sampling(effort_sampling_fn fn, void* user) {
  return in_host_session([&](Session& s) -> effort_status {
    if (fn && !s.settings().trace.decides_in_advance())
      return fail(Status::config,
                  "effort_on_sampling: with TRACE_DESIGN=retrospective, ranks are chosen after a window has ended: set "
                  "TRACE_DESIGN to subset or global");
    if (fn && s.started() && s.client().steps() > 0)
      return fail(Status::state,
                  "effort_on_sampling: a progress step has ended already: call it before the first one, so that no "
                  "change is missed");
    host.on_sampling = fn;
    host.sampling_user = user;
    return EFFORT_OK;
  });
}

int effort_sampled(void) {
  session::Session* const s = capi::begun_by_adapter() ? nullptr : capi::active_session();
  return s && s->started() && s->client().sampled() ? 1 : 0;
}

effort_status effort_rebalance_begin(void) {
  return in_host_session([](Session& s) -> effort_status {
    if (host.rebalancing)
      return fail(Status::nesting, "effort_rebalance_begin was called twice: call effort_rebalance_end in between");
    s.client().rebalance_begin();
    host.rebalancing = true;
    return EFFORT_OK;
  });
}

effort_status effort_rebalance_end(void) {
  return in_host_session([](Session& s) -> effort_status {
    if (!host.rebalancing) return fail(Status::nesting, "effort_rebalance_end without effort_rebalance_begin");
    host.rebalancing = false;
    s.client().rebalance_end();
    return EFFORT_OK;
  });
}

effort_status effort_hint_copy(effort_hint* out, size_t bytes) {
  // A disabled library has no hints, and the host must not read an uninitialized one.
  if (capi::mode() == capi::Mode::disabled)
    return fail(Status::no_hint, "the library is disabled (DISABLE=1): there are no hints");
  return in_host_session([&](Session& s) -> effort_status {
    if (!out) return fail(Status::invalid_argument, "effort_hint_latest: the address for the hint is a null pointer");
    if (!s.started() || s.client().latest().step < 0)
      return fail(Status::no_hint,
                  "no hint has been delivered yet: the first is due HINT_LAG steps after the first window");
    effort_hint hint;
    fill(hint, s.client().latest());
    std::memset(static_cast<void*>(out), 0, bytes);
    std::memcpy(static_cast<void*>(out), &hint, std::min(bytes, sizeof hint));
    return EFFORT_OK;
  });
}

// For callers that do not use the header's macro.
effort_status(effort_hint_latest)(effort_hint* out) { return effort_hint_copy(out, sizeof *out); }

effort_status effort_snapshot(const char* path) {
  return in_host_session([&](Session& s) -> effort_status {
    if (capi::inside_callback()) return capi::not_from_callback("effort_snapshot");
    const Status status = s.client().snapshot(path ? path : "");
    if (status == Status::ok) return EFFORT_OK;
    if (status == Status::switched_off) return capi::switched_off();
    const std::string why = s.failure();
    return fail(status, why.empty()
                            ? std::string("the snapshot could not be written; rank 0's effort_last_error says why")
                            : why);
  });
}

}  // extern "C"
