// The trace memory of one rank: blocks that its threads fill in turn, the oldest first, and that the node's background
// thread reads.  Writers never wait and never look at the reader: records not read in time are overwritten, and the
// reader notices.
#pragma once

#include "runtime/recording/record_words.hpp"

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::recording {

/// A block of records of one thread, in zero-initialised shared memory.
struct alignas(64) Block {
  std::atomic<std::uint64_t> number;  ///< in the order in which the blocks of the rank were taken, from 1; 0: being
                                      ///< taken, or never used
  std::atomic<std::uint64_t> first;   ///< ticks when it was taken
  std::atomic<std::uint64_t> last;    ///< ticks of the last record, once it is full
  std::atomic<std::uint32_t> used;    ///< words
  std::atomic<std::uint32_t> thread;  ///< number of the thread's slot
  std::atomic<std::uint32_t> held;    ///< 1 while a thread appends to it
};

/// When a step ended, by the clock of the rank.
struct StepEnd {
  std::atomic<std::int64_t> step_plus_one;  ///< 0: none
  std::atomic<std::uint64_t> ticks;
};
inline constexpr std::size_t kept_step_ends = 1024;

struct alignas(64) Control {
  std::atomic<std::uint64_t> taken;       ///< blocks so far
  std::atomic<std::uint64_t> lost_until;  ///< ticks of the last record that was overwritten
  std::atomic<std::uint64_t> unrecorded;  ///< records for which there was no block
  StepEnd steps[kept_step_ends];
};

/// A block as the reader has found it.
struct Piece {
  std::uint32_t thread;
  std::uint64_t number;  ///< see Block
  std::size_t block;
  auto operator<=>(const Piece&) const = default;
};

/// A view of a rank's trace memory.  Copies refer to the same memory.
class Memory {
 public:
  static constexpr std::size_t block_bytes = 16384;
  static constexpr std::size_t block_words = (block_bytes - sizeof(Block)) / sizeof(Word);
  /// The smallest useful number of blocks.
  static constexpr std::size_t least_blocks = 4;

  Memory() = default;
  /// @param base  aligned to 64 bytes, [bytes(n_blocks)]
  Memory(std::byte* base, std::size_t n_blocks);
  static std::size_t bytes(std::size_t n_blocks);
  /// The most blocks that fit into `bytes`; 0 if these are too few.
  static std::size_t blocks_in(std::size_t bytes);
  /// The number to try next if the system refuses `n`; finally 0.
  static std::size_t fewer_blocks(std::size_t n) { return n / 2 < least_blocks ? 0 : n / 2; }

  explicit operator bool() const noexcept { return n_blocks_ > 0; }

  // ---- the rank
  /// Has the kernel map all pages at once, on the calling rank's NUMA node.  Otherwise the first record on each page
  /// takes a page fault, which costs more than the records.  Touches each page once, for hypervisors that map a page
  /// only when it is used.  Kernels before Linux 5.14 refuse, without harm.
  void map() noexcept;

  // ---- the rank's threads
  /// A block to write to; the oldest that no thread holds is overwritten.  Null if all blocks are held.
  Block* take(std::uint32_t thread, std::uint64_t now) noexcept;
  static void release(Block& block, std::uint64_t last) noexcept;
  static Word* words(Block& block) noexcept { return reinterpret_cast<Word*>(&block + 1); }
  void count_unrecorded() noexcept { control_->unrecorded.fetch_add(1, std::memory_order_relaxed); }
  void end_step(std::int64_t step, std::uint64_t ticks) noexcept;

  // ---- the reader
  /// Ticks at the end of a step.  @return false if the step has not ended, or too many steps ago
  bool step_end(std::int64_t step, std::uint64_t& ticks) const noexcept;
  /// Records are complete from this moment on.
  std::uint64_t lost_until() const noexcept { return control_->lost_until.load(std::memory_order_acquire); }
  std::uint64_t unrecorded() const noexcept { return control_->unrecorded.load(std::memory_order_relaxed); }
  /// The blocks that may hold records of `from` .. `to` (ticks), ordered by thread and time.  The first and the last
  /// block of a thread may hold others, too.  Call lost_until() after the last copy().
  std::vector<Piece> pieces(std::uint64_t from, std::uint64_t to) const;
  /// Whole records, in order; none if the block has been overwritten.  Valid until the next call.
  /// @param buffer  [block_words]
  std::span<const Word> copy(const Piece& piece, std::span<Word> buffer) const;

 private:
  Block& block(std::size_t i) const noexcept;

  Control* control_ = nullptr;
  std::byte* blocks_ = nullptr;
  std::size_t n_blocks_ = 0;
};

/// Calls `visit(thread, record, ticks)` for the records of [from, to) in the pieces, thread by thread.  A record
/// without ticks has those of the preceding one.
template <typename Visit>
void for_each_record(const Memory& memory, const std::vector<Piece>& pieces, std::uint64_t from, std::uint64_t to,
                     const Visit& visit) {
  std::vector<Word> buffer(Memory::block_words);
  std::uint64_t now = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0 && pieces[i].thread != pieces[i - 1].thread) now = 0;
    const std::span<const Word> words = memory.copy(pieces[i], buffer);
    for (std::size_t at = 0; at < words.size();) {
      const Word* const record = words.data() + at;
      const RecordKind what = record_kind_of(record[0]);
      const std::size_t length = words_of(what);
      if (length == 0 || static_cast<int>(what) >= n_kinds || at + length > words.size()) break;
      at += length;
      if (has_ticks(what)) now = record[1];
      if (now >= from && now < to) visit(pieces[i].thread, record, now);
    }
  }
}

}  // namespace effort::recording
