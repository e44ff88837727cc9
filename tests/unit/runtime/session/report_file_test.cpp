// The file that EFFORT_REPORT names.
#include "runtime/session/report_file.hpp"

#include "runtime/status.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/resource.h>
#include <sys/stat.h>
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

TEST_CASE("a report that has no room leaves no file") {
  const Directory there;
  CHECK_FALSE(written(there.path + "/report.txt", "text\n", 0));
  CHECK(fs::is_empty(there.path));
}

}  // namespace
