// Writing from a thread of the host, which a signal of that write must not kill.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>

namespace effort {

/// While it lives, the signals of a write that cannot be done, beyond `ulimit -f` or to a pipe that nobody reads, do
/// not reach the host: the write only fails.  The host's handlers stay as they are, and a signal that was pending
/// before stays pending. The background thread, which blocks all signals, does not need it.
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

/// Writes a line of the library's to stderr.
inline void say(const std::string& line) { print_error(("effort: " + line + "\n").c_str()); }

}  // namespace effort
