#include "tools/files/trial.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace effort::tools {

namespace {

void limit_to(int resource, std::uint64_t most) {
  rlimit now{};
  if (getrlimit(resource, &now) != 0) return;
  if (now.rlim_max == RLIM_INFINITY || now.rlim_max > most) now.rlim_max = most;
  now.rlim_cur = now.rlim_max;
  setrlimit(resource, &now);
}

[[noreturn]] void be_child(std::uint64_t seconds, const std::function<void()>& use) {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);  // the messages of the C library about a damaged heap
  }
  limit_to(RLIMIT_CORE, 0);
  limit_to(RLIMIT_CPU, seconds);
  try {
    use();
  } catch (...) {  // the caller meets the same error
  }
  _exit(0);
}

}  // namespace

Trial try_in_child(const std::string& path, std::uint64_t seconds, const std::function<void()>& use) {
  const pid_t child = fork();
  if (child == 0) be_child(seconds, use);
  if (child < 0)
    throw std::system_error(errno, std::generic_category(), "cannot start a process to try '" + path + "'");
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return Trial::returned;  // the host's handler has already collected the child
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? Trial::returned : Trial::crashed;
  return WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL ? Trial::looped : Trial::crashed;
}

}  // namespace effort::tools
