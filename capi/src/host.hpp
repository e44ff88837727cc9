// State of the host's rebalancing.
#pragma once

#include "errors.hpp"

#include <cerrno>

#include <pthread.h>

namespace effort::capi {

/// A lock that becomes free when the thread that holds it ends.  Right after pthread_join, it shows reliably that the
/// thread has ended; the thread's id does not.
class ThreadMark {
 public:
  ThreadMark() noexcept {
    pthread_mutexattr_t robust;
    if (pthread_mutexattr_init(&robust) != 0) return;
    if (pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST) == 0) pthread_mutex_init(&mutex_, &robust);
    pthread_mutexattr_destroy(&robust);
  }
  /// Marks the calling thread.  False if another thread, which has not ended, is marked.
  bool set() noexcept {
    const int result = pthread_mutex_trylock(&mutex_);
    if (result == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
    return result == 0 || result == EOWNERDEAD;
  }
  /// Called by the marked thread.
  void clear() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// Used by one thread at a time, because only calls of the host's stepping thread access it.
struct Host {
  effort_rebalance_fn callback = nullptr;
  void* user = nullptr;
  effort_sampling_fn on_sampling = nullptr;
  void* sampling_user = nullptr;
  bool sampled = false;      ///< the last value passed to on_sampling
  bool in_callback = false;  ///< inside one of the callbacks, or it was left by longjmp
  pthread_t callback_thread{};
  ThreadMark mark;                       ///< on that thread
  const void* callback_frame = nullptr;  ///< stack frame of call_host, which called the callback
  void* callback_call = nullptr;         ///< an address in that function, as it was compiled
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
