// A thread of the library's own in the host's process.
#pragma once

#include <functional>

#include <pthread.h>

namespace effort::engine {

/// Inherits nothing of the host's thread that starts it: all signals are blocked, because the host's handlers must not
/// run on it; floating-point exceptions do not trap, whatever the host has enabled; and its stack does not depend on
/// `ulimit -s`.
class BackgroundThread {
 public:
  BackgroundThread() = default;
  ~BackgroundThread() { join(); }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  /// @param body  must not throw
  /// @throws std::system_error where there is no thread to be had
  void start(std::function<void()> body);
  void join();
  /// Lets it go on alone; it must never end.
  void detach();

 private:
  pthread_t thread_{};
  bool started_ = false;
};

}  // namespace effort::engine
