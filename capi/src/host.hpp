// State of the host's rebalancing.
#pragma once

#include "errors.hpp"

#include <pthread.h>

namespace effort::capi {

/// Used by one thread at a time, because only calls of the host's stepping thread access it.
struct Host {
  effort_rebalance_fn callback = nullptr;
  void* user = nullptr;
  bool in_callback = false;  ///< inside the callback, or it was left by longjmp
  pthread_t callback_thread{};
  const void* callback_frame = nullptr;  ///< stack frame of call_host, which called the callback
  bool rebalancing = false;              ///< between effort_rebalance_begin and _end
};
inline Host host;

/// Runs the host's callback.  A C++ callback that throws counts as failed.
int call_host(const effort_hint& hint, LibraryScope& library);

/// Whether the caller is inside the callback.  A callback that was left by longjmp counts as failed, and its step ends
/// here.
bool inside_callback() noexcept;

inline effort_status not_from_callback(const char* function) {
  return guarded([&] {
    return fail(Status::callback,
                std::string(function) + " cannot be called from within a rebalance callback: return from it first");
  });
}

}  // namespace effort::capi
