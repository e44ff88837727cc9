#include "tools/trace/input/otf2_guard.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "tools/trace/input/otf2_definitions.hpp"
#include "tools/trace/otf2/library.hpp"

namespace effort::tools::otf2 {

namespace {

namespace fs = std::filesystem;

/// Bytes of the anchor file and the definitions beside it.
std::uint64_t size_of(const std::string& anchor) {
  std::error_code error;
  std::uint64_t bytes = fs::file_size(anchor, error);
  if (error) return 0;
  const std::uint64_t definitions = fs::file_size(fs::path(anchor).replace_extension(".def"), error);
  return error ? bytes : bytes + definitions;
}

void limit(int resource, std::uint64_t most) {
  rlimit now{};
  if (getrlimit(resource, &now) != 0) return;
  if (now.rlim_max == RLIM_INFINITY || now.rlim_max > most) now.rlim_max = most;
  now.rlim_cur = now.rlim_max;
  setrlimit(resource, &now);
}

[[noreturn]] void try_in_child(const std::string& anchor, std::uint64_t seconds) {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);  // the messages of the C library about a damaged heap
  }
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, seconds);
  try {
    Messages messages;
    OTF2_Reader* const reader = OTF2_Reader_Open(anchor.c_str());
    if (reader != nullptr) {
      if (OTF2_Reader_SetSerialCollectiveCallbacks(reader) == OTF2_SUCCESS) read_definitions(reader, messages, anchor);
      OTF2_Reader_Close(reader);
    }
  } catch (...) {  // the caller meets the same error
  }
  _exit(0);
}

}  // namespace

void try_archive(const std::string& anchor) {
  // Reading 100 MB takes well under a second.
  const std::uint64_t seconds = 4 + size_of(anchor) / 10'000'000;
  const pid_t child = fork();
  if (child == 0) try_in_child(anchor, seconds);
  if (child < 0)
    throw std::system_error(errno, std::generic_category(), "cannot start a process to try '" + anchor + "'");
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return;  // the host's handler has already collected the child
  if (WIFEXITED(status)) return;
  const bool loops = WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL;
  throw std::runtime_error("the OTF2 archive '" + anchor + "' is damaged: the OTF2 library " +
                           (loops ? "does not return" : "crashes") +
                           " reading its definitions; write the archive again or restore a copy");
}

}  // namespace effort::tools::otf2
