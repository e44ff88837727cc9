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

/// Expects the event that followed the last occurrence of the last few events.  Where the events last turned away from
/// that after the same turns before, it expects them to do so again: such a turn is known by the number of events since
/// the turn before it.  Memory of all zeros is a new predictor, so pages cost nothing until they are used.  Threads:
/// one at a time.
class LivePredictor {
 public:
  /// Whether the event is expected, and no turn.  This is the common case; expects() has all.
  bool follows(LiveEvent event) const { return position_ != turn_at_ && history_[match_ & history_mask] == event; }
  /// The same as add() for such an event.
  void follow(LiveEvent event) {
    ++match_;
    push(event);
    // The place of the match is known already, so it is enough to record every second position.
    if ((position_ & 1) == 0) slot() = position_;
  }
  bool expects(LiveEvent event) const {
    bool known;
    return expected(known) == event && known;
  }
  /// The event that is expected; `known` is false if there is none.
  LiveEvent expected(bool& known) const {
    known = matching_;
    return at_turn() ? turn().event : history_[match_ & history_mask];
  }
  /// The event that came last time instead of the one expected now; at a turn, the event without one.
  LiveEvent second() const { return at_turn() ? history_[match_ & history_mask] : seconds_[second_slot()]; }

  /// Tells the predictor which event has come, expected or not.
  void add(LiveEvent event) {
    if (!matching_ || history_[match_ & history_mask] != event) return turn_away(event);
    if (position_ == turn_at_) stay();
    follow(event);
  }

 private:
  static constexpr std::uint32_t history_mask = (1u << 20) - 1;
  static constexpr int positions_bits = 15, seconds_bits = 14, turns_bits = 15;
  /// Each event shifts older ones to the left, so the hash depends on the last six.
  static constexpr std::uint32_t shift = 5u << 6;
  /// The same for the last four turns.
  static constexpr std::uint64_t turn_shift = 0xC2B2AE3Dull << 16;

  /// What happened after some turns.
  struct Turn {
    std::uint32_t after;  ///< events until the next turn, plus 1; 0: not known
    LiveEvent event;      ///< the next turn
    std::uint16_t tag;    ///< of the turns before
  };

  bool at_turn() const { return position_ == turn_at_ && matching_; }
  Turn& turn() { return turns_[turn_ >> 16 & ((1u << turns_bits) - 1)]; }
  const Turn& turn() const { return const_cast<LivePredictor*>(this)->turn(); }

  /// No turn where one was expected, or after as many events as `position_` can count.
  void stay() {
    turn().after = 0;
    turn_at_ = position_ - 1;
  }
  void turn_away(LiveEvent event) {
    const std::uint32_t followed = position_ - turned_at_;
    seconds_[second_slot()] = event;
    turn() = {followed + 1, event, static_cast<std::uint16_t>(turn_)};
    push(event);
    match_ = slot();
    matching_ = match_ != 0;
    slot() = position_;
    trail_ = trail_ * turn_shift + (hash_ ^ followed * 0x27D4EB2Fu) * 0x9E3779B1ull;
    turn_ = static_cast<std::uint32_t>((trail_ * 0x9E3779B97F4A7C15ull) >> 32);
    turned_at_ = position_;
    const Turn& next = turn();
    const bool is_known = next.tag == static_cast<std::uint16_t>(turn_) && next.after != 0;
    turn_at_ = !matching_ ? position_ : position_ + (is_known ? next.after : 0) - 1;
  }
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
  std::uint32_t turned_at_;  ///< the position after the last turn
  std::uint32_t turn_at_;    ///< where the next one is expected; if nothing is, the present position
  std::uint32_t turn_;       ///< place and tag of the present turns
  bool matching_;
  std::uint64_t trail_;  ///< a hash of the last turns
  LiveEvent seconds_[std::size_t{1} << seconds_bits];
  Turn turns_[std::size_t{1} << turns_bits];
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
