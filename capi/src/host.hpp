// State of the host's rebalancing.
#pragma once

#include "errors.hpp"

#include <sys/types.h>

namespace effort::capi {

/// Used by one thread at a time, because only calls of the host's stepping thread access it.
struct Host {
  effort_rebalance_fn callback = nullptr;
  void* user = nullptr;
  effort_sampling_fn on_sampling = nullptr;
  void* sampling_user = nullptr;
  bool sampled = false;                  ///< the last value passed to on_sampling
  bool in_callback = false;              ///< inside one of the callbacks, or it was left by longjmp
  pid_t callback_thread = 0;             ///< id of the thread in which it was called
  const void* callback_frame = nullptr;  ///< stack frame of call_host, which called the callback
  bool rebalancing = false;              ///< between effort_rebalance_begin and _end
};
inline Host host;

/// Runs a callback of the host and returns its answer, or -1 if it throws.
/// @param call  a function that calls it with `what`
int call_host(int (*call)(const void* what), const void* what, LibraryScope& library);

/// Whether the caller is inside a callback.  A rebalance callback that was left by longjmp counts as failed, and its
/// step ends here.
bool inside_callback() noexcept;

inline effort_status not_from_callback(const char* function) {
  return guarded([&] {
    return fail(Status::callback,
                std::string(function) + " cannot be called from within a callback: return from it first");
  });
}

}  // namespace effort::capi
