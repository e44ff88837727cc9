// Notices that a rank's process has ended.
#pragma once

#include "runtime/engine/background_thread.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <poll.h>
#include <sys/types.h>

namespace effort::engine {

/// Watches the processes of a node's ranks with a thread that sleeps until one of them ends.  Processes that the system
/// does not allow it to watch count as alive.  The end of the watch takes up to a second if the host has closed its
/// descriptors.
class RankWatch {
 public:
  /// @param processes  [n_local] 0: not to be watched
  /// @param notify     called by the thread after each end; must not throw
  /// @throws std::system_error if no thread can be created
  RankWatch(const std::vector<pid_t>& processes, std::function<void()> notify);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  /// Whether there is a process to watch, and thus a thread.
  bool runs() const noexcept { return descriptors_[n_].number >= 0; }
  bool ended(std::size_t local) const noexcept { return ended_[local].load(std::memory_order_acquire); }

 private:
  /// An open descriptor.  A host that closes all descriptors may have closed it, and reused its number for a file.
  struct Descriptor {
    int number = -1;
    char link[40] = {};  ///< what /proc says it is

    void note() noexcept;
    bool is_ours() const noexcept;
    void close() noexcept;
  };
  void run() noexcept;

  const std::function<void()> notify_;
  const std::size_t n_;
  const std::unique_ptr<std::atomic<bool>[]> ended_;
  std::vector<Descriptor> descriptors_;  ///< [n_local + 1] of processes; the last one ends the watch
  std::vector<pollfd> watched_;          ///< [n_local + 1] used by the thread, which must not allocate
  std::atomic<bool> ending_{false};
  BackgroundThread thread_;
};

}  // namespace effort::engine
