// One event of a trace: what a rank's thread did, and when.
#pragma once

#include <cstdint>
#include <string_view>

namespace effort::trace {

/// The kind of an event.  The values are those of the file format and never change.
enum class Kind : std::uint8_t {
  enter = 0,              ///< a region or MPI call begins: id
  leave = 1,              ///< it ends: id
  send = 2,               ///< a blocking send: id (communicator), peer, tag, bytes
  send_start = 3,         ///< a non-blocking send begins: as send, and request
  send_done = 4,          ///< it is complete: request
  receive = 5,            ///< a blocking receive is complete: id, peer, tag, bytes as they turned out
  receive_start = 6,      ///< a receive is posted: id, peer and tag (-1 any), request
  receive_done = 7,       ///< it is complete: id, peer, tag, bytes as they turned out, request
  request_cancelled = 8,  ///< a request will never complete: request
  collective = 9,         ///< id (communicator), peer (root, -1 none), bytes sent, bytes received
  step = 10,              ///< a step of the run begins: bytes is its number
  phase = 11,             ///< the run enters a phase: id
  work = 12,              ///< an amount of work was done: id (unit), bytes holds the bits of a double
  rebalance = 13,         ///< the application rebalanced
  one_sided = 14,  ///< id (communicator of the window), peer (target), bytes to the target, bytes from it; without
                   ///< bytes also a synchronisation with the target (peer -1: with several)
};
inline constexpr int n_kinds = 15;

/// An event of one rank's thread.  Members that its kind does not name are zero (peer: -1).
struct Event {
  std::int64_t time_ns = 0;  ///< clock of the node; the start of a message has the time of the enclosing enter, and its
                             ///< completion that of the enclosing leave, which costs the coder nothing
  std::uint64_t bytes = 0;   ///< payload sent or received; for collective and one_sided: sent by this rank
  std::uint64_t received_bytes = 0;  ///< for collective and one_sided only
  std::uint32_t id = 0;              ///< of the run: region or call path, communicator, phase, unit
  std::int32_t peer = -1;            ///< rank in MPI_COMM_WORLD; -1 none, any or unknown
  std::int32_t tag = 0;
  std::uint32_t request = 0;  ///< links a start to its completion within a thread; use the lowest free number, so that
                              ///< equal steps have equal numbers
  Kind kind = Kind::enter;

  friend bool operator==(const Event&, const Event&) = default;
};

/// "enter", "send_start", ...
std::string_view kind_text(Kind kind);

/// The permitted error of a decoded time stamp.  The gap of an event is the time since the last event of its chunk that
/// was earlier, or since the chunk's start.
struct TimeBound {
  static constexpr std::uint32_t most_relative_ppm = 500'000, most_absolute_ns = 1u << 30;

  std::uint32_t relative_ppm = 0;  ///< of the gap, in millionths
  std::uint32_t absolute_ns = 0;

  /// Time stamps come back as they were.
  static constexpr TimeBound exact() { return {}; }
  /// 1 % of the gap or 100 ns, whichever is larger.
  static constexpr TimeBound usual() { return {10'000, 100}; }

  constexpr bool is_valid() const { return relative_ppm <= most_relative_ppm && absolute_ns <= most_absolute_ns; }
  constexpr bool is_exact() const { return absolute_ns == 0; }
  /// The largest error of a time stamp after `gap` ns, in ns; a relative bound needs an absolute one.
  constexpr std::int64_t allowed(std::int64_t gap) const {
    if (is_exact()) return 0;
    const std::int64_t relative = gap / 1'000'000 * relative_ppm + gap % 1'000'000 * relative_ppm / 1'000'000;
    return relative > absolute_ns ? relative : absolute_ns;
  }
  friend bool operator==(const TimeBound&, const TimeBound&) = default;
};

/// The place and time of a chunk's events.  A trace file stores it beside the chunk.
struct Place {
  std::int32_t rank = 0;        ///< in MPI_COMM_WORLD
  std::int32_t thread = 0;      ///< of the rank, 0 is the one that called init
  std::int64_t first_step = 0;  ///< of the window
  std::int64_t start_ns = 0;    ///< of the window or earlier: no event of the chunk is before
};

}  // namespace effort::trace
