// Turns the recording of events on and off in all threads of a session.
#pragma once

#include "runtime/recording/memory.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

namespace effort::measure {

/// Used by the thread that ends steps; memory() by any thread.
class EventSwitch {
 public:
  /// @param session  whose slots it switches
  explicit EventSwitch(std::uint64_t session) : session_(session) {}

  /// This rank's memory, which a slot records into; null: no events are recorded.
  recording::Memory* memory() const noexcept { return on_.load(std::memory_order_acquire); }
  /// Threads that have a slot already start at their next boundary.
  void turn_on(recording::Memory memory);
  /// @return false if a thread may still be writing a record, so that the memory must stay mapped forever
  bool turn_off() noexcept;

 private:
  const std::uint64_t session_;
  std::unique_ptr<recording::Memory> memory_;    ///< null before turn_on()
  std::atomic<recording::Memory*> on_{nullptr};  ///< the same while it is on
};

}  // namespace effort::measure
