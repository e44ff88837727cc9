// Writes the calls of one thread into the file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "adapters/functions/process.hpp"
#include "analytics/calls/live.hpp"
#include "analytics/calls/stamps.hpp"

namespace effort::functions {

using calls::LiveEvent;

/// A call that has not returned.
struct Frame {
  std::uintptr_t stack;     ///< stack pointer of the function when it called the hook
  std::uintptr_t function;  ///< its address
  std::uint32_t site;       ///< lower half of its return address
  LiveEvent id;
  bool stamped;  ///< its return has a time stamp, as its entry had
};

/// The chunk of one kind that a thread fills.  Once it is full, a copy is appended to the file, and the next chunk uses
/// the same memory: a first store to new memory would take longer than the copy (docs/adr/0041).
struct Chunk {
  layout::ChunkHeader* now;      ///< in the file's memory; null: none
  std::uint32_t used, sequence;  ///< bytes in it, chunks before it

  /// Takes the first chunk, which is not valid yet.  False if the file cannot grow.
  bool begin(std::uint32_t thread);
  /// Appends the full chunk to the file and begins the next one, which is not valid yet.  False if the file cannot
  /// grow.
  bool begin_next(layout::ChunkCopy& copy);
  /// Makes the chunk valid, or invalid (`unused`).
  void set_kind(layout::ChunkKind kind) { __atomic_store_n(&now->kind, kind, __ATOMIC_RELEASE); }
  void unmap();
  /// In a child of fork(): nothing reaches the parent's file any more.
  void detach();
};

/// One thread's state, about 3 MB of zeros that occupy memory only once they are used.
class Thread {
 public:
  /// The part for functions that are left out is inline, because these are called most often.
  void enter(std::uintptr_t function, std::uintptr_t site, std::uintptr_t stack) {
    if (restarted_ || stopped_) [[unlikely]]
      if (!resume()) return;
    const std::uint32_t bits = process.find(function);
    if (bits & left_out) return count_left_out();
    enter_recorded(function, site, stack, static_cast<LiveEvent>(bits & id_bits));
  }
  void leave(std::uintptr_t function, std::uintptr_t stack) {
    if (is_innermost(function, stack)) [[likely]]
      pop();
    else if (!has_not_entered(function, stack))
      leave_another(function, stack);
  }

  /// The state of the calling thread.  Null after the thread has ended, or if out of memory.
  static Thread* make();
  /// The thread has ended; calls that are still open have no return.
  static void destroy(Thread* thread);
  /// In a child of fork(): continues in a file of its own.
  void restart();

  /// Set inside a hook.  Nested calls, from signal handlers or from functions that the hooks need, are ignored.
  bool busy;
  void count_skipped() {
    ++skipped_;
    if (calls_.now) calls_.now->skipped = skipped_;
  }

  /// Events between two looks at their rate.
  static constexpr std::uint32_t look_every = 61 * 1024;

 private:
  static constexpr std::uint32_t most_depth = 32768;
  /// Odd, because every second event is often a return.
  static constexpr std::uint32_t sample_every = 61, samples_per_look = 1024;
  static constexpr std::uintptr_t usual_jump = 1 << 18;

  void record(LiveEvent event) {
    if (predictor_.follows(event)) [[likely]] {
      predictor_.follow(event);
      count_expected();
    } else {
      write(event);
    }
    if (--until_sample_ == 0) [[unlikely]]
      sample(event);
  }
  /// After a fork, or once the file could not grow.  False: nothing is recorded any more.
  bool resume();
  void enter_recorded(std::uintptr_t function, std::uintptr_t site, std::uintptr_t stack, LiveEvent id);
  void leave_another(std::uintptr_t function, std::uintptr_t stack);
  void count_left_out() { __atomic_store_n(&calls_.now->left_out, ++left_out_, __ATOMIC_RELAXED); }
  /// The same for a thread whose file cannot grow, if it has begun at all.
  void count_not_recorded() {
    if (calls_.now) count_left_out();
  }
  bool is_innermost(std::uintptr_t function, std::uintptr_t stack) const {
    return depth_ > 0 && frames_[depth_ - 1].function == function && frames_[depth_ - 1].stack == stack &&
           !restarted_ && !stopped_;
  }
  /// Whether the call that returns is not open, because it was left out.
  bool has_not_entered(std::uintptr_t function, std::uintptr_t stack) const {
    std::uint32_t i = depth_;
    if (restarted_) return false;
    if (i == 0 || frames_[i - 1].stack > stack) return i == 0 || frames_[i - 1].function != function;
    if (frames_[i - 1].stack < stack) return false;      // it has ended
    for (; i > 0 && frames_[i - 1].stack == stack; --i)  // calls that are inlined into each other
      if (frames_[i - 1].function == function) return false;
    return true;
  }
  /// One store, so that a process that is killed at any moment leaves a consistent record.
  void count_expected() { __atomic_store_n(&calls_.now->state, calls_.now->state + 1, __ATOMIC_RELAXED); }
  void write(LiveEvent event);
  void stamp();
  /// Opens the first chunks.  False if the file cannot grow.
  bool begin();
  void push(const Frame& frame) {
    frames_[depth_++] = frame;
    record(frame.id);
    if (schedule_.stamps_call()) [[unlikely]] {
      frames_[depth_ - 1].stamped = true;
      stamp();
    }
  }
  void pop() {
    --depth_;
    record(0);
    if (frames_[depth_].stamped) [[unlikely]]
      stamp();
  }
  void close_ended(std::uintptr_t stack) {
    // A frame below the stack pointer has ended, although its return was not seen: longjmp, an exception.
    while (depth_ > 0 && frames_[depth_ - 1].stack < stack) [[unlikely]] {
        if (stack - frames_[depth_ - 1].stack > usual_jump && on_other_stack()) return;
        pop();
      }
  }
  void close_repeated(std::uintptr_t function, std::uint32_t site, std::uintptr_t stack);
  static bool on_other_stack();
  bool may_be_left_out(std::uintptr_t function) const;
  bool is_deepest() const { return depth_ == most_depth || depth_ >= process.depth_limit(); }
  void after_fork();
  void sample(LiveEvent event);
  void look();

  Chunk calls_, stamps_;
  calls::StampSchedule schedule_;
  std::uint32_t depth_, until_sample_, n_samples_;
  std::uint32_t number_;
  bool stopped_;    ///< the file cannot grow
  bool restarted_;  ///< in a child of fork()
  std::uint64_t left_out_, skipped_, looked_ns_, stamped_ns_;
  layout::ChunkCopy full_;  ///< on its way into the file
  LiveEvent samples_[samples_per_look];
  std::uint8_t sample_counts_[65536];
  Frame frames_[most_depth];
  calls::LivePredictor predictor_;
};

}  // namespace effort::functions
