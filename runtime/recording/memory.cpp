#include "runtime/recording/memory.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace effort::recording {
namespace {

void raise(std::atomic<std::uint64_t>& largest, std::uint64_t value) noexcept {
  std::uint64_t seen = largest.load(std::memory_order_relaxed);
  while (seen < value && !largest.compare_exchange_weak(seen, value, std::memory_order_acq_rel)) {
  }
}

}  // namespace

Memory::Memory(std::byte* base, std::size_t n_blocks)
    : control_(reinterpret_cast<Control*>(base)), blocks_(base + sizeof(Control)), n_blocks_(n_blocks) {}

std::size_t Memory::bytes(std::size_t n_blocks) { return n_blocks == 0 ? 0 : sizeof(Control) + n_blocks * block_bytes; }

std::size_t Memory::blocks_in(std::size_t bytes) {
  const std::size_t n = bytes < sizeof(Control) ? 0 : (bytes - sizeof(Control)) / block_bytes;
  return n < least_blocks ? 0 : n;
}

Block& Memory::block(std::size_t i) const noexcept { return *reinterpret_cast<Block*>(blocks_ + i * block_bytes); }

void Memory::map() noexcept {
#ifdef MADV_POPULATE_WRITE
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto from = reinterpret_cast<std::uintptr_t>(blocks_);
  const std::uintptr_t first = (from + page - 1) / page * page, end = (from + n_blocks_ * block_bytes) / page * page;
  const int before = errno;
  if (first < end && madvise(reinterpret_cast<void*>(first), end - first, MADV_POPULATE_WRITE) == 0)
    // A hypervisor that keeps page tables of its own fills them at the first use of a page, which takes another 5 us.
    for (std::uintptr_t at = first; at < end; at += page)
      __atomic_fetch_or(reinterpret_cast<unsigned char*>(at), 0, __ATOMIC_RELAXED);
  errno = before;
#endif
}

Block* Memory::take(std::uint32_t thread, std::uint64_t now) noexcept {
  for (std::size_t tries = 0; tries < n_blocks_; ++tries) {
    const std::uint64_t number = control_->taken.fetch_add(1, std::memory_order_relaxed) + 1;
    Block& b = block((number - 1) % n_blocks_);
    std::uint32_t is_free = 0;
    if (!b.held.compare_exchange_strong(is_free, 1, std::memory_order_acquire)) continue;
    if (b.number.load(std::memory_order_relaxed) != 0)
      raise(control_->lost_until, b.last.load(std::memory_order_relaxed));
    b.number.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);  // a reader of the old records notices
    b.thread.store(thread, std::memory_order_relaxed);
    b.used.store(0, std::memory_order_relaxed);
    b.first.store(now, std::memory_order_relaxed);
    b.last.store(0, std::memory_order_relaxed);
    b.number.store(number, std::memory_order_release);
    return &b;
  }
  return nullptr;
}

void Memory::release(Block& block, std::uint64_t last) noexcept {
  block.last.store(last, std::memory_order_relaxed);
  block.held.store(0, std::memory_order_release);
}

void Memory::end_step(std::int64_t step, std::uint64_t ticks) noexcept {
  StepEnd& end = control_->steps[static_cast<std::uint64_t>(step) % kept_step_ends];
  end.step_plus_one.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  end.ticks.store(ticks, std::memory_order_relaxed);
  end.step_plus_one.store(step + 1, std::memory_order_release);
}

bool Memory::step_end(std::int64_t step, std::uint64_t& ticks) const noexcept {
  const StepEnd& end = control_->steps[static_cast<std::uint64_t>(step) % kept_step_ends];
  if (end.step_plus_one.load(std::memory_order_acquire) != step + 1) return false;
  ticks = end.ticks.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  return end.step_plus_one.load(std::memory_order_relaxed) == step + 1;
}

std::vector<Piece> Memory::pieces(std::uint64_t from, std::uint64_t to) const {
  std::vector<Piece> out;
  for (std::size_t i = 0; i < n_blocks_; ++i) {
    const Block& b = block(i);
    const std::uint64_t number = b.number.load(std::memory_order_acquire);
    const std::uint64_t last = b.last.load(std::memory_order_relaxed);
    if (number == 0 || b.first.load(std::memory_order_relaxed) > to || (last != 0 && last < from)) continue;
    out.push_back({b.thread.load(std::memory_order_relaxed), number, i});
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::span<const Word> Memory::copy(const Piece& piece, std::span<Word> buffer) const {
  Block& b = block(piece.block);
  const std::size_t used = std::min<std::size_t>(b.used.load(std::memory_order_acquire), block_words);
  Word* const words = Memory::words(b);
  for (std::size_t w = 0; w < used; ++w) buffer[w] = std::atomic_ref<Word>(words[w]).load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (b.number.load(std::memory_order_relaxed) != piece.number) return {};
  return buffer.first(used);
}

}  // namespace effort::recording
