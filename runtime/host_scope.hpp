// Protects the state of a host's thread: its floating-point environment and its cancellation state.
#pragma once

#include <cfenv>
#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <pthread.h>

namespace effort {

#if defined(__x86_64__)
/// The host's floating-point environment while the library computes in its own: nothing traps, results are rounded to
/// nearest and not flushed to zero.  Compilers compute with SSE, and the mathematical library now and then with the x87
/// unit.  Reading their control words takes a few nanoseconds; writing all of the environment takes a hundred, and is
/// rarely necessary.
class HostFloats {
 public:
  void put_away() noexcept {
    sse_ = _mm_getcsr();
    if (__builtin_expect((sse_ & ~sse_flags) != usual_sse, 0)) _mm_setcsr(usual_sse);
    std::uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control) : : "memory");
    x87_flags_ = flags_of_x87();
    all_ = control != usual_x87;
    if (__builtin_expect(!all_, 1)) return;
    std::fegetenv(&environment_);
    std::fesetenv(FE_DFL_ENV);
  }
  void restore() noexcept {
    if (__builtin_expect(!all_ && flags_of_x87() != x87_flags_, 0)) {
      std::fegetenv(&environment_);
      environment_.__status_word = static_cast<std::uint16_t>((environment_.__status_word & ~0xffu) | x87_flags_);
      all_ = true;
    }
    if (__builtin_expect(all_, 0)) std::fesetenv(&environment_);
    __asm__ volatile("" : : : "memory");  // all results have been stored
    // In a host that computes, the flag of an inexact result is usually set already.
    if (__builtin_expect(_mm_getcsr() != sse_, 0)) _mm_setcsr(sse_);
  }

 private:
  friend class AmountScope;
  static unsigned flags_of_x87() noexcept {
    std::uint16_t status;
    __asm__ volatile("fnstsw %0" : "=a"(status) : : "memory");
    return status & 0xffu;
  }
  static constexpr unsigned sse_flags = 0x3f, usual_sse = 0x1f80, usual_x87 = 0x37f;

  unsigned sse_ = 0, x87_flags_ = 0;
  bool all_ = false;  ///< all of it must be written
  std::fenv_t environment_;
};
#else
class HostFloats {
 public:
  void put_away() noexcept {
    std::fegetenv(&environment_);
    std::fesetenv(FE_DFL_ENV);
  }
  void restore() noexcept { std::fesetenv(&environment_); }

 private:
  std::fenv_t environment_;
};
#endif

/// Marks the time during which the host's calling thread is inside the library.  It computes in an environment of its
/// own, so that all ranks compute the same bits.  The thread cannot be cancelled in the middle of a step.  The
/// destructor restores the host's state, exception flags included.
class LibraryScope {
 public:
  LibraryScope() {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    floats_.put_away();
  }
  // An asynchronously cancelled thread unwinds from here.
  ~LibraryScope() noexcept(false) {
    floats_.restore();
    pthread_setcancelstate(cancel_state_, nullptr);
  }
  LibraryScope(const LibraryScope&) = delete;
  LibraryScope& operator=(const LibraryScope&) = delete;

 private:
  friend class HostScope;

  HostFloats floats_;
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
    __asm__ volatile("" : : : "memory");  // all results have been stored
    // In a host that computes, the flag of an inexact result is usually set already.
    if (__builtin_expect(_mm_getcsr() != host_, 0)) _mm_setcsr(host_);
  }
  AmountScope(const AmountScope&) = delete;
  AmountScope& operator=(const AmountScope&) = delete;

  /// Returns the host's number, and keeps all arithmetic on it inside this scope.  Compilers might move it, because
  /// they do not know that arithmetic depends on the control register.
  static double amount(double of_host) noexcept {
    __asm__ volatile("" : "+x"(of_host) : : "memory");
    return of_host;
  }

 private:
  static constexpr unsigned flags = HostFloats::sse_flags, usual = HostFloats::usual_sse;

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
    library_.floats_.restore();
    pthread_setcancelstate(library_.cancel_state_, nullptr);
  }
  ~HostScope() {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &library_.cancel_state_);
    library_.floats_.put_away();
  }
  HostScope(const HostScope&) = delete;
  HostScope& operator=(const HostScope&) = delete;

 private:
  LibraryScope& library_;
};

}  // namespace effort
