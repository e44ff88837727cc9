// The careful path through a boundary, on which signal handlers never see an incomplete update.
#pragma once

#include "runtime/measure/thread_slot.hpp"

namespace effort::measure {

/// For its lifetime, begins and ends by signal handlers in this thread are counted but not executed.
class Busy {
 public:
  explicit Busy(ThreadSlot& s) noexcept : gate_(s.gate) { gate_.close(); }
  ~Busy() { gate_.open(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  HandlerGate& gate_;
};

/// Closes the short path for begin and end; the destructor reopens it if the slot allows.
class ShortPathClosed {
 public:
  explicit ShortPathClosed(ThreadSlot& s) noexcept : s_(s) {
    s.limit.store(0, std::memory_order_relaxed);
    fence();
    word_ = s.current.load(std::memory_order_relaxed) & ~careful;
    s.current.store(word_ | careful, std::memory_order_release);
    fence();
  }
  ~ShortPathClosed() {
    if (!s_.short_path() || s_.sampling.special() || s_.known.load(std::memory_order_relaxed) == 0) return;
    s_.current.store(word_, std::memory_order_release);
    fence();
    // A request that arrives in between is repeated at the next step at the latest.
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

  ThreadSlot& s_;
  std::uint32_t word_;
};

/// Combines both.  The order of stores ensures that a handler always finds either the short path open, or the careful
/// one, or the gate closed, but never a mixture.
class Careful : public ShortPathClosed {
 public:
  explicit Careful(ThreadSlot& s) noexcept : ShortPathClosed(s), busy_(s) {}

 private:
  const Busy busy_;
};

}  // namespace effort::measure
