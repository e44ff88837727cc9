// The alarm that a node leader raises when its MPI refuses an operation.  Without it, the other leaders would wait for
// this one forever.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>

namespace effort::adapters {

/// Persistent messages between each leader and those whose number differs from its own in one bit.  Each leader passes
/// on the alarms that it receives, so an alarm reaches all leaders in a few hops, while each has only log2(leaders)
/// neighbours.
/// The messages are prepared and their connections made at init, because there may be no memory left when an alarm is
/// raised.
///
/// Operations are numbered, the same on all leaders, because an alarm can overtake the end of an earlier operation, in
/// which its sender did take part.
class Alarm {
 public:
  /// Connects the leaders.  Collective, blocking, on a communicator of its own that returns errors.
  /// @return MPI_SUCCESS or the error
  int connect(MPI_Comm leaders, int rank, int size);

  /// Tells the others that this leader does not take part in `operation` and later ones.  Does not block.
  void raise(std::int64_t operation) noexcept;

  /// Listens to the neighbours and passes on what is new.  Does not block.
  /// @return whether `operation` cannot be completed, because a leader does not take part in it
  bool stops(std::int64_t operation) noexcept;

  /// Whether the alarm was raised here or by another leader.  Operations may then be pending forever.
  bool sounded() const noexcept { return first_stopped_ != none; }

  /// Frees the messages.  Local.  Not allowed after an alarm.
  void release() noexcept;

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  static constexpr int most = 31;  // the bits of a rank

  void tell() noexcept;

  int n_ = 0;  // neighbours
  MPI_Request to_[most], from_[most];
  std::int64_t heard_[most], told_ = none, first_stopped_ = none;
};

}  // namespace effort::adapters
