// Cleanup at the end of a thread, without thread_local objects that have destructors.
#pragma once

#include <atomic>

#include <pthread.h>

/// For thread_local variables: they lie in memory that every thread has from its start, even if the library was loaded
/// late.  Otherwise a thread's first access may need memory, and glibc aborts the process if there is none.
#define EFFORT_IN_EVERY_THREAD __attribute__((tls_model("initial-exec")))

namespace effort {

/// Calls a function at the end of each thread that registers.  A thread_local object with a destructor would be
/// shorter, but glibc aborts the process if it has no memory to note the destructor.
///
/// The function runs after the destructors of the thread's thread_local objects, and again if the thread registers
/// again in the meantime.  It does not run when the main thread returns from main.  Declare this object static: its
/// destructor unregisters the function before the library is unloaded.
class ThreadEnd {
 public:
  explicit ThreadEnd(void (*at_end)(void*)) noexcept : has_key_(pthread_key_create(&key_, at_end) == 0) {}
  ~ThreadEnd() {
    if (has_key_.exchange(false)) pthread_key_delete(key_);
  }
  ThreadEnd(const ThreadEnd&) = delete;
  ThreadEnd& operator=(const ThreadEnd&) = delete;

  /// Registers the calling thread.  Returns false if memory is exhausted.  If the process has used up its thread keys
  /// (PTHREAD_KEYS_MAX) or is exiting, returns true but does nothing: the thread's data is then leaked when it ends.
  bool ask() const noexcept { return !has_key_ || pthread_setspecific(key_, this) == 0; }

 private:
  pthread_key_t key_ = 0;
  std::atomic<bool> has_key_;
};

}  // namespace effort
