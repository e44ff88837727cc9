// Sleeping and waking across processes.
#pragma once

#include <atomic>
#include <cstdint>

namespace effort::node {

/// An event count in shared memory, zero-initialised.  Waking costs one load where nobody sleeps.
class Signal {
 public:
  /// To be read before looking at the condition that wait() is about.
  std::uint32_t ticket() const noexcept { return count_.load(std::memory_order_acquire); }
  /// Sleeps until notify() was called after the ticket was taken, or until the time is over.
  void wait(std::uint32_t ticket, std::int64_t timeout_ns) noexcept;
  void notify() noexcept;

 private:
  std::atomic<std::uint32_t> count_;
  std::atomic<std::uint32_t> sleepers_;
};

}  // namespace effort::node
