#include "runtime/engine/rank_watch.hpp"

#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace effort::engine {
namespace {

/// A descriptor that becomes readable when the process ends; -1 if there is none.  It is closed on exec.
int descriptor_of(pid_t process) {
#ifdef SYS_pidfd_open
  if (process > 0 && process != getpid()) return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
#endif
  return -1;
}

}  // namespace

RankWatch::RankWatch(const std::vector<pid_t>& processes, std::function<void()> notify)
    : notify_(std::move(notify)),
      n_(processes.size()),
      ended_(std::make_unique<std::atomic<bool>[]>(n_)),
      descriptors_(n_ + 1, -1) {
  bool any = false;
  for (std::size_t l = 0; l < n_; ++l) any |= (descriptors_[l] = descriptor_of(processes[l])) >= 0;
  if (any) descriptors_[n_] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  if (descriptors_[n_] < 0) return;
  try {
    thread_.start([this] { run(); });
  } catch (...) {
    for (const int d : descriptors_)
      if (d >= 0) close(d);
    throw;
  }
}

RankWatch::~RankWatch() {
  // A timer needs no write, which may fail for many reasons; the thread must end.
  const itimerspec now{{0, 0}, {0, 1}};
  if (descriptors_[n_] >= 0 && timerfd_settime(descriptors_[n_], 0, &now, nullptr) == 0) thread_.join();
  for (const int d : descriptors_)
    if (d >= 0) close(d);
}

void RankWatch::run() noexcept {
  // poll() ignores negative descriptors.
  const auto watched = std::make_unique<pollfd[]>(n_ + 1);
  for (std::size_t i = 0; i <= n_; ++i) watched[i] = {descriptors_[i], POLLIN, 0};
  while (poll(watched.get(), n_ + 1, -1) > 0 || errno == EINTR) {
    if (watched[n_].revents != 0) return;
    bool news = false;
    for (std::size_t l = 0; l < n_; ++l) {
      if (watched[l].fd < 0 || watched[l].revents == 0) continue;
      watched[l].fd = -1;
      ended_[l].store(true, std::memory_order_release);
      news = true;
    }
    if (news) notify_();
  }
}

}  // namespace effort::engine
