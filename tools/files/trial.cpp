#include "tools/files/trial.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <stdexcept>
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

/// Writes the text of an error of `use` to `errors`.
[[noreturn]] void be_child(int errors, std::uint64_t seconds, const std::function<void()>& use) {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);  // the messages of the C library about a damaged heap
  }
  // A handler of the calling process, such as a fuzzer's, would report the crash as its own.
  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP}) std::signal(signal, SIG_DFL);
  limit_to(RLIMIT_CORE, 0);
  limit_to(RLIMIT_CPU, seconds);
  try {
    use();
  } catch (const std::exception& e) {
    [[maybe_unused]] const ssize_t written = ::write(errors, e.what(), std::strlen(e.what()));
  }
  _exit(0);
}

std::string read_to_end(int file) {
  std::string text;
  char part[512];
  ssize_t n = 0;
  while ((n = ::read(file, part, sizeof part)) > 0 || (n < 0 && errno == EINTR))
    if (n > 0) text.append(part, static_cast<std::size_t>(n));
  return text;
}

}  // namespace

Trial try_in_child(const std::string& path, std::uint64_t seconds, const std::function<void()>& use) {
  int errors[2];
  const bool piped = pipe2(errors, O_CLOEXEC) == 0;
  const pid_t child = piped ? fork() : -1;
  if (child == 0) be_child(errors[1], seconds, use);
  const int reason = errno;
  if (piped) ::close(errors[1]);
  const std::string error = child > 0 ? read_to_end(errors[0]) : "";
  if (piped) ::close(errors[0]);
  if (child < 0)
    throw std::system_error(reason, std::generic_category(), "cannot start a process to try '" + path + "'");
  int status = 0;  // as of a child that returned
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) break;  // the host's handler has already collected the child
  if (!error.empty()) throw std::runtime_error(error);
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? Trial::returned : Trial::crashed;
  return WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL ? Trial::looped : Trial::crashed;
}

}  // namespace effort::tools
