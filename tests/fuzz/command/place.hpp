// Where fuzzed commands read and write, and how they are run.
#pragma once

#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
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
  std::filesystem::path path;
};

inline void write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// Runs `effort` with arguments, each passed through `resolved` first, and returns its exit code.
template <typename Resolve>
int run(const std::vector<std::string>& command, const Resolve& resolved) {
  std::vector<std::string> words = {"effort"};
  for (const std::string& word : command) words.push_back(resolved(word));
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  return run_command(static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace effort::tools::test
