#include "adapters/pmpi/not_measured.hpp"

#include "record/descriptor.hpp"
#include "runtime/environment.hpp"
#include "runtime/quiet_write.hpp"

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace effort::pmpi {
namespace {

std::string_view setting(const char* name) {
  const char* value = environment(name);
  return value ? value : "";
}

void say_nothing_measured(const std::string& reason) noexcept {
  try {
    say("libeffort_pmpi measures nothing: " + reason);
  } catch (const std::exception&) {
    print_error("effort: libeffort_pmpi measures nothing\n");
  }
}

const std::time_t loaded = std::time(nullptr);

/// Whether this is a file that an earlier run has left.  One with several names may be another program's.
bool is_old(const struct stat& file) {
  return S_ISREG(file.st_mode) && file.st_nlink <= 1 && file.st_mtim.tv_sec < loaded;
}

/// Opens the file of an earlier run, and empties it; -1 if there is none.
int open_old(const char* path) {
  // Opening alone has effects on some devices; without O_NONBLOCK, opening a pipe would wait for a reader.
  struct stat file {};
  if (lstat(path, &file) != 0 || !is_old(file)) return -1;
  const int opened = record::above_standard_streams(open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (opened < 0 || (fstat(opened, &file) == 0 && is_old(file) && ftruncate(opened, 0) == 0)) return opened;
  close(opened);
  return -1;
}

/// True in the process that wrote the file.
bool leave_line(const std::string& path, const std::string& reason) {
  int file = record::above_standard_streams(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file < 0 && errno == EEXIST) file = open_old(path.c_str());
  if (file < 0) return false;
  WriteSignalsHeld held;
  char when[32] = "";
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  if (gmtime_r(&now, &utc)) std::strftime(when, sizeof when, "%FT%TZ", &utc);
  const std::string line = std::string(when) + " process " + std::to_string(getpid()) +
                           ": libeffort_pmpi measured nothing: " + reason + "\n";
  const bool written = write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  held.failed(written ? 0 : errno);
  close(file);
  return written;
}

}  // namespace

void report_not_measured_here(const std::string& reason) {
  if (setting("EFFORT_VERBOSE") == "1") say_nothing_measured(reason);
}

void report_not_measured(const std::string& reason) {
  try {
    report_not_measured_here(reason);
    const std::string_view given = setting("EFFORT_SNAPSHOT_DIR");
    const std::filesystem::path folder = given.empty() ? "." : std::string(given);
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    const bool first =
        leave_line((folder / (std::string(program_invocation_short_name) + "-not-measured.txt")).string(), reason);
    if (first && setting("EFFORT_REPORT") == "summary" && setting("EFFORT_VERBOSE") != "1")
      say_nothing_measured(reason);
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace effort::pmpi
