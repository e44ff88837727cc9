// The careful path through a region boundary, on which signal handlers never see an intermediate state.
#pragma once

#include "runtime/measure/thread_slot.hpp"

namespace effort::measure {

/// Closes the gate during its lifetime: begins and ends of signal handlers in this thread are counted, not executed.
class Busy {
 public:
  explicit Busy(ThreadSlot& s) noexcept : gate_(s.gate) { gate_.close(); }
  ~Busy() { gate_.open(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  HandlerGate& gate_;
};

/// Closes the short path during its lifetime, and reopens it at the end if the slot then allows it.
class ShortPathClosed {
 public:
  explicit ShortPathClosed(ThreadSlot& s) noexcept : s_(s) {
    s.limit.store(0, std::memory_order_relaxed);
    s.only_recording.store(false, std::memory_order_relaxed);
    fence();
    word_ = s.current.load(std::memory_order_relaxed) & ~careful;
    s.current.store(word_ | careful, std::memory_order_release);
    fence();
  }
  ~ShortPathClosed() {
    if (s_.sampling.special() || s_.known.load(std::memory_order_relaxed) == 0) return;
    if (!s_.short_path()) {
      allow_recording();
      return;
    }
    s_.current.store(word_, std::memory_order_release);
    fence();
    // A request that arrives between this check and the store is repeated at the next step.
    if (s_.requests.load(std::memory_order_relaxed) == 0)
      s_.limit.store(s_.known.load(std::memory_order_relaxed), std::memory_order_release);
  }
  ShortPathClosed(const ShortPathClosed&) = delete;
  ShortPathClosed& operator=(const ShortPathClosed&) = delete;

  /// The current word without `careful`.
  std::uint32_t word() const noexcept { return word_; }
  void enter(std::uint32_t word) noexcept {
    word_ = word;
    s_.current.store(word | careful, std::memory_order_release);
  }

 private:
  static void fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  void allow_recording() noexcept {
    s_.only_recording.store(s_.events.on() && s_.counters.count() == 0 &&
                                s_.layout.load(std::memory_order_relaxed) == inline_layout &&
                                s_.requests.load(std::memory_order_relaxed) == 0,
                            std::memory_order_relaxed);
  }

  ThreadSlot& s_;
  std::uint32_t word_;
};

/// Closes the short path, then the gate; reopens them in reverse order.  At every moment a handler finds either the
/// short path open for begin and end, or the careful path, or the gate closed, but never a mixture.
class Careful : public ShortPathClosed {
 public:
  explicit Careful(ThreadSlot& s) noexcept : ShortPathClosed(s), busy_(s) {}

 private:
  const Busy busy_;
};

}  // namespace effort::measure
