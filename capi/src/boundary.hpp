// The boundary between C and C++: exceptions become codes, messages are kept per thread.
#pragma once

#include "effort/effort.h"
#include "runtime/engine/session.hpp"
#include "runtime/status.hpp"

#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace effort::capi {

/// Keeps a message for effort_last_error(); a literal costs nothing.
effort_status fail(Status status, const char* literal) noexcept;
effort_status fail(Status status, const std::string& message) noexcept;

/// Runs `body`, which returns void or effort_status, and turns what it throws into a code.
template <typename Body>
effort_status guarded(Body&& body) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return EFFORT_OK;
    } else {
      return body();
    }
  } catch (const Error& e) {
    return fail(e.status(), std::string(e.what()));
  } catch (const std::bad_alloc&) {
    return fail(Status::memory, "out of memory");
  } catch (const std::exception& e) {
    return fail(Status::internal, std::string(e.what()));
  } catch (...) {
    return fail(Status::internal, "an unknown exception inside the library");
  }
}

/// What state the process is in.
enum class Mode : int { none, active, disabled, off };

extern std::atomic<Mode> current_mode;
inline Mode mode() noexcept { return current_mode.load(std::memory_order_acquire); }
void set_mode(Mode mode) noexcept;
/// The session while the mode is active or off; null otherwise.
engine::Session* session() noexcept;
/// Replaces the session; the old one is destroyed.
void set_session(engine::Session* session) noexcept;
/// The same with one that is to be used from now on.
void install(std::unique_ptr<engine::Session> session);
bool begun_by_adapter() noexcept;
void set_begun_by_adapter(bool adapter) noexcept;

/// The code for a call that needs an active session, in any other mode: ok where disabled.
effort_status inactive() noexcept;

/// Makes a session from `cfg`; the mode becomes active or disabled.
effort_status begin_session(const effort_config* cfg, bool adapter);
config::Settings settings_from(const effort_config* cfg);

/// A line for the notes of the active session, and for stderr under VERBOSE.
void note(const std::string& text) noexcept;

}  // namespace effort::capi

struct effort_config {
  std::vector<effort::config::Pair> pairs;
};
