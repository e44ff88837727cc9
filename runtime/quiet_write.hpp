// Writing from a host thread without raising signals that could kill the host.
#pragma once

#include "record/text.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>

namespace effort {

/// Keeps the signals of failing writes (beyond `ulimit -f`, or to a pipe without a reader) from the host: the write
/// merely fails.  The host's handlers stay as they are, and it gets all signals that a failed write did not cause.  The
/// background thread blocks all signals and does not need this.
class WriteSignalsHeld {
 public:
  WriteSignalsHeld() {
    sigset_t both;
    sigemptyset(&both);
    for (const int s : {SIGXFSZ, SIGPIPE}) sigaddset(&both, s);
    pthread_sigmask(SIG_BLOCK, &both, &before_);
    sigemptyset(&caused_);
    sigpending(&pending_);
  }
  /// Call it after every write, with the error number, or 0 if the write succeeded.
  void failed(int error) {
    const int signal = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
    if (signal != 0 && sigismember(&pending_, signal) == 0) sigaddset(&caused_, signal);
  }
  ~WriteSignalsHeld() {
    const int error = errno;
    for (const int s : {SIGXFSZ, SIGPIPE}) {
      if (sigismember(&caused_, s) == 0) continue;
      sigset_t one;
      sigemptyset(&one);
      sigaddset(&one, s);
      // A failed write raises its signal for the thread. sigtimedwait takes such a signal before one that is pending
      // for the process.
      const timespec now{};
      while (sigtimedwait(&one, nullptr, &now) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  WriteSignalsHeld(const WriteSignalsHeld&) = delete;
  WriteSignalsHeld& operator=(const WriteSignalsHeld&) = delete;

 private:
  sigset_t caused_, pending_, before_;
};

/// Writes `text` to stderr unchanged.
inline void print_error(const char* text) {
  WriteSignalsHeld held;
  if (std::fputs(text, stderr) < 0) held.failed(errno);
  if (std::fflush(stderr) != 0) held.failed(errno);  // the host may have made it buffered
}

/// Writes a line to stderr, with the library's prefix.  Names in it may come from anywhere, so control characters are
/// spelled out.
inline void say(const std::string& line) { print_error(("effort: " + record::visible(line) + "\n").c_str()); }

}  // namespace effort
