// The records of a trace as threads write them: one to three words of 64 bits each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace effort::recording {

using Word = std::uint64_t;

/// The kind of a record, in the lowest byte of its first word.
///
/// | records                               | first word      | second    | third                  |
/// |---------------------------------------|-----------------|-----------|------------------------|
/// | enter, leave, phase, rebalance        | kind, id << 8   | ticks     |                        |
/// | step                                  | kind            | ticks     | number of the new step |
/// | work                                  | kind, id << 8   | amount    |                        |
/// | send, receive and their starts, ends  | see message()   | bytes     | tag, request << 32     |
/// | collective, one-sided                 | see message()   | bytes out | bytes in               |
///
/// A record without ticks has the time of the last record with ticks.
enum class RecordKind : std::uint8_t {
  none = 0,
  enter,
  leave,
  phase,
  rebalance,
  step,
  work,
  send,
  send_start,
  send_done,
  receive,
  receive_start,
  receive_done,
  cancelled,
  collective,
  one_sided,
};
inline constexpr int n_kinds = static_cast<int>(RecordKind::one_sided) + 1;

constexpr bool has_ticks(RecordKind what) { return what >= RecordKind::enter && what <= RecordKind::step; }
constexpr std::size_t words_of(RecordKind what) {
  return what == RecordKind::none ? 0 : what == RecordKind::step || what >= RecordKind::send ? 3 : 2;
}
inline constexpr std::size_t longest = 3;  ///< words of the longest record

constexpr Word first_word(RecordKind what, std::uint32_t id) {
  return static_cast<Word>(what) | static_cast<Word>(id) << 8;
}
/// @param communicator  below 2^24
/// @param peer          rank in MPI_COMM_WORLD, or the root of a collective; negative: none
constexpr Word message(RecordKind what, std::uint32_t communicator, std::int32_t peer) {
  return static_cast<Word>(what) | static_cast<Word>(communicator & 0xffffff) << 8 |
         static_cast<Word>(static_cast<std::uint32_t>(peer)) << 32;
}
constexpr RecordKind record_kind_of(Word first) { return static_cast<RecordKind>(first & 0xff); }
constexpr std::uint32_t id_of(Word first) { return static_cast<std::uint32_t>(first >> 8); }
constexpr std::uint32_t communicator_of(Word first) { return static_cast<std::uint32_t>(first >> 8) & 0xffffff; }
constexpr std::int32_t peer_of(Word first) { return static_cast<std::int32_t>(first >> 32); }

}  // namespace effort::recording
