#include "runtime/engine/rank_watch.hpp"

#include "record/descriptor.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

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

void RankWatch::Descriptor::note() noexcept {
  char path[40];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", number);
  if (number >= 0 && readlink(path, link, sizeof link - 1) < 0) link[0] = 0;
}

bool RankWatch::Descriptor::is_ours() const noexcept {
  Descriptor now{number};
  now.note();
  return number >= 0 && std::strcmp(now.link, link) == 0;
}

void RankWatch::Descriptor::close() noexcept {
  if (is_ours()) ::close(number);
}

RankWatch::RankWatch(const std::vector<pid_t>& processes, std::function<void()> notify)
    : notify_(std::move(notify)),
      n_(processes.size()),
      ended_(std::make_unique<std::atomic<bool>[]>(n_)),
      descriptors_(n_ + 1),
      watched_(n_ + 1) {
  bool any = false;
  for (std::size_t l = 0; l < n_; ++l)
    any |= (descriptors_[l].number = record::above_standard_streams(descriptor_of(processes[l]))) >= 0;
  if (any) descriptors_[n_].number = record::above_standard_streams(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  for (Descriptor& d : descriptors_) d.note();
  try {
    if (descriptors_[n_].number >= 0) thread_.start([this] { run(); });
  } catch (...) {
    for (Descriptor& d : descriptors_) d.close();
    throw;
  }
}

RankWatch::~RankWatch() {
  ending_.store(true);
  // A timer needs no write, which may fail for many reasons.
  const itimerspec now{{0, 0}, {0, 1}};
  if (descriptors_[n_].is_ours()) timerfd_settime(descriptors_[n_].number, 0, &now, nullptr);
  thread_.join();
  for (Descriptor& d : descriptors_) d.close();
}

void RankWatch::run() noexcept {
  // poll() ignores negative descriptors.
  for (std::size_t i = 0; i <= n_; ++i) watched_[i] = {descriptors_[i].number, POLLIN, 0};
  while (!ending_.load()) {
    constexpr int longest_ms = 1000;
    const int ready = poll(watched_.data(), n_ + 1, longest_ms);
    if (ready < 0 && errno != EINTR) return;
    if (ready <= 0) continue;
    if (watched_[n_].revents != 0) return;
    bool news = false;
    for (std::size_t l = 0; l < n_; ++l) {
      if (watched_[l].fd < 0 || watched_[l].revents == 0) continue;
      watched_[l].fd = -1;
      if (!descriptors_[l].is_ours()) continue;
      ended_[l].store(true, std::memory_order_release);
      news = true;
    }
    if (news) notify_();
  }
}

}  // namespace effort::engine
