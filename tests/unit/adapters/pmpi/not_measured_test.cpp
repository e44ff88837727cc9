// The file that says why nothing was measured replaces an earlier run's, and nothing else.
#include "adapters/pmpi/not_measured.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>

namespace fs = std::filesystem;

namespace {

/// A folder for snapshots, with the name that the file has there.
struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "effort-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()));
    path = pattern;
    file = path / (std::string(program_invocation_short_name) + "-not-measured.txt");
    setenv("EFFORT_SNAPSHOT_DIR", path.c_str(), 1);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path path, file;
};

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Makes the file itself, not what it refers to, an hour old.
void age(const fs::path& file) {
  const timespec times[2] = {{std::time(nullptr) - 3600, 0}, {std::time(nullptr) - 3600, 0}};
  REQUIRE(utimensat(AT_FDCWD, file.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
}

bool says(const fs::path& file, const char* reason) {
  return text_of(file).find("measured nothing: " + std::string(reason) + "\n") != std::string::npos;
}

void leave_text(const fs::path& file) { std::ofstream(file) << "precious, and longer than the line that replaces it"; }

}  // namespace

TEST_CASE("a new file is written, and the first reason stays") {
  const Folder folder;
  effort::pmpi::report_not_measured("one");
  effort::pmpi::report_not_measured("two");
  CHECK(says(folder.file, "one"));
  CHECK_FALSE(says(folder.file, "two"));
}

TEST_CASE("the file of an earlier run is replaced") {
  const Folder folder;
  leave_text(folder.file);
  age(folder.file);
  effort::pmpi::report_not_measured("one");
  CHECK(says(folder.file, "one"));
  CHECK(text_of(folder.file).find("precious") == std::string::npos);
}

TEST_CASE("links of this name are not followed") {
  const Folder folder;
  const fs::path other = folder.path / "other";
  leave_text(other);
  const std::string before = text_of(other);
  age(other);
  SECTION("symbolic") { fs::create_symlink(other, folder.file); }
  SECTION("hard") { fs::create_hard_link(other, folder.file); }
  age(folder.file);
  effort::pmpi::report_not_measured("one");
  CHECK(text_of(other) == before);
}

TEST_CASE("a pipe of this name is not waited for") {
  const Folder folder;
  REQUIRE(mkfifo(folder.file.c_str(), 0600) == 0);
  age(folder.file);
  effort::pmpi::report_not_measured("one");  // would wait for a reader
  CHECK(fs::is_fifo(folder.file));
}
