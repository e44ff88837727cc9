// Codes calls while they happen, one event at a time, in a few nanoseconds each and without allocation.
//
// Each event is predicted.  The predictor looks for the last place at which the same few events had just happened, and
// expects the events that followed there for as long as they keep coming.  Only an unexpected event is written: the
// number of expected events before it, and the event itself, unless it is the one that replaced the expected event last
// time.  The reader runs the same predictor.  (Our own variant of the one-candidate LZ of ParLOT, Devale et al.,
// section IV.D: the start of a match is not written, because the reader knows it.)
#pragma once

#include <cstddef>
#include <cstdint>

namespace effort::calls {

using LiveEvent = std::uint16_t;  ///< a function's id at its entry, 0 at a return

/// Expects the event that followed the last occurrence of the last few events.  Memory of all zeros is a new predictor,
/// so pages cost nothing until they are used.  Threads: one at a time.
class LivePredictor {
 public:
  bool expects(LiveEvent event) const { return matching_ && history_[match_ & history_mask] == event; }

  /// The expected event has come.
  void hit(LiveEvent event) {
    ++match_;
    push(event);
    // The place of the match is known already, so it is enough to record every second position.
    if ((position_ & 1) == 0) slot() = position_;
  }
  /// The event that came last time instead of the one expected now.
  LiveEvent second() const { return seconds_[second_slot()]; }
  /// An event other than the expected one has come.
  void miss(LiveEvent event) {
    seconds_[second_slot()] = event;
    push(event);
    match_ = slot();
    matching_ = match_ != 0;
    slot() = position_;
  }
  /// The event that is expected, for the reader; `known` is false if there is none.
  LiveEvent expected(bool& known) const {
    known = matching_;
    return history_[match_ & history_mask];
  }

 private:
  static constexpr std::uint32_t history_mask = (1u << 20) - 1;
  static constexpr int positions_bits = 15, seconds_bits = 14;
  /// Each event shifts older ones to the left, so the hash depends on the last six.
  static constexpr std::uint32_t shift = 5u << 6;

  void push(LiveEvent event) {
    history_[position_ & history_mask] = event;
    ++position_;
    hash_ = hash_ * shift + event + 1;
  }
  /// The position just after the last occurrence of the last events; 0 if there is none.
  std::uint32_t& slot() { return positions_[(hash_ * 0x9E3779B1u) >> (32 - positions_bits)]; }
  std::uint32_t second_slot() const {
    const std::uint32_t event = matching_ ? history_[match_ & history_mask] : 0xFFFFu;
    return ((event * 31 + hash_ * 7) * 0x9E3779B1u) >> (32 - seconds_bits);
  }

  std::uint32_t match_, position_, hash_;
  bool matching_;
  LiveEvent seconds_[std::size_t{1} << seconds_bits];
  std::uint32_t positions_[std::size_t{1} << positions_bits];
  LiveEvent history_[history_mask + 1];
};

/// The most bytes of a record.
inline constexpr std::size_t most_record_bytes = 6 + 3;

/// The most bytes of a number.
inline constexpr std::size_t most_number_bytes = 10;

inline unsigned char* put_number(unsigned char* to, std::uint64_t value) {
  for (; value >= 128; value >>= 7) *to++ = static_cast<unsigned char>(value | 128);
  *to++ = static_cast<unsigned char>(value);
  return to;
}

/// Writes a record: twice the number of expected events, and 1 if the event follows because it is not the second guess.
/// Returns the end.  `expected`: below 2^40.
inline unsigned char* put_record(unsigned char* to, std::uint64_t expected, bool is_second, LiveEvent event) {
  to = put_number(to, expected * 2 + !is_second);
  return is_second ? to : put_number(to, event);
}

}  // namespace effort::calls
