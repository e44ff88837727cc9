#include "adapters/functions/thread.hpp"

#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace effort::functions {

bool Chunk::begin(std::uint32_t thread) {
  now = process.new_chunk();
  if (!now) return false;
  now->thread = thread;
  return true;
}

// The copy is in the file before the chunk becomes invalid, so a process that is killed leaves at least one of them.
// If a signal handler forks meanwhile, its child may write the same bytes to the same place once more.
bool Chunk::begin_next(layout::ChunkCopy& copy) {
  std::memcpy(&copy, now, sizeof copy);
  if (!process.append(copy)) return false;
  set_kind(layout::unused);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  now->sequence = ++sequence;
  used = 0;
  return true;
}

void Chunk::unmap() {
  if (now) Mapping::of(now).unmap();
}

void Chunk::detach() {
  if (now) Mapping::of(now).detach();
}

Thread* Thread::make() {
  void* const at = ::mmap(nullptr, sizeof(Thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  auto* const thread = static_cast<Thread*>(at);  // a new thread's state is all zeros
  thread->number_ = process.next_thread();
  thread->until_sample_ = sample_every;
  thread->looked_ns_ = measure::monotonic_ns();
  if (!thread->begin()) thread->stopped_ = true;
  return thread;
}

void Thread::destroy(Thread* thread) {
  thread->calls_.unmap();
  thread->stamps_.unmap();
  ::munmap(thread, sizeof(Thread));
}

void Thread::restart() {
  restarted_ = true;
  busy = false;
  calls_.detach();
  stamps_.detach();
}

bool Thread::begin() {
  if (!calls_.begin(number_)) return false;
  calls_.set_kind(layout::calls);
  schedule_ = calls::StampSchedule(process.stamp_every());
  if (process.stamp_every() == 0) return true;
  if (!stamps_.begin(number_)) return false;
  stamps_.set_kind(layout::stamps);
  stamped_ns_ = process.now_ns();
  return true;
}

void Thread::write(LiveEvent event) {
  if (stopped_) {
    count_not_recorded();
    return;
  }
  if (predictor_.expects(event)) {
    predictor_.add(event);
    return count_expected();
  }
  const ErrorNumber kept;
  const std::uint64_t expected = calls_.now->state & ((std::uint64_t{1} << layout::run_bits) - 1);
  const bool is_full = calls_.used + calls::most_record_bytes > layout::room;
  if (is_full && !calls_.begin_next(full_)) {
    stopped_ = true;
    return;
  }
  unsigned char* const from = reinterpret_cast<unsigned char*>(calls_.now + 1) + calls_.used;
  const auto bytes =
      static_cast<std::uint64_t>(calls::put_record(from, expected, predictor_.second() == event, event) - from);
  // Write the bytes before the state that announces them.  A later chunk becomes valid once it has the events that the
  // previous one announced.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  __atomic_store_n(&calls_.now->state, (calls_.used + bytes) << layout::run_bits, __ATOMIC_RELEASE);
  calls_.now->left_out = left_out_;
  calls_.now->skipped = skipped_;
  if (is_full) calls_.set_kind(layout::calls);
  calls_.used += static_cast<std::uint32_t>(bytes);
  predictor_.add(event);
}

void Thread::stamp() {
  if (stopped_ || !stamps_.now) return;
  const std::uint64_t now = std::max(process.now_ns(), stamped_ns_);
  const bool is_full = stamps_.used + calls::most_number_bytes > layout::room;
  if (is_full) {
    const ErrorNumber kept;
    if (!stamps_.begin_next(full_)) {
      stamps_.now = nullptr;
      return;
    }
  }
  unsigned char* const from = reinterpret_cast<unsigned char*>(stamps_.now + 1) + stamps_.used;
  const auto bytes = static_cast<std::uint64_t>(calls::put_number(from, now - stamped_ns_) - from);
  stamped_ns_ = now;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  __atomic_store_n(&stamps_.now->state, (stamps_.used + bytes) << layout::run_bits, __ATOMIC_RELEASE);
  if (is_full) stamps_.set_kind(layout::stamps);
  stamps_.used += static_cast<std::uint32_t>(bytes);
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

bool Thread::resume() {
  if (restarted_) after_fork();
  if (stopped_) count_not_recorded();
  return !stopped_;
}

void Thread::enter_recorded(std::uintptr_t function, std::uintptr_t site, std::uintptr_t stack, LiveEvent id) {
  const auto short_site = static_cast<std::uint32_t>(site);
  close_ended(stack);
  if (depth_ > 0 && frames_[depth_ - 1].stack == stack) [[unlikely]]
    close_repeated(function, short_site, stack);
  if (is_deepest()) [[unlikely]]
    return count_left_out();
  push({stack, function, short_site, id, false});
}

void Thread::leave_another(std::uintptr_t function, std::uintptr_t stack) {
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
  const ErrorNumber kept;
  restarted_ = false;
  stopped_ = !process.start();
  if (stopped_) return;
  calls_ = stamps_ = {};  // an interrupted hook may still use the parent's, so they are not unmapped
  std::memset(static_cast<void*>(&predictor_), 0, sizeof predictor_);
  number_ = process.next_thread();
  left_out_ = skipped_ = 0;
  stopped_ = !begin();
  // The child starts inside the calls that were open at the fork.
  for (const std::uint32_t open = std::exchange(depth_, 0); depth_ < open && !stopped_;) {
    const Frame& frame = frames_[depth_];
    push({frame.stack, frame.function, frame.site, static_cast<LiveEvent>(process.find(frame.function) & id_bits),
          false});
  }
}

void Thread::sample(LiveEvent event) {
  until_sample_ = sample_every;
  samples_[n_samples_++] = event;
  if (n_samples_ == std::size(samples_)) look();
}

void Thread::look() {
  n_samples_ = 0;
  const std::uint64_t now = measure::monotonic_ns(), took = now - looked_ns_;
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
