#include "runtime/node/available_memory.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace effort::node;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

/// A fake root directory with 8,000 MiB available.
class Root {
 public:
  Root() {
    char name[] = "available-memory-XXXXXX";
    REQUIRE(mkdtemp(name));
    path_ = name;
    write("/proc/meminfo", "MemTotal:       16384000 kB\nMemFree:         1024 kB\nMemAvailable:    8192000 kB\n");
  }
  ~Root() { fs::remove_all(path_); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(path_ + file).parent_path());
    std::ofstream(path_ + file) << text;
  }
  std::uint64_t available() const { return available_memory(path_); }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("without a limited group, the kernel's estimate counts") {
  const Root root;
  CHECK(root.available() == 8000 * mib);
  root.write("/proc/self/cgroup", "0::/user.slice\n");
  root.write("/sys/fs/cgroup/user.slice/memory.max", "max\n");
  CHECK(root.available() == 8000 * mib);
}

TEST_CASE("the tightest group above the process counts, version 2") {
  const Root root;
  root.write("/proc/self/cgroup", "0::/job/step/\n");
  root.write("/sys/fs/cgroup/job/step/memory.max", std::to_string(4000 * mib));
  root.write("/sys/fs/cgroup/job/step/memory.current", std::to_string(1000 * mib));
  CHECK(root.available() == 3000 * mib);
  root.write("/sys/fs/cgroup/job/memory.max", std::to_string(2500 * mib));
  root.write("/sys/fs/cgroup/job/memory.current", std::to_string(2000 * mib));
  CHECK(root.available() == 500 * mib);
  root.write("/sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file " + std::to_string(300 * mib) + "\n");
  CHECK(root.available() == 800 * mib);
  root.write("/sys/fs/cgroup/memory.max", "1048576");  // that of a container
  CHECK(root.available() == mib);
}

TEST_CASE("the tightest group above the process counts, version 1") {
  const Root root;
  root.write("/proc/self/cgroup", "7:cpu,memory:/box/a\n2:freezer:/other\n0::/\n");
  root.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n");
  CHECK(root.available() == 8000 * mib);
  // The path is the host's; the container sees its own group as the uppermost.
  root.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(100 * mib));
  root.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(120 * mib));
  root.write("/sys/fs/cgroup/memory/memory.stat", "cache 5\ntotal_inactive_file " + std::to_string(30 * mib) + "\n");
  CHECK(root.available() == 10 * mib);
  root.write("/sys/fs/cgroup/memory/memory.stat", "cache 5\n");
  CHECK(root.available() == 0);
}

TEST_CASE("a system that says nothing does not limit") {
  CHECK(available_memory("/nowhere") == UINT64_MAX);
  CHECK(available_memory() > 0);
}

TEST_CASE("ranks share a quarter") {
  CHECK(trace_memory_limit(8000 * mib, 1) == 2000 * mib);
  CHECK(trace_memory_limit(8000 * mib, 10) == 200 * mib);
  CHECK(trace_memory_limit(UINT64_MAX, 0) == UINT64_MAX / 4);
}
