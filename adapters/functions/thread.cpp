#include "adapters/functions/thread.hpp"

#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace effort::functions {

Thread* Thread::make() {
  void* const at = ::mmap(nullptr, sizeof(Thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  auto* const thread = static_cast<Thread*>(at);  // a new thread's state is all zeros
  thread->number_ = process.next_thread();
  thread->until_sample_ = sample_every;
  thread->looked_ns_ = direct::monotonic_ns();
  if (!thread->begin_chunk()) thread->stopped_ = true;
  return thread;
}

void Thread::destroy(Thread* thread) {
  if (thread->mapped_) Process::unmap(thread->mapped_, thread->n_mapped_);
  ::munmap(thread, sizeof(Thread));
}

void Thread::restart() {
  restarted_ = true;
  busy = false;
  chunk_ = mapped_ = nullptr;  // the parent's
  n_mapped_ = n_taken_ = 0;
}

bool Thread::reserve_chunks() {
  std::uint32_t n = std::clamp(sequence_, 1u, most_chunks);
  layout::ChunkHeader* chunks = process.new_chunks(n);
  if (!chunks && n > 1) chunks = process.new_chunks(n = 1);  // the last one that fits
  if (!chunks) return false;
  mapped_ = chunks;
  n_mapped_ = n;
  n_taken_ = 0;
  return true;
}

bool Thread::begin_chunk() {
  if (n_taken_ == n_mapped_ && !reserve_chunks()) return false;
  auto* const next = reinterpret_cast<layout::ChunkHeader*>(reinterpret_cast<char*>(mapped_) +
                                                            layout::chunk_bytes * std::size_t{n_taken_++});
  next->thread = number_;
  next->sequence = sequence_++;
  next->left_out = left_out_;
  next->skipped = skipped_;
  // A later chunk becomes valid once it has the events that the previous one announced.
  if (next->sequence == 0) __atomic_store_n(&next->kind, layout::calls, __ATOMIC_RELEASE);
  chunk_ = next;
  used_ = 0;
  return true;
}

void Thread::write(LiveEvent event) {
  if (stopped_) {
    ++left_out_;
    return;
  }
  layout::ChunkHeader *const before = chunk_, *const mapped_before = mapped_;
  const std::uint32_t n_before = n_mapped_;
  const ErrorNumber kept;
  const std::uint64_t expected = before->state & ((std::uint64_t{1} << layout::run_bits) - 1);
  if (used_ + calls::most_record_bytes > layout::room && !begin_chunk()) {
    stopped_ = true;
    return;
  }
  unsigned char* const from = reinterpret_cast<unsigned char*>(chunk_ + 1);
  used_ =
      static_cast<std::uint32_t>(calls::put_record(from + used_, expected, predictor_.second() == event, event) - from);
  // Write the bytes before the state that announces them, and complete a chunk before giving it its kind.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  __atomic_store_n(&chunk_->state, std::uint64_t{used_} << layout::run_bits, __ATOMIC_RELEASE);
  if (chunk_ != before) {
    __atomic_store_n(&chunk_->kind, layout::calls, __ATOMIC_RELEASE);
    if (mapped_ != mapped_before) Process::unmap(mapped_before, n_before);
  }
  chunk_->left_out = left_out_;
  chunk_->skipped = skipped_;
  predictor_.miss(event);
}

bool Thread::on_other_stack() {
  const ErrorNumber kept;
  stack_t stack;
  return ::sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

void Thread::close_repeated(std::uintptr_t function, std::uint32_t site, std::uintptr_t stack) {
  // Calls with the same stack pointer are inlined into each other, unless one has ended without a return.  In that case
  // the return address differs, or the function is called again.
  std::uint32_t same = 0;
  for (std::uint32_t i = depth_; i > 0 && frames_[i - 1].stack == stack; --i) {
    const Frame& frame = frames_[i - 1];
    if (frame.site != site || frame.function == function) same = depth_ - i + 1;
  }
  for (; same > 0; --same) pop();
}

void Thread::enter(std::uintptr_t function, std::uintptr_t site, std::uintptr_t stack) {
  if (restarted_) [[unlikely]]
    after_fork();
  if (stopped_) {
    ++left_out_;
    return;
  }
  const std::uint32_t bits = process.find(function);
  const auto short_site = static_cast<std::uint32_t>(site);
  close_ended(stack);
  if (depth_ > 0 && frames_[depth_ - 1].stack == stack) [[unlikely]]
    close_repeated(function, short_site, stack);
  if (bits & left_out) {
    __atomic_store_n(&chunk_->left_out, ++left_out_, __ATOMIC_RELAXED);
    return;
  }
  if (is_deepest()) [[unlikely]] {
    __atomic_store_n(&chunk_->left_out, ++left_out_, __ATOMIC_RELAXED);
    return;
  }
  const auto id = static_cast<LiveEvent>(bits & id_bits);
  frames_[depth_++] = {stack, function, short_site, id};
  record(id);
}

void Thread::leave(std::uintptr_t function, std::uintptr_t stack) {
  if (restarted_) [[unlikely]]
    after_fork();
  if (stopped_) return;
  close_ended(stack);
  if (depth_ == 0) return;  // it was called before recording began, or was left out
  const Frame& top = frames_[depth_ - 1];
  if (top.function == function && (top.stack == stack || !may_be_left_out(function))) [[likely]] {
    pop();
    return;
  }
  // Calls in between have ended without a return, if the function is open with this stack pointer at all.  (If it is
  // not, it was left out.)
  std::uint32_t i = depth_;
  while (i > 0 && frames_[i - 1].stack == stack && frames_[i - 1].function != function) --i;
  if (i == 0 || frames_[i - 1].stack != stack) return;
  while (depth_ >= i) pop();
}

bool Thread::may_be_left_out(std::uintptr_t function) const {
  // A function's stack pointer may be lower at its return than at its entry (alloca).  It is also lower if this is the
  // return of a call of the same function that was left out.
  return is_deepest() || (process.find(function) & left_out) != 0;
}

void Thread::after_fork() {
  restarted_ = false;
  stopped_ = !process.start();
  if (stopped_) return;
  std::memset(static_cast<void*>(&predictor_), 0, sizeof predictor_);
  number_ = process.next_thread();
  sequence_ = 0;
  left_out_ = skipped_ = 0;
  stopped_ = !begin_chunk();
  // The child starts inside the calls that were open at the fork.
  for (std::uint32_t i = 0; i < depth_ && !stopped_; ++i) {
    frames_[i].id = static_cast<LiveEvent>(process.find(frames_[i].function) & id_bits);
    record(frames_[i].id);
  }
}

void Thread::sample(LiveEvent event) {
  until_sample_ = sample_every;
  samples_[n_samples_++] = event;
  if (n_samples_ == std::size(samples_)) look();
}

void Thread::look() {
  n_samples_ = 0;
  const std::uint64_t now = direct::monotonic_ns(), took = now - looked_ns_;
  looked_ns_ = now;
  if (took >= process.least_ns()) return;
  std::uint32_t most = 0;
  LiveEvent hottest = 0;
  for (const LiveEvent event : samples_) {
    if (event == 0 || sample_counts_[event] == 255) continue;
    if (++sample_counts_[event] > most) {
      most = sample_counts_[event];
      hottest = event;
    }
  }
  for (const LiveEvent event : samples_) sample_counts_[event] = 0;
  // Every second event is a return, so this is at least a quarter of the calls.
  if (most >= std::size(samples_) / 8 && hottest != layout::other_functions) process.leave_out_hot(hottest);
}

}  // namespace effort::functions
