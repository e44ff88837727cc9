// The directory in which fuzzed commands read and write, and functions that run them.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/command_line.hpp"

namespace effort::tools::test {

/// A directory for the files, removed at the end.  No file grows beyond 64 MiB.
struct Place {
  Place() {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit size{std::size_t{64} << 20, std::size_t{64} << 20};
    ::setrlimit(RLIMIT_FSIZE, &size);
    std::string pattern = (std::filesystem::temp_directory_path() / "effort-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path = pattern;
  }
  ~Place() { std::filesystem::remove_all(path); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  std::filesystem::path path;
};

inline void write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// Discards the output of commands.
inline void be_quiet() {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::close(nowhere);
}

/// Runs `effort` with these words and returns its exit code.
inline int run(std::vector<std::string> words) {
  words.insert(words.begin(), "effort");
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  return run_command(static_cast<int>(arguments.size()), arguments.data());
}

/// Runs a command on damaged files: damage is a data error, never a usage error.  A check may fail.
inline void run_on_damage(const std::vector<std::string>& words) {
  const int code = run(words);
  if (code != 0 && code != 1 && !(code == 3 && words.front() == "check")) std::abort();
}

}  // namespace effort::tools::test
