// Writes from host threads without exposing the host to the signals of a failed write.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>

namespace effort {

/// For its lifetime, a write that exceeds `ulimit -f` or goes to a closed pipe fails without a signal to the host.  The
/// host's handlers are untouched, and a signal that was pending before stays pending.  The background thread blocks all
/// signals and does not need it.
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

/// Writes `text` to stderr as it is.
inline void print_error(const char* text) {
  const WriteSignalsHeld held;
  std::fputs(text, stderr);
  std::fflush(stderr);  // a host may have given it a buffer: what is written later, is written by the host
}

/// Writes a line to stderr, prefixed with the library's name.
inline void say(const std::string& line) { print_error(("effort: " + line + "\n").c_str()); }

}  // namespace effort
