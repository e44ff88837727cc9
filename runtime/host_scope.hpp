// Protects the state of a host's thread: its floating-point environment and its cancellation state.
#pragma once

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

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

#if defined(__x86_64__)
/// A LibraryScope for calls that only add a few numbers and may be made once per item.  On x86-64, these are computed
/// by SSE instructions, whose control register is read in a few nanoseconds and rarely has to be written.  A thread can
/// be cancelled.
class AmountScope {
 public:
  AmountScope() : host_(_mm_getcsr()) {
    if (__builtin_expect((host_ & ~flags) != usual, 0)) _mm_setcsr(usual);
  }
  ~AmountScope() noexcept(false) {
    __asm__ volatile("" : : : "memory");  // what was computed has been stored
    // In a host that computes, the flag of an inexact result is usually set already.
    if (__builtin_expect(_mm_getcsr() != host_, 0)) _mm_setcsr(host_);
  }
  AmountScope(const AmountScope&) = delete;
  AmountScope& operator=(const AmountScope&) = delete;

  /// The host's number.  What is computed from it is computed in this scope: compilers do not know that arithmetic
  /// depends on the control register.
  static double amount(double of_host) noexcept {
    __asm__ volatile("" : "+x"(of_host) : : "memory");
    return of_host;
  }

 private:
  static constexpr unsigned flags = 0x3f, usual = 0x1f80;  ///< nothing traps, to nearest, no flushing to zero

  const unsigned host_;
};
#else
class AmountScope : LibraryScope {
 public:
  static double amount(double of_host) noexcept { return of_host; }
};
#endif

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
