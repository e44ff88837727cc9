// Decides while a program runs which segments of its trace have representatives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analytics/reduction/methods.hpp"
#include "analytics/reduction/representatives.hpp"
#include "analytics/trace/event.hpp"

namespace effort::reduction {

/// Plans one window of one thread after the other.  A segment is a step.  Segments are compared if they are of the same
/// thread and have the same kinds of events, ids and peers in the same order.  Sizes, tags and amounts of work may
/// differ, because only time stamps are replaced.  The stamps are begins and ends of regions and calls, and the
/// segment's end.
///
/// A segment that may become a representative is stored in full.  It is stored a second time, as a representative, once
/// two more segments resemble it (with iter_k: one).  Representatives are used while at least half of a class's
/// segments resemble earlier ones.  A program whose steps differ therefore pays nothing.  Segments of fewer than
/// `least_events` are stored in full, because coding all their stamps takes hardly more bytes than coding the begin.
///
/// Memory and time are bounded.  A class that has kept `most_kept` segments restarts.  If fewer segments than that
/// have found a representative in the meantime, the class first pauses: for most_kept segments, the next time for twice
/// as many, up to 64 times as many.  Beyond `most_bytes`, the least recently used classes are dropped.  Times that
/// never repeat therefore cost little, and a program whose behaviour drifts gets new representatives.  Threads: one at
/// a time.
class WindowReducer {
 public:
  struct Limits {
    std::size_t most_kept = 32;  ///< of a class; iter_k keeps its own number
    std::size_t most_bytes = std::size_t{4} << 20;
    std::size_t least_events = 16;  ///< of a segment
  };

  /// Errors: std::invalid_argument if the method does not decide at once.
  explicit WindowReducer(const Method& method) : WindowReducer(method, Limits()) {}
  WindowReducer(const Method& method, const Limits& limits);

  static constexpr std::int64_t in_full = -1;
  struct Plan {
    /// [segments] of a representative, counted from 0 over all windows, or in_full; empty: store the window as it is
    std::vector<std::int64_t> representatives;
    /// The new representatives, in the order of their numbers and of their first segments: for each, the times of its
    /// events since the first one.
    std::vector<std::vector<std::int64_t>> added;
    std::vector<std::int64_t> forgotten;  ///< representatives that will not be used again
  };

  /// @param events  of one thread in a window, in the order in which they happened
  /// @param end_ns  of the window
  /// Cost: O(events x kept segments of a class), usually far less (Representatives::add).
  Plan plan(const trace::Place& place, std::span<const trace::Event> events, std::int64_t end_ns);

  /// Bytes of all classes and of the coder's copies; at most most_bytes, and those of one window.
  std::size_t held_bytes() const { return bytes_; }
  std::size_t classes() const { return classes_.size(); }

 private:
  struct Candidate {
    std::vector<std::int64_t> offsets;  ///< of its events, until it has a number
    std::int64_t number = in_full;      ///< as a representative
    std::size_t matches = 0;
  };
  struct Class {
    explicit Class(const Method& method) : kept(method) {}
    Representatives kept;
    std::vector<Candidate> candidates;  ///< [kept]
    std::size_t segments = 0, matches = 0, bytes = 0;
    std::uint64_t last_used = 0;
    std::uint64_t rest = 0;  ///< segments that will not be compared
    int vain = 0;            ///< consecutive generations with too few matches
  };

  Class& class_of(std::uint64_t structure);
  std::int64_t find(Class& in, std::uint64_t structure, std::span<const trace::Event> segment, Plan& plan);
  void restart(Class& of);
  void drop_oldest();

  Method method_;
  Limits limits_;
  std::unordered_map<std::uint64_t, Class> classes_;
  std::vector<double> stamps_;  ///< of the segment at hand
  std::int64_t next_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t windows_ = 0;
  std::vector<std::int64_t> forgotten_;  ///< not in a plan yet
};

}  // namespace effort::reduction
