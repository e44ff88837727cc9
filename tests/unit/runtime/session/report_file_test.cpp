// The file that EFFORT_REPORT names.
#include "runtime/session/report_file.hpp"

#include "runtime/status.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace {

/// A new directory, removed at the end.
struct Directory {
  std::string path = (fs::temp_directory_path() / "effort-report-XXXXXX").string();
  Directory() { REQUIRE(mkdtemp(path.data())); }
  ~Directory() { fs::remove_all(path); }
};

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

/// Whether the report could be written while files may have at most so many bytes.
bool written(const std::string& path, const std::string& text, rlim_t most = RLIM_INFINITY) {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit limit = before;
  if (most != RLIM_INFINITY) limit.rlim_cur = most;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  bool ok = true;
  try {
    effort::session::write_report(path, text);
  } catch (const effort::Error&) {
    ok = false;
  }
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  return ok;
}

TEST_CASE("a report replaces the old one, whichever is longer, in the same file") {
  const Directory there;
  const std::string path = there.path + "/report.txt", other_name = there.path + "/other";
  REQUIRE(written(path, "first\n"));
  fs::create_hard_link(path, other_name);
  REQUIRE(chmod(path.c_str(), 0600) == 0);
  for (const char* const text : {"a longer one than the first\n", "short\n"}) {
    CHECK(written(path, text));
    CHECK(content(other_name) == text);
  }
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a report that has no room leaves the old one as it was") {
  const Directory there;
  const std::string path = there.path + "/report.txt", text(100, 'n');
  for (const std::size_t old_bytes : {std::size_t{0}, std::size_t{10}, std::size_t{1000}})
    for (const rlim_t most : {rlim_t{0}, rlim_t{5}, rlim_t{99}}) {
      const std::string old(old_bytes, 'o');
      put(path, old);
      CHECK_FALSE(written(path, text, most));
      CHECK(content(path) == old);
    }
  CHECK(written(path, text, 100));
  CHECK(content(path) == text);
}

/// From now on, fallocate fails in this process, as on a file system that does not have it.
bool refuse_fallocate() {
  std::array<sock_filter, 4> filter{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_CASE("a report replaces the old one on a file system that cannot reserve room") {
  constexpr int cannot_test = 77;
  const Directory there;
  const std::string path = there.path + "/report.txt";
  put(path, "a long old one\n");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (!refuse_fallocate()) _exit(cannot_test);
    try {
      effort::session::write_report(path, "a new one\n");
    } catch (const effort::Error&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == cannot_test) SKIP("this system allows no filter of system calls");
  REQUIRE(status == 0);
  CHECK(content(path) == "a new one\n");
}

TEST_CASE("a report that has no room leaves no file") {
  const Directory there;
  CHECK_FALSE(written(there.path + "/report.txt", "text\n", 0));
  CHECK(fs::is_empty(there.path));
}

}  // namespace
