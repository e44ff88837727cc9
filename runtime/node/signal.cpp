#include "runtime/node/signal.hpp"

#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace effort::node {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

void Signal::wait(std::uint32_t ticket, std::int64_t timeout_ns) noexcept {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  const timespec t{static_cast<std::time_t>(timeout_ns / 1'000'000'000), static_cast<long>(timeout_ns % 1'000'000'000)};
  // Not FUTEX_PRIVATE: the ranks are processes.
  if (count_.load(std::memory_order_seq_cst) == ticket)
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&count_), FUTEX_WAIT, ticket, &t, nullptr, 0);
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

void Signal::notify() noexcept {
  count_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0)
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&count_), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace effort::node
