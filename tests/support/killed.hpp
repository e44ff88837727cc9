// Kills a process at every moment.
#pragma once

#include <csignal>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace effort::test {

/// Runs `body` in a child process that SIGKILL ends at the n-th entry to or exit from a system call, for n = 1, 2, ...,
/// until it ends by itself.  `after(process)` then checks what each child has left.  Returns the number of kills; -1:
/// it did not end by itself; -2: processes may not be traced here.
template <typename Body, typename After>
int killed_everywhere(const Body& body, const After& after) {
  for (int n = 1;; ++n) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(2);
      ::raise(SIGSTOP);
      try {
        body();
      } catch (...) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) return -2;
    for (int stops = 0; stops < n && WIFSTOPPED(status); ++stops) {
      ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
      ::waitpid(child, &status, 0);
    }
    const bool ended = !WIFSTOPPED(status);
    if (!ended) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
    }
    after(child);
    if (ended) return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? n - 1 : -1;
  }
}

}  // namespace effort::test
