// Sleeping and waking across processes.
#pragma once

#include <atomic>
#include <cstdint>

namespace effort::node {

/// An event count in shared memory, zero-initialised.  If no thread sleeps, waking costs one load.
class Signal {
 public:
  /// Read it before checking the condition to wait for, and pass it to wait().
  std::uint32_t ticket() const noexcept { return count_.load(std::memory_order_acquire); }
  /// Sleeps until notify() is called after the ticket was taken, or until the timeout.
  void wait(std::uint32_t ticket, std::int64_t timeout_ns) noexcept;
  void notify() noexcept;

 private:
  std::atomic<std::uint32_t> count_;
  std::atomic<std::uint32_t> sleepers_;
};

}  // namespace effort::node
