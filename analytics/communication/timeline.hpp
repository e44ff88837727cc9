// The innermost call of each thread at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analytics/communication/call_tree.hpp"
#include "analytics/communication/operations.hpp"
#include "analytics/communication/waits.hpp"

namespace effort::communication {

/// From here to the start of the next segment, this is the innermost call of a thread.
struct TimelineSegment {
  std::int64_t begin_ns = 0;
  std::uint32_t call = none;  ///< none: outside of all calls
};

/// Time by call path; zero for paths that are not in `touched`.
struct PathTimes {
  explicit PathTimes(std::size_t paths) : ns(paths + 1, 0) {}
  void add(std::uint32_t path, std::int64_t amount);
  void clear();
  std::vector<std::int64_t> ns;        ///< [paths + 1]; the last one: outside of all calls
  std::vector<std::uint32_t> touched;  ///< indices in ns
};

/// The segments of all threads, and the waits in them.
class Timeline {
 public:
  /// Keeps references to its arguments.  Cost: O(calls); 36 bytes a call.
  Timeline(const Record& record, const CallTree& tree, const Waits& waits);

  /// Adds a location's time between two instants by call path, waits excluded.
  void times(std::size_t location, std::int64_t from_ns, std::int64_t to_ns, PathTimes& out) const;

  /// The segments of a location; the last one is empty and outside of all calls.
  std::size_t first_segment(std::size_t location) const { return first_[location]; }
  std::size_t end_segment(std::size_t location) const { return first_[location + 1]; }
  const TimelineSegment& segment(std::size_t index) const { return segments_[index]; }
  /// The last segment of a location that begins at or before a time; its first one if none does.
  std::size_t segment_at(std::size_t location, std::int64_t time_ns) const;

  /// The waits of a location, ordered by time: Waits::waits [first_wait(l), first_wait(l + 1)).
  std::size_t first_wait(std::size_t location) const { return first_wait_[location]; }
  std::int64_t end_of(const Wait& wait) const { return record_.calls[wait.call].begin_ns + wait.ns; }
  /// The waits of a location that end at or before a time: those before this index.
  std::size_t waits_until(std::size_t location, std::int64_t time_ns) const;

 private:
  void add(std::size_t index, std::int64_t from_ns, std::int64_t to_ns, PathTimes& out) const;

  const Record& record_;
  const CallTree& tree_;
  const Waits& waits_;
  std::vector<TimelineSegment> segments_;
  std::vector<std::size_t> first_, first_wait_;  ///< [locations + 1]
  std::vector<std::uint32_t> wait_of_;           ///< [calls] none if the call did not wait
};

}  // namespace effort::communication
