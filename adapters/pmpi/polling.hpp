// Tells waiting from computation between polls at one place that find nothing.
#pragma once

#include <cstdint>

namespace effort::pmpi {

// Read by every poll: hidden, so that they are accessed directly rather than through the global offset table.
#pragma GCC visibility push(hidden)

/// A gap between two polls at the same place is waiting, not computation, if it is shorter than this (ticks).
extern std::uint64_t poll_gap;
/// So is a longer one up to this length (ticks) that looks like an interruption.
extern std::uint64_t longest_interruption;

#pragma GCC visibility pop

/// The polls of a thread.
class Polling {
 public:
  /// Whether a gap between two polls at one place, of which the first one found nothing, was waiting.
  /// @param gap  ticks
  /// @param now  when it ended
  bool waited(std::uint64_t gap, std::uint64_t now) { return gap < poll_gap || interrupted(gap, now); }
  /// The thread did something else until now.
  void restart(std::uint64_t now) { since_ = now; }

 private:
  /// Whether the gap took less than an eighth of the time since the last long one.  The timer of a virtual machine
  /// interrupts a thread about a thousand times a second, for up to 50 microseconds.
  bool interrupted(std::uint64_t gap, std::uint64_t now);

  std::uint64_t since_ = 0;  ///< polls have found nothing since then, with short gaps
};

}  // namespace effort::pmpi
