// The library's own thread in the host's process.
#pragma once

#include <functional>

#include <pthread.h>

namespace effort::engine {

/// A thread that inherits nothing from the host's thread that starts it.  All signals are blocked, because the host's
/// handlers must not run on it.  Floating-point exceptions do not trap, whatever the host has enabled.  Its stack does
/// not depend on `ulimit -s`.
class BackgroundThread {
 public:
  BackgroundThread() = default;
  ~BackgroundThread() { join(); }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  /// @param body  must not throw
  /// @throws std::system_error if no thread can be created
  void start(std::function<void()> body);
  void join();
  /// Detaches the thread, which must never end afterwards.
  void detach();

 private:
  pthread_t thread_{};
  bool started_ = false;
};

}  // namespace effort::engine
