// Protects the state of a host's thread: its floating-point environment and its cancellation state.
#pragma once

#include <cfenv>

#include <pthread.h>

namespace effort {

/// Marks the time during which the host's calling thread is inside the library.  Floating-point exceptions do not trap,
/// and results are rounded to nearest and not flushed to zero, so that all ranks compute the same bits.  The thread
/// cannot be cancelled in the middle of a step.  The destructor restores the host's state, exception flags included.
class LibraryScope {
 public:
  LibraryScope() {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    enter();
  }
  // An asynchronously cancelled thread unwinds from here.
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

/// Runs code of the host inside a LibraryScope, with the host's own state, which that code may change.
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
