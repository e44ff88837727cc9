// Lifetime, progress and hints.
#include "attach.hpp"
#include "boundary.hpp"
#include "step_hooks.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

using namespace effort;
using capi::fail;
using capi::guarded;
using capi::Mode;

static_assert(int(Status::no_hint) == EFFORT_ERR_NO_HINT && int(Status::state) == EFFORT_ERR_STATE && int(Status::io) == EFFORT_ERR_IO &&
              int(Status::switched_off) == EFFORT_ERR_SWITCHED_OFF && int(Status::limit) == EFFORT_ERR_LIMIT &&
              int(Status::config) == EFFORT_ERR_CONFIG && int(Status::callback) == EFFORT_ERR_CALLBACK && int(Status::mpi) == EFFORT_ERR_MPI);
static_assert(int(window::advice_collinear_units) == EFFORT_ADVICE_COLLINEAR_UNITS && int(window::advice_truncated) == EFFORT_ADVICE_TRUNCATED &&
              int(window::advice_unmarked_comm) == EFFORT_ADVICE_UNMARKED_COMM && int(window::advice_stale) == EFFORT_ADVICE_STALE);

namespace {

// The callback and what surrounds it; one thread at a time makes these calls.
effort_rebalance_fn callback = nullptr;
void* callback_user = nullptr;
bool in_callback = false;
bool rebalancing = false;
// What finalize came to when MPI_Finalize made it; a host that calls it afterwards is told once.
enum class MadeByMpi { no, ok, failed } made_by_mpi = MadeByMpi::no;

/// The host's own session.  What an adapter has begun, a host has to adopt first: one whose init was refused would otherwise end steps of its own
/// in a session that all ranks measure in.
engine::Session* active(effort_status& code) noexcept {
  if (capi::mode() == Mode::active && !capi::begun_by_adapter())
    if (engine::Session* s = capi::session()) return s;
  code = capi::inactive();
  return nullptr;
}

effort_status not_from_callback(const char* function) {
  return fail(Status::callback, std::string(function) + " cannot be called from within a rebalance callback: return from it first");
}

void fill(effort_hint& out, const engine::DeliveredHint& h) {
  const node::HintNumbers& n = *h.view.numbers;
  const window::Report& r = n.report;
  out = {};
  out.struct_size = sizeof out;
  out.step = h.step;
  out.window_first = r.first;
  out.window_last = r.last;
  out.rank = h.rank;
  out.n_ranks = h.n_ranks;
  out.load = h.view.load;
  out.predicted = h.view.predicted;
  out.speed = h.view.speed;
  out.n_regions = n.n_regions;
  out.region_name = h.region_name;
  out.region_load = h.view.region_load;
  out.stratum_region_load = h.view.stratum_region_load;
  out.stratum = h.view.stratum;
  out.n_strata = r.strata;
  out.medoid_rank = h.view.medoid_rank;
  out.n_units = n.n_units;
  out.unit_name = h.unit_name;
  out.unit_cost = h.view.unit_cost;
  out.unit_cost_error = h.view.unit_cost_error;
  out.rebalance = r.rebalance ? 1 : 0;
  out.advice = r.advice;
  out.worst_region = r.worst_region;
  out.load_balance = 1 / (1 + r.imbalance);
  out.transfer_efficiency = -1;
#define EFFORT_NUMBER(name, unknown) out.name = r.name;
  EFFORT_HINT_NUMBERS(EFFORT_NUMBER)
#undef EFFORT_NUMBER
  if (!h.overtaken) return;
  out.rebalance = 0;
  out.advice |= EFFORT_ADVICE_STALE;
}

int run_callback(const engine::DeliveredHint& delivered) {
  if (!callback) return 0;
  effort_hint hint;
  fill(hint, delivered);
  in_callback = true;
  int answer = -1;
  // A C++ callback that throws has failed; the exception must not pass through the host's frames of the library.
  try {
    answer = callback(&hint, callback_user);
  } catch (...) {
  }
  in_callback = false;
  return answer;
}

void switch_off(engine::Session& s) {
  capi::set_mode(Mode::off);
  measure::SlotRegistry::instance().retire_all();
  if (s.settings().verbose) std::fprintf(stderr, "effort: switched off: %s\n", s.failure().empty() ? "another rank failed" : s.failure().c_str());
}

effort_status already() {
  return fail(Status::already_initialized, "the library is initialized already: call effort_finalize before another init");
}

void forget_host() {
  callback = nullptr;
  callback_user = nullptr;
  rebalancing = false;
}

/// The same answer on all ranks: what the worst of them has.
effort_status agreed(exchange::Transport& transport, effort_status mine) {
  std::int64_t worst = mine;
  if (!transport.world_min(&worst, 1)) return fail(Status::mpi, transport.error());
  if (mine != EFFORT_OK || worst == EFFORT_OK) return mine == worst ? mine : static_cast<effort_status>(worst);
  return fail(static_cast<Status>(worst), std::string("another rank could not initialize: ") + effort_status_string(static_cast<effort_status>(worst)));
}

/// Whether all ranks may go on to attach: all are well, and stand alike (`place` is what came before on this rank).
/// Otherwise, and where nothing is left to attach (a disabled or attached session), the transport is released.
effort_status agree_to_attach(exchange::Transport& transport, effort_status mine, std::int64_t place) {
  effort_status status = agreed(transport, mine);
  std::int64_t places[2] = {place, -place};
  if (status == EFFORT_OK && !transport.world_min(places, 2)) return fail(Status::mpi, transport.error());
  if (status == EFFORT_OK && places[0] != -places[1])
    status = fail(Status::state, "the ranks come to effort_init_mpi from different states (with and without effort_init or an adapter before it, or disabled on "
                                 "some by DISABLE): make the same calls with the same DISABLE on all ranks");
  if (status != EFFORT_OK || place == 2) transport.release();
  return status;
}

/// An adapter's session goes on without the host, whose init has failed: said where its measurements are, not only to a host that may not look.
effort_status refused(const char* function, effort_status status) {
  if (capi::mode() == Mode::active && capi::begun_by_adapter())
    capi::note(std::string(function) + " of the host was refused (" + effort_last_error() + "): what is measured is without its regions, steps and settings");
  return status;
}

void disable() {
  capi::set_session(nullptr);
  capi::set_mode(Mode::disabled);
}

/// The session to go on with, where the host's settings are these and an adapter has begun one: null for that one; a new one where it measures something
/// else.
std::unique_ptr<engine::Session> adopt(config::Settings settings) {
  engine::Session& begun = *capi::session();
  if (!begun.started() && !begun.measures(settings)) return std::make_unique<engine::Session>(std::move(settings), &begun);
  begun.adopt(std::move(settings));
  return nullptr;
}

/// Whether a session that an adapter has attached goes on as the host's: if the host's settings are the same, or if it holds ranks that are not here.
bool stays(const engine::Session& begun, const config::Settings& settings, const exchange::Transport& transport) {
  if (config::to_text(settings) == config::to_text(begun.settings())) return true;
  if (transport.size() == begun.ranks()) return false;
  capi::note("the host's settings came too late, from fewer ranks than are measured already, and were ignored: set them in the environment");
  return true;
}

/// Makes the host's session of all ranks: the one that is there, or another where that measures something else.  Collective.
effort_status attach_or_begin(std::unique_ptr<exchange::Transport> transport, config::Settings settings) {
  engine::Session* const begun = capi::session();
  const bool adopted = capi::begun_by_adapter(), attached = begun && begun->attached();
  settings = engine::Session::agree(std::move(settings), *transport);
  const bool disabled = settings.disable && (!begun || adopted);
  const bool goes_on = attached && !disabled && stays(*begun, settings, *transport);
  std::unique_ptr<engine::Session> made;
  const effort_status status = agreed(*transport, guarded([&]() -> effort_status {
    if (disabled || goes_on) return EFFORT_OK;
    if (!begun || attached)
      made = std::make_unique<engine::Session>(settings, begun);
    else if (adopted)
      made = adopt(settings);
    // What the others have measured must not end for nothing.
    const bool refuses = attached && !made->recorder().load_refusal().empty();
    return refuses ? fail(Status::unsupported, made->recorder().load_refusal()) : EFFORT_OK;
  }));
  if (status != EFFORT_OK || disabled || goes_on) transport->release();
  if (status != EFFORT_OK || goes_on) return status;
  if (attached) begun->finalize();
  if (attached || disabled) disable();
  if (disabled) return EFFORT_OK;
  (made ? *made : *begun).attach(std::move(transport));
  if (made) capi::install(std::move(made));
  return EFFORT_OK;
}

/// For a host that finalizes after MPI_Finalize has done it.
effort_status late_finalize() {
  const MadeByMpi made = std::exchange(made_by_mpi, MadeByMpi::no);
  if (made == MadeByMpi::no) return capi::inactive();
  return made == MadeByMpi::ok ? EFFORT_OK : fail(Status::io, "the finalize that MPI_Finalize made failed: the last snapshot or report could not be written");
}

}  // namespace

extern "C" {

const char* effort_status_string(effort_status s) {
  switch (s) {
    case EFFORT_OK: return "no error";
    case EFFORT_ERR_INVALID_ARGUMENT: return "invalid argument";
    case EFFORT_ERR_NOT_INITIALIZED: return "the library is not initialized";
    case EFFORT_ERR_ALREADY_INITIALIZED: return "the library is initialized already";
    case EFFORT_ERR_UNKNOWN_ID: return "unknown id";
    case EFFORT_ERR_NESTING: return "regions are not properly nested";
    case EFFORT_ERR_LIMIT: return "a limit is exceeded";
    case EFFORT_ERR_CONFLICT: return "conflicting registration";
    case EFFORT_ERR_CONFIG: return "bad configuration";
    case EFFORT_ERR_MPI: return "MPI error";
    case EFFORT_ERR_MEMORY: return "out of memory";
    case EFFORT_ERR_IO: return "input or output failed";
    case EFFORT_ERR_UNSUPPORTED: return "not supported by this build";
    case EFFORT_ERR_CALLBACK: return "not allowed from within a callback";
    case EFFORT_ERR_INTERNAL: return "internal error";
    case EFFORT_ERR_SWITCHED_OFF: return "the library has switched itself off";
    case EFFORT_ERR_STATE: return "not allowed at this time";
    case EFFORT_ERR_NO_HINT: return "no hint yet";
  }
  return "unknown status";
}

int effort_version(void) { return EFFORT_VERSION; }

effort_status effort_fail(effort_status status, const char* message) { return fail(static_cast<Status>(status), std::string(message)); }

effort_status effort_config_new(effort_config** out) {
  return guarded([&]() -> effort_status {
    if (!out) return fail(Status::invalid_argument, "effort_config_new: the place for the configuration is a null pointer");
    *out = new effort_config;
    return EFFORT_OK;
  });
}

effort_status effort_config_set(effort_config* c, const char* key, const char* value) {
  return guarded([&]() -> effort_status {
    if (!c || !key || !value) return fail(Status::invalid_argument, "effort_config_set: configuration, key or value is a null pointer");
    config::check(key, value);
    c->pairs.emplace_back(key, value);
    return EFFORT_OK;
  });
}

effort_status effort_config_free(effort_config* c) {
  delete c;
  return EFFORT_OK;
}

effort_status effort_adapter_begin(void) {
  if (capi::mode() != Mode::none) return EFFORT_OK;
  return guarded([] { return capi::begin_session(nullptr, true); });
}

effort_status effort_init(const effort_config* cfg) {
  if (in_callback) return not_from_callback("effort_init");
  made_by_mpi = MadeByMpi::no;
  const effort_status status = guarded([&]() -> effort_status {
    if (capi::mode() == Mode::none) return capi::begin_session(cfg, false);
    if (!capi::begun_by_adapter()) return already();
    config::Settings settings = capi::settings_from(cfg);
    if (capi::session() && settings.disable && !capi::session()->started()) {
      disable();
    } else if (capi::session()) {
      auto made = adopt(std::move(settings));
      if (made && !made->recorder().load_refusal().empty()) return fail(Status::unsupported, made->recorder().load_refusal());
      if (made) capi::install(std::move(made));
    }
    capi::set_begun_by_adapter(false);
    return EFFORT_OK;
  });
  return status == EFFORT_OK ? status : refused("effort_init", status);
}

effort_status effort_attach_transport(exchange::Transport* raw, const effort_config* cfg) {
  std::unique_ptr<exchange::Transport> transport(raw);
  const bool fresh = capi::mode() == Mode::none;
  const bool attached = !fresh && capi::session() && capi::session()->attached();
  config::Settings settings;
  effort_status status = guarded([&]() -> effort_status {
    if (in_callback) return not_from_callback("effort_init_mpi");
    if (capi::mode() == Mode::off) return capi::inactive();
    if (attached && !capi::begun_by_adapter()) return already();
    settings = capi::settings_from(cfg);
    return EFFORT_OK;
  });
  status = agree_to_attach(*transport, status, fresh ? 0 : attached ? 1 : capi::mode() == Mode::disabled ? 2 : 3);
  if (status == EFFORT_OK && capi::mode() != Mode::disabled) {
    status = guarded([&] { return attach_or_begin(std::move(transport), std::move(settings)); });
    // What an init takes is nobody's computation.
    if (capi::step_hooks.after) capi::step_hooks.after();
  }
  if (status != EFFORT_OK) return refused("effort_init_mpi", status);
  capi::set_begun_by_adapter(false);
  return status;
}

/// Whoever it belongs to.
static effort_status finalize_session() {
  const effort_status status = guarded([]() -> effort_status {
    engine::Session* s = capi::session();
    if (!s) return EFFORT_OK;
    const Status outcome = s->finalize();
    if (outcome == Status::ok) return EFFORT_OK;
    const std::string why = s->failure();
    return fail(outcome, !why.empty() ? why : outcome == Status::io ? std::string("the last snapshot or report could not be written; see rank 0")
                                                                    : std::string("the library switched itself off earlier in the run"));
  });
  capi::set_session(nullptr);
  capi::set_begun_by_adapter(false);
  capi::set_mode(Mode::none);
  forget_host();
  return status;
}

effort_status effort_finalize(void) {
  if (in_callback) return not_from_callback("effort_finalize");
  if (capi::mode() == Mode::none) return late_finalize();
  if (capi::mode() == Mode::active && capi::begun_by_adapter()) return capi::inactive();
  return finalize_session();
}

void effort_finalize_forgotten(void) {
  if (capi::mode() == Mode::none) return;
  const effort_status status = in_callback ? not_from_callback("effort_finalize") : finalize_session();
  made_by_mpi = status == EFFORT_OK ? MadeByMpi::ok : MadeByMpi::failed;
}

effort_status effort_progress_step(void) {
  effort_status code = EFFORT_OK;
  engine::Session* s = active(code);
  if (!s) return code;
  if (in_callback) return not_from_callback("effort_progress_step");
  return guarded([&]() -> effort_status {
    const capi::StepScope hooks;
    const Status status = s->client().progress_step(run_callback);
    if (status == Status::ok) {
      if (__builtin_expect(s->settings().strict, 0) && s->engine_failed())
        return fail(Status::internal, "STRICT: " + s->failure());
      return EFFORT_OK;
    }
    const bool tell = s->settings().strict && s->engine_failed();
    const std::string why = tell ? "STRICT: " + s->failure() : std::string();
    switch_off(*s);
    return tell ? fail(Status::internal, why) : capi::inactive();
  });
}

effort_status effort_on_rebalance(effort_rebalance_fn fn, void* user) {
  effort_status code = EFFORT_OK;
  if (!active(code)) return code;
  callback = fn;
  callback_user = user;
  return EFFORT_OK;
}

effort_status effort_rebalance_begin(void) {
  effort_status code = EFFORT_OK;
  engine::Session* s = active(code);
  if (!s) return code;
  return guarded([&]() -> effort_status {
    if (rebalancing) return fail(Status::nesting, "effort_rebalance_begin was called twice: call effort_rebalance_end between");
    s->client().rebalance_begin();
    rebalancing = true;
    return EFFORT_OK;
  });
}

effort_status effort_rebalance_end(void) {
  effort_status code = EFFORT_OK;
  engine::Session* s = active(code);
  if (!s) return code;
  return guarded([&]() -> effort_status {
    if (!rebalancing) return fail(Status::nesting, "effort_rebalance_end without effort_rebalance_begin");
    rebalancing = false;
    s->client().rebalance_end();
    return EFFORT_OK;
  });
}

effort_status effort_hint_copy(effort_hint* out, size_t bytes) {
  effort_status code = EFFORT_OK;
  engine::Session* s = active(code);
  // A disabled library has no hint to give, and the host must not read an unset one.
  if (!s) return code == EFFORT_OK ? fail(Status::no_hint, "the library is disabled (DISABLE=1): there are no hints") : code;
  return guarded([&]() -> effort_status {
    if (!out) return fail(Status::invalid_argument, "effort_hint_latest: the place for the hint is a null pointer");
    if (!s->started() || s->client().latest().step < 0) return fail(Status::no_hint, "no hint has been delivered yet: the first is due HINT_LAG steps after the first window");
    effort_hint hint;
    fill(hint, s->client().latest());
    std::memset(static_cast<void*>(out), 0, bytes);
    std::memcpy(static_cast<void*>(out), &hint, std::min(bytes, sizeof hint));
    return EFFORT_OK;
  });
}

// For callers that do not go through the header's macro.
effort_status (effort_hint_latest)(effort_hint* out) { return effort_hint_copy(out, sizeof *out); }

effort_status effort_snapshot(const char* path) {
  effort_status code = EFFORT_OK;
  engine::Session* s = active(code);
  if (!s) return code;
  if (in_callback) return not_from_callback("effort_snapshot");
  return guarded([&]() -> effort_status {
    const Status status = s->client().snapshot(path ? path : "");
    if (status == Status::ok) return EFFORT_OK;
    if (status == Status::switched_off) return capi::inactive();
    const std::string why = s->failure();
    return fail(status, why.empty() ? std::string("the snapshot could not be written; rank 0's effort_last_error says why") : why);
  });
}

}  // extern "C"
