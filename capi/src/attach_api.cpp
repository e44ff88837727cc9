// Joins the ranks of a communicator: at each stage either all of them continue or none does (the stages are listed in
// runtime/exchange/agreement.hpp).
#include "attach.hpp"
#include "host.hpp"
#include "runtime/exchange/agreement.hpp"
#include "state.hpp"
#include "step_hooks.hpp"

#include <memory>
#include <optional>
#include <utility>

using namespace effort;
using capi::fail;
using capi::guarded;
using capi::Mode;

namespace {

/// The state of a process when it calls effort_init_mpi, which must be the same on all ranks.
enum class Standing : std::int64_t {
  fresh,     ///< nothing has been initialized
  begun,     ///< a session of the host or of an adapter, without a communicator
  attached,  ///< a session with a communicator
  disabled   ///< initialized with DISABLE
};

Standing standing() noexcept {
  if (capi::mode() == Mode::none) return Standing::fresh;
  if (capi::session() && capi::session()->attached()) return Standing::attached;
  return capi::mode() == Mode::disabled ? Standing::disabled : Standing::begun;
}

/// The worst status of all ranks.  If it is worse than this rank's own, the message says that another rank failed.
effort_status agreed(exchange::Transport& transport, effort_status mine) {
  const Status worst = exchange::worst_status(transport, static_cast<Status>(mine));
  const auto code = static_cast<effort_status>(worst);
  if (mine != EFFORT_OK || worst == Status::ok) return code;
  // The caller must still release the transport if there is no memory for the message.
  return guarded(
      [&] { return fail(worst, std::string("another rank could not initialize: ") + effort_status_string(code)); });
}

/// This rank's contribution: its requested settings, if it may join at all.
effort_status prepare(Standing before, const effort_config* cfg, std::optional<config::Settings>& settings) {
  return guarded([&]() -> effort_status {
    if (capi::inside_callback()) return capi::not_from_callback("effort_init_mpi");
    if (capi::mode() == Mode::off) return capi::inactive();
    if (before == Standing::attached && !capi::begun_by_adapter()) return capi::already_initialized();
    settings = capi::settings_from(cfg);
    capi::register_handlers();
    return EFFORT_OK;
  });
}

/// Whether all ranks may continue: none has failed, and all are in the same state.
effort_status agree_to_join(exchange::Transport& transport, effort_status mine, Standing before) {
  return guarded([&]() -> effort_status {
    const effort_status status = agreed(transport, mine);
    if (status != EFFORT_OK || exchange::same_on_all_ranks(transport, static_cast<std::int64_t>(before))) return status;
    return fail(
        Status::state,
        "effort_init_mpi: the ranks are in different states (some have called effort_init or run an adapter, or "
        "are disabled by DISABLE, and others are not): make the same calls with the same DISABLE on all ranks");
  });
}

/// Whether the host takes over a session that an adapter has attached.  It does if its settings are the same, or if the
/// session includes ranks outside this communicator.
bool host_keeps(const session::Session& begun, const config::Settings& settings, const exchange::Transport& transport) {
  if (config::to_text(settings) == config::to_text(begun.settings())) return true;
  if (transport.size() == begun.ranks()) return false;
  capi::note(
      "the settings passed to effort_init_mpi were ignored, because an adapter already measures more ranks than the "
      "communicator has: set them in the environment instead");
  return true;
}

/// Creates the host's session of all ranks: keeps the existing one, or replaces it if it measures something else.
/// Collective.
effort_status join(std::unique_ptr<exchange::Transport> transport, config::Settings settings) {
  session::Session* const begun = capi::session();
  const bool adopted = capi::begun_by_adapter(), attached = begun && begun->attached();
  settings = session::Session::share_settings(settings, *transport);
  const bool disabled = settings.disable && (!begun || adopted);
  bool keeps_session = false;
  std::unique_ptr<session::Session> made;
  const effort_status status = agreed(*transport, guarded([&]() -> effort_status {
    keeps_session = attached && !disabled && host_keeps(*begun, settings, *transport);
    if (disabled || keeps_session) return EFFORT_OK;
    if (!begun || attached)
      made = std::make_unique<session::Session>(settings, begun);
    else if (adopted)
      made = capi::adopt(settings);
    // Do not discard the measurements of the other ranks.
    const bool refuses = attached && !made->recorder().load_refusal().empty();
    return refuses ? fail(Status::unsupported, made->recorder().load_refusal()) : EFFORT_OK;
  }));
  if (status != EFFORT_OK || disabled || keeps_session) transport->release();
  if (status != EFFORT_OK || keeps_session) return status;
  if (attached) begun->finalize();
  if (attached || disabled) capi::disable();
  if (disabled) return EFFORT_OK;
  (made ? *made : *begun).attach(std::move(transport));
  if (made) capi::install(std::move(made));
  return EFFORT_OK;
}

}  // namespace

extern "C" effort_status effort_attach_transport(exchange::Transport* raw, const effort_config* cfg) {
  const LibraryScope scope;
  std::unique_ptr<exchange::Transport> transport(raw);
  const Standing before = standing();
  std::optional<config::Settings> settings;
  const effort_status mine = prepare(before, cfg, settings);
  effort_status status = agree_to_join(*transport, mine, before);
  if (status != EFFORT_OK || before == Standing::disabled) {
    transport->release();
  } else {
    status = guarded([&] { return join(std::move(transport), std::move(*settings)); });
    // Do not charge initialization to a compute region.
    if (capi::step_hooks.after) capi::step_hooks.after();
  }
  if (status != EFFORT_OK) return capi::refused("effort_init_mpi", status);
  capi::set_begun_by_adapter(false);
  return status;
}
