#include "runtime/node/available_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace effort::node {
namespace {

constexpr std::uint64_t unlimited = UINT64_MAX;

/// The number in a file; `otherwise` if the file is missing or holds a word, such as "max".
std::uint64_t number_in(const std::string& path, std::uint64_t otherwise) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : otherwise;
}

/// The number after a key at the start of a line.
std::uint64_t number_after(const std::string& path, std::string_view key, std::uint64_t otherwise) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with(key)) return std::strtoull(line.c_str() + key.size(), nullptr, 10);
  return otherwise;
}

/// The files of one version of control groups.
struct Files {
  const char *mount, *limit, *used, *cached;
};
constexpr Files version_1 = {"/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                             "total_inactive_file "};
constexpr Files version_2 = {"/sys/fs/cgroup", "/memory.max", "/memory.current", "inactive_file "};

/// The memory that a group and all groups above it leave.  In a container, the path may begin above the mounted part;
/// groups that are not there are skipped.
std::uint64_t left_in_groups(const std::string& mount, std::string path, const Files& files) {
  std::uint64_t left = unlimited;
  for (;; path.resize(path.rfind('/'))) {
    while (path.ends_with('/')) path.pop_back();
    const std::string group = mount + path;
    if (const std::uint64_t limit = number_in(group + files.limit, unlimited); limit != unlimited) {
      const std::uint64_t used = number_in(group + files.used, 0);
      const std::uint64_t needed = used - std::min(used, number_after(group + "/memory.stat", files.cached, 0));
      left = std::min(left, limit - std::min(limit, needed));
    }
    if (path.rfind('/') == std::string::npos) return left;
  }
}

}  // namespace

std::uint64_t available_memory(const std::string& root) {
  const std::uint64_t kib = number_after(root + "/proc/meminfo", "MemAvailable:", unlimited);
  std::uint64_t available = kib == unlimited ? unlimited : kib * 1024;
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;  // number:controllers:path
  while (std::getline(groups, line)) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",memory,") == std::string::npos) continue;
    const Files& files = unified ? version_2 : version_1;
    available = std::min(available, left_in_groups(root + files.mount, line.substr(second + 1), files));
  }
  return available;
}

std::uint64_t trace_memory_limit(std::uint64_t available, int ranks_on_machine) {
  return available / 4 / static_cast<std::uint64_t>(std::max(ranks_on_machine, 1));
}

}  // namespace effort::node
