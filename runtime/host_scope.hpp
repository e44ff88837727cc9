// What of a host's thread is the host's: its floating-point environment, and whether it may be cancelled.
#pragma once

#include <cfenv>

#include <pthread.h>

namespace effort {

/// While it lives, the calling thread of the host is inside the library.  Floating-point exceptions do not trap,
/// results are rounded to nearest and not flushed to zero, so that what is computed has the same bits on all ranks; the
/// thread is not cancelled in the middle of a step.  Afterwards everything is as the host had it, exception flags
/// included.
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

/// While it lives, code of the host runs inside a LibraryScope: under the host's rules, which it may change.
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
