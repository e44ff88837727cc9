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
/// merely fails.  The host's handlers stay as they are, and a signal that was already pending stays pending.  The
/// background thread blocks all signals and does not need this.
class WriteSignalsHeld {
 public:
  WriteSignalsHeld() {
    sigset_t pending;
    sigpending(&pending);
    sigemptyset(&held_);
    sigset_t both;
    sigemptyset(&both);
    for (const int s : {SIGXFSZ, SIGPIPE}) {
      sigaddset(&both, s);
      if (sigismember(&pending, s) == 0) sigaddset(&held_, s);
    }
    pthread_sigmask(SIG_BLOCK, &both, &before_);
  }
  ~WriteSignalsHeld() {
    const int error = errno;
    const timespec now{};
    while (sigtimedwait(&held_, nullptr, &now) > 0 || errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  WriteSignalsHeld(const WriteSignalsHeld&) = delete;
  WriteSignalsHeld& operator=(const WriteSignalsHeld&) = delete;

 private:
  sigset_t held_, before_;
};

/// Writes `text` to stderr unchanged.
inline void print_error(const char* text) {
  const WriteSignalsHeld held;
  std::fputs(text, stderr);
  std::fflush(stderr);  // the host may have made it buffered; flush here, while the signals are blocked
}

/// Writes a line to stderr, with the library's prefix.  Names in it may come from anywhere, so control characters are
/// spelled out.
inline void say(const std::string& line) { print_error(("effort: " + record::visible(line) + "\n").c_str()); }

}  // namespace effort
