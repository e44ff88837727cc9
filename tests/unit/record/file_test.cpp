#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "record/reader.hpp"
#include "record/writer.hpp"
#include "sample_run.hpp"
#include "tests/support/killed.hpp"

using namespace effort::record;
using namespace effort::record::test;
namespace fs = std::filesystem;

namespace {
bool without_tmpfile = false, without_links = false, without_link_counts = false;
}

// Replace the C library's functions on a simulated file system without unnamed files, links and exclusive renaming.
extern "C" __attribute__((visibility("default"))) int link(const char* from, const char* to) noexcept {
  if (without_links) {
    errno = EPERM;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}
extern "C" __attribute__((visibility("default"))) int renameat2(int from_directory, const char* from, int to_directory,
                                                                const char* to, unsigned flags) noexcept {
  if (without_links) {
    errno = EINVAL;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
}
extern "C" __attribute__((visibility("default"))) int fstat(int descriptor, struct stat* out) noexcept {
  const int result = static_cast<int>(::syscall(SYS_newfstatat, descriptor, "", out, AT_EMPTY_PATH));
  if (without_link_counts) out->st_nlink = 0;
  return result;
}
extern "C" __attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  if (without_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, mode_t);
  va_end(rest);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

namespace {

/// A directory for one test, removed afterwards.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "effort-snapshot-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~Scratch() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  std::size_t entries() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("a written file is read back, and nothing else is left behind") {
  Scratch scratch;
  const fs::path path = write_snapshot(scratch.path(), sample_run(), sample_file());
  CHECK(path.filename() == "advect-4711-00000024.effort");
  CHECK(scratch.entries() == 1);
  Reader reader(path);
  reader.verify();
  CHECK(reader.size() == sample_file().size());
  CHECK(reader.run().job == "4711");
}

TEST_CASE("an existing file is never overwritten") {
  Scratch scratch;
  const fs::path path = scratch.path() / "run.effort";
  std::ofstream(path) << "precious";
  try {
    write_file(path, sample_file());
    FAIL("written");
  } catch (const fs::filesystem_error& e) {
    CHECK(e.code() == std::errc::file_exists);
    CHECK(e.path1() == path);
  }
  CHECK(fs::file_size(path) == 8);
  CHECK(scratch.entries() == 1);
}

TEST_CASE("a taken name gets a number") {
  Scratch scratch;
  CHECK(write_snapshot(scratch.path(), sample_run(), sample_file()).filename() == "advect-4711-00000024.effort");
  CHECK(write_snapshot(scratch.path(), sample_run(), sample_file()).filename() == "advect-4711-00000024.1.effort");
  CHECK(write_snapshot(scratch.path(), sample_run(), sample_file()).filename() == "advect-4711-00000024.2.effort");
  CHECK(scratch.entries() == 3);
}

TEST_CASE("missing directories are created") {
  Scratch scratch;
  const fs::path path = scratch.path() / "a" / "b" / "run.effort";
  write_file(path, sample_file());
  CHECK(fs::exists(path));
}

TEST_CASE("a directory that cannot be created is an error that names the path") {
  Scratch scratch;
  std::ofstream(scratch.path() / "file") << "x";
  CHECK_THROWS_AS(write_file(scratch.path() / "file" / "run.effort", sample_file()), fs::filesystem_error);
  if (::geteuid() == 0) {
    WARN("running as root: the case of a directory without write permission is left out");
  } else {
    ::chmod(scratch.path().c_str(), 0500);
    CHECK_THROWS_AS(write_file(scratch.path() / "run.effort", sample_file()), fs::filesystem_error);
    ::chmod(scratch.path().c_str(), 0700);
  }
}

TEST_CASE("a full disk is an error") {
  // A file size limit has the same effect on write() as a full disk.
  Scratch scratch;
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int result = 1;
    try {
      write_file(scratch.path() / "run.effort", sample_file());
    } catch (const fs::filesystem_error& e) {
      result = e.code().value() == EFBIG ? 0 : 2;
    }
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(scratch.entries() == 0);
}

TEST_CASE("a killed writer leaves either no file or a complete one") {
  Scratch scratch;
  const fs::path path = scratch.path() / "run.effort";
  std::size_t whole = 0, left = 0;
  const int killed = effort::test::killed_everywhere([&] { write_file(path, sample_file()); },
                                                     [&](pid_t) {
                                                       if (fs::exists(path)) {
                                                         Reader(path).verify();
                                                         ++whole;
                                                         fs::remove(path);
                                                       }
                                                       left += scratch.entries();
                                                     });
  if (killed == -2) SKIP("processes may not be traced here");
  CHECK(killed > 10);
  CHECK(whole > 0);
  if (::open(scratch.path().c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600) < 0)
    SKIP("this file system has no unnamed files");
  CHECK(left == 0);
}

TEST_CASE("without unnamed files, the next writer removes the leftovers of a killed one") {
  without_links = GENERATE(false, true);
  Scratch scratch;
  const fs::path path = scratch.path() / "run.effort", next = scratch.path() / "next.effort";
  std::size_t hidden = 0, empty = 0, remained = 0;
  without_tmpfile = true;
  const int killed = effort::test::killed_everywhere([&] { write_file(path, sample_file()); },
                                                     [&](pid_t) {
                                                       hidden += scratch.entries() - fs::exists(path);
                                                       empty += fs::exists(path) && fs::file_size(path) == 0;
                                                       write_file(next, sample_file());
                                                       fs::remove(next);
                                                       if (fs::exists(path)) {
                                                         Reader(path).verify();
                                                         fs::remove(path);
                                                       }
                                                       remained += scratch.entries();
                                                     });
  without_tmpfile = false;
  const bool claims = std::exchange(without_links, false);
  if (killed == -2) SKIP("processes may not be traced here");
  CHECK(hidden > 0);
  CHECK((empty > 0) == claims);
  CHECK(remained == 0);
}

TEST_CASE("snapshots are written to file systems that do not count links") {
  without_links = GENERATE(false, true);
  Scratch scratch;
  without_tmpfile = without_link_counts = true;
  write_file(scratch.path() / "run.effort", sample_file());
  without_tmpfile = without_links = without_link_counts = false;
  Reader(scratch.path() / "run.effort").verify();
  CHECK(scratch.entries() == 1);
}

TEST_CASE("an empty file is a leftover only beside the hidden file of a dead writer") {
  Scratch scratch;
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const auto put = [&](const std::string& name, const char* text = "") {
    std::ofstream(scratch.path() / name) << text;
    return scratch.path() / name;
  };
  const fs::path alone = put("alone.effort"), left = put("left.effort"), whole = put("whole.effort", "x"),
                 claimed = put("claimed.effort");
  for (const char* name : {"left", "whole", "claimed"})
    put(std::string(".") + name + ".effort." + host + ".12.0.part", "x");
  const int lock = ::open(claimed.c_str(), O_WRONLY | O_CLOEXEC, 0);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  without_tmpfile = true;
  write_file(scratch.path() / "run.effort", sample_file());
  without_tmpfile = false;
  ::close(lock);
  CHECK(!fs::exists(left));
  CHECK((fs::exists(alone) && fs::exists(whole) && fs::exists(claimed)));
  CHECK(scratch.entries() == 4);
}

TEST_CASE("only leftovers of dead writers on this machine are removed") {
  Scratch scratch;
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string here = std::string(".") + host;
  const auto put = [&](const std::string& name) {
    std::ofstream(scratch.path() / name) << "x";
    return scratch.path() / name;
  };
  const fs::path dead = put(".a.effort" + here + ".12.0.part"), alive = put(".b.effort" + here + ".12.1.part");
  for (const std::string& name :
       std::vector<std::string>{".c.effort.elsewhere.12.0.part", "d.effort" + here + ".12.0.part",
                                ".e" + here + ".12.part", ".f.effort.part"})
    put(name);
  const int lock = ::open(alive.c_str(), O_WRONLY | O_CLOEXEC, 0);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  without_tmpfile = true;
  write_file(scratch.path() / "run.effort", sample_file());
  without_tmpfile = false;
  ::close(lock);
  CHECK(!fs::exists(dead));
  CHECK(fs::exists(alive));
  CHECK(scratch.entries() == 6);
}

TEST_CASE("exactly one of many writers of the same name succeeds") {
  without_tmpfile = GENERATE(false, true);
  without_links = without_tmpfile && GENERATE(false, true);
  Scratch scratch;
  const fs::path path = scratch.path() / "run.effort";
  std::atomic<int> written{0}, refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      try {
        write_file(path, sample_file());
        ++written;
      } catch (const fs::filesystem_error& e) {
        refused += e.code() == std::errc::file_exists;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  without_tmpfile = without_links = false;
  CHECK(written == 1);
  CHECK(refused == 7);
  CHECK(scratch.entries() == 1);
}

TEST_CASE("names are made valid for file systems") {
  Run run = sample_run();
  run.name = "../my app\n\xc3\xa9";
  run.job = "";
  run.steps = 1234567890;
  CHECK(file_name(run) == "_._my_app___-run-1234567890.effort");
  run.name = std::string(10000, 'x');
  CHECK(file_name(run).size() < 200);
}

TEST_CASE("a file that cannot be opened is named") {
  Scratch scratch;
  CHECK_THROWS_AS(Reader(scratch.path() / "none.effort"), std::system_error);
  CHECK_THROWS_AS(Reader(scratch.path()), std::system_error);
  std::ofstream(scratch.path() / "empty.effort");
  CHECK_THROWS_AS(Reader(scratch.path() / "empty.effort"), FormatError);
}
