// The records of one thread on their way into its rank's trace memory.
#pragma once

#include "runtime/recording/memory.hpp"

#include <atomic>
#include <bit>
#include <cstdint>

namespace effort::recording {

/// Appends the records of the thread that owns it.  A record costs one comparison and its stores; every 16 KiB another
/// block is taken.  All methods except offer(), withdraw() and on() belong to the owner.  While it is in one of them,
/// no signal handler may call another (measure::Busy).
class Stream {
 public:
  // ---- any thread
  /// @param memory  must outlive its use (withdraw); null: nothing will be recorded
  void offer(Memory* memory) noexcept { offered_.store(memory, std::memory_order_release); }
  /// From now on, the owner finds the stream off; it may still be inside a method.
  void withdraw() noexcept {
    offered_.store(nullptr, std::memory_order_relaxed);
    memory_.store(nullptr, std::memory_order_relaxed);
  }
  bool on() const noexcept { return memory_.load(std::memory_order_relaxed) != nullptr; }

  // ---- the owner
  /// Accepts the offered memory.  @param thread  number under which the reader finds the records
  void adopt(std::uint32_t thread) noexcept {
    block_ = nullptr;
    at_ = end_ = nullptr;
    thread_ = thread;
    memory_.store(offered_.load(std::memory_order_acquire), std::memory_order_relaxed);
  }
  /// Call it before the thread ends: others may then overwrite its last block.
  void close() noexcept {
    if (on() && block_) Memory::release(*block_, last_);
    block_ = nullptr;
    at_ = end_ = nullptr;
    memory_.store(nullptr, std::memory_order_relaxed);
  }

  void boundary(RecordKind what, std::uint32_t id, std::uint64_t ticks) noexcept {
    append(ticks, first_word(what, id), ticks);
  }
  void step(std::int64_t number, std::uint64_t ticks) noexcept {
    append(ticks, first_word(RecordKind::step, 0), ticks, static_cast<Word>(number));
  }
  void work(std::uint32_t unit, double amount) noexcept {
    append(last_, first_word(RecordKind::work, unit), std::bit_cast<Word>(amount));
  }
  /// A part of a message, or a collective; see record_words.hpp.
  void message(Word first, Word second, Word third) noexcept { append(last_, first, second, third); }

 private:
  template <typename... Words>
  void append(std::uint64_t now, Words... words) noexcept {
    constexpr auto n = static_cast<std::ptrdiff_t>(sizeof...(words));
    if (__builtin_expect(end_ - at_ < n, 0) && !next_block(now)) return;
    Word* at = at_;
    (std::atomic_ref<Word>(*at++).store(words, std::memory_order_relaxed), ...);
    at_ = at;
    last_ = now;
    block_->used.store(static_cast<std::uint32_t>(at - Memory::words(*block_)), std::memory_order_release);
  }
  /// Out of line: false if every block is held by another thread.
  bool next_block(std::uint64_t now) noexcept;

  std::atomic<Memory*> memory_{nullptr}, offered_{nullptr};
  Word *at_ = nullptr, *end_ = nullptr;
  Block* block_ = nullptr;
  std::uint64_t last_ = 0;  ///< ticks of the last record
  std::uint32_t thread_ = 0;
};

}  // namespace effort::recording
