// Protects a host thread's floating-point environment and cancellation state.
#pragma once

#include <cfenv>

#include <pthread.h>

namespace effort {

/// Marks the calling host thread as inside the library for its lifetime.  Floating-point exceptions do not trap, and
/// results are rounded to nearest without flushing to zero, so that all ranks compute the same bits.  The thread cannot
/// be cancelled.  The destructor restores the host's state, including exception flags.
class LibraryScope {
 public:
  LibraryScope() {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    enter();
  }
  // A thread that is cancelled asynchronously unwinds from here.
  ~LibraryScope() noexcept(false) {
    std::fesetenv(&environment_);
    pthread_setcancelstate(cancel_state_, nullptr);
  }
  LibraryScope(const LibraryScope&) = delete;
  LibraryScope& operator=(const LibraryScope&) = delete;

 private:
  friend class HostScope;
  void enter() {
    std::fegetenv(&environment_);
    std::fesetenv(FE_DFL_ENV);
  }

  std::fenv_t environment_;
  int cancel_state_;
};

/// Restores the host's state for its lifetime, while host code runs inside a LibraryScope.  The host may change that
/// state.
class HostScope {
 public:
  explicit HostScope(LibraryScope& library) : library_(library) {
    std::fesetenv(&library_.environment_);
    pthread_setcancelstate(library_.cancel_state_, nullptr);
  }
  ~HostScope() {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &library_.cancel_state_);
    library_.enter();
  }
  HostScope(const HostScope&) = delete;
  HostScope& operator=(const HostScope&) = delete;

 private:
  LibraryScope& library_;
};

}  // namespace effort
