// Configuration, initialization and finalization.
#include "host.hpp"
#include "state.hpp"

#include <utility>

using namespace effort;
using capi::fail;
using capi::guarded;
using capi::host;
using capi::Mode;

static_assert(int(Status::no_hint) == EFFORT_ERR_NO_HINT && int(Status::state) == EFFORT_ERR_STATE &&
              int(Status::io) == EFFORT_ERR_IO && int(Status::switched_off) == EFFORT_ERR_SWITCHED_OFF &&
              int(Status::limit) == EFFORT_ERR_LIMIT && int(Status::config) == EFFORT_ERR_CONFIG &&
              int(Status::callback) == EFFORT_ERR_CALLBACK && int(Status::mpi) == EFFORT_ERR_MPI);

namespace {

// Outcome of the finalize inside MPI_Finalize; returned once to a host that calls effort_finalize afterwards.
enum class MadeByMpi { no, ok, failed } made_by_mpi = MadeByMpi::no;

/// For a host that calls effort_finalize after MPI_Finalize has already finalized the session.
effort_status late_finalize() {
  const MadeByMpi made = std::exchange(made_by_mpi, MadeByMpi::no);
  if (made == MadeByMpi::no) return capi::inactive();
  if (made == MadeByMpi::ok) return EFFORT_OK;
  return fail(
      Status::io,
      "MPI_Finalize ended the session, but the last snapshot or report could not be written: call effort_finalize "
      "before MPI_Finalize to get the reason");
}

}  // namespace

extern "C" {

int effort_version(void) { return EFFORT_VERSION; }

effort_status effort_config_new(effort_config** out) {
  return guarded([&]() -> effort_status {
    if (!out)
      return fail(Status::invalid_argument, "effort_config_new: the address for the configuration is a null pointer");
    *out = new effort_config;
    return EFFORT_OK;
  });
}

effort_status effort_config_set(effort_config* c, const char* key, const char* value) {
  return guarded([&]() -> effort_status {
    if (!c || !key || !value)
      return fail(Status::invalid_argument, "effort_config_set: configuration, key or value is a null pointer");
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
  if (capi::inside_callback()) return capi::not_from_callback("effort_init");
  made_by_mpi = MadeByMpi::no;
  const effort_status status = guarded([&]() -> effort_status {
    if (capi::mode() == Mode::none) return capi::begin_session(cfg, false);
    if (!capi::begun_by_adapter()) return capi::already_initialized();
    config::Settings settings = capi::settings_from(cfg);
    if (capi::session() && settings.disable && !capi::session()->started()) {
      capi::disable();
    } else if (capi::session()) {
      auto made = capi::adopt(std::move(settings));
      if (made && !made->recorder().load_refusal().empty())
        return fail(Status::unsupported, made->recorder().load_refusal());
      if (made) capi::install(std::move(made));
    }
    capi::set_begun_by_adapter(false);
    return EFFORT_OK;
  });
  return status == EFFORT_OK ? status : capi::refused("effort_init", status);
}

/// Finalizes the session, whether the host or an adapter began it.
static effort_status finalize_session() {
  const LibraryScope scope;  // also covers the destructors at the end
  const effort_status status = guarded([]() -> effort_status {
    session::Session* s = capi::session();
    if (!s) return EFFORT_OK;
    // A session of one process starts with its first step.
    if (!s->started() && !capi::begun_by_adapter()) s->report_no_steps();
    const Status outcome = s->finalize();
    if (outcome == Status::ok) return EFFORT_OK;
    const std::string why = s->failure();
    if (!why.empty()) return fail(outcome, why);
    return fail(outcome, outcome == Status::io
                             ? "the last snapshot or report could not be written; rank 0's effort_last_error says why"
                             : "the library switched itself off earlier in the run");
  });
  capi::set_session(nullptr);
  capi::set_begun_by_adapter(false);
  capi::set_mode(Mode::none);
  host = {};
  return status;
}

effort_status effort_finalize(void) {
  if (capi::inside_callback()) return capi::not_from_callback("effort_finalize");
  if (capi::mode() == Mode::none) return late_finalize();
  if (capi::mode() == Mode::active && capi::begun_by_adapter()) return capi::inactive();
  return finalize_session();
}

void effort_finalize_forgotten(void) {
  capi::finalize_mpi_at_exit();
  if (capi::mode() == Mode::none) return;
  const effort_status status =
      capi::inside_callback() ? capi::not_from_callback("effort_finalize") : finalize_session();
  made_by_mpi = status == EFFORT_OK ? MadeByMpi::ok : MadeByMpi::failed;
}

}  // extern "C"
