// The state of the process, and the session behind the C API.
#pragma once

#include "effort/effort.h"
#include "errors.hpp"
#include "runtime/session/session.hpp"

#include <atomic>
#include <memory>
#include <string>

namespace effort::capi {

enum class Mode : int { none, active, disabled, off };

extern std::atomic<Mode> current_mode;
inline Mode mode() noexcept { return current_mode.load(std::memory_order_acquire); }
void set_mode(Mode mode) noexcept;
/// The session while the mode is active or off; null otherwise.
session::Session* session() noexcept;
/// The session while the mode is active; null otherwise.
inline session::Session* active_session() noexcept { return mode() == Mode::active ? session() : nullptr; }
/// Replaces the session; the old one is destroyed.
void set_session(session::Session* session) noexcept;
/// Registers handlers for forks and for the exit of the host.  Call it before the first session begins.
/// @throws std::bad_alloc
void register_handlers();
/// After those handlers, MPI is being finalized.
void finalize_mpi_at_exit();
/// As set_session, with a session that becomes active.
void install(std::unique_ptr<session::Session> session);
bool begun_by_adapter() noexcept;
void set_begun_by_adapter(bool adapter) noexcept;
/// Switches the library off after an internal error on this or another rank: every call of the host then returns one
/// code.
void switch_off(session::Session& session);

/// The code for a call that needs an active session, in any other mode: ok if disabled.
effort_status inactive() noexcept;

/// The code of a library that is off, or that waits for the step at which all ranks switch off.
effort_status switched_off() noexcept;

/// Runs `body(session)` or `body(session, scope)` under guarded(); without an active session, returns the code of the
/// mode.
template <typename Body>
effort_status in_session(Body&& body) {
  session::Session* const s = active_session();
  if (!s) return inactive();
  if constexpr (std::is_invocable_v<Body, session::Session&, LibraryScope&>)
    return guarded([&](LibraryScope& scope) { return body(*s, scope); });
  else
    return guarded([&] { return body(*s); });
}

/// As above, in a session of the host.  A host must first adopt a session that an adapter began.  Otherwise a host
/// whose init was refused would end steps in a session in which all ranks measure.
template <typename Body>
effort_status in_host_session(Body&& body) {
  return begun_by_adapter() ? inactive() : in_session(std::forward<Body>(body));
}

/// Creates a session from `cfg`; the mode becomes active or disabled.
effort_status begin_session(const effort_config* cfg, bool adapter);
config::Settings settings_from(const effort_config* cfg);
/// The session that replaces an adapter's under the host's settings: null to keep the adapter's, or a new one if the
/// settings require other measurements.
std::unique_ptr<session::Session> adopt(config::Settings settings);
/// Ends the session without finalizing it; from then on, calls do nothing.
void disable() noexcept;

/// Adds a note to an adapter's session that continues after an init of the host has failed, because the host may ignore
/// the returned `status`.
effort_status refused(const char* function, effort_status status);
effort_status already_initialized() noexcept;

/// Adds a line to the notes of the active session, and prints it to stderr under VERBOSE.
void note(const std::string& text);

}  // namespace effort::capi

struct effort_config {
  std::vector<effort::config::Pair> pairs;
};
