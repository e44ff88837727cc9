// Putting a snapshot on disk in one piece.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "record/writer.hpp"

namespace effort::record {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const char* problem, const fs::path& path, int error) {
  throw fs::filesystem_error(problem, path, std::error_code(error, std::generic_category()));
}

/// A temporary file beside the target; gone when this goes, unless it got its name.
class Temporary {
 public:
  explicit Temporary(const fs::path& target) : path_(unique_beside(target)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("cannot create a snapshot (is the directory writable?)", path_, errno);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (descriptor_ >= 0) ::close(descriptor_);
    ::unlink(path_.c_str());
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot write a snapshot", path_, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor_) != 0) fail("cannot write a snapshot through to the disk", path_, errno);
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail("cannot finish a snapshot", path_, errno);
  }

  /// A hard link fails where the name is taken, which a plain rename does not; not every file system has links.
  void give_name(const fs::path& target) {
    if (::link(path_.c_str(), target.c_str()) == 0) return;
    if (errno == EEXIST) fail("a snapshot of this name exists and is not overwritten", target, EEXIST);
    if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS && errno != EMLINK) fail("cannot name a snapshot", target, errno);
    rename_without_links(target);
  }

 private:
  void rename_without_links(const fs::path& target) {
#ifdef RENAME_NOREPLACE
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) return;
    if (errno == EEXIST) fail("a snapshot of this name exists and is not overwritten", target, EEXIST);
#endif
    // Neither links nor renameat2: claim the name exclusively, then replace the empty file that holds it.
    const int claim = ::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (claim < 0) fail("a snapshot of this name exists and is not overwritten", target, errno);
    ::close(claim);
    if (::rename(path_.c_str(), target.c_str()) != 0) {
      const int error = errno;
      ::unlink(target.c_str());
      fail("cannot name a snapshot", target, error);
    }
  }

  static fs::path unique_beside(const fs::path& target) {
    static std::atomic<unsigned> counter{0};
    return target.parent_path() / ("." + target.filename().string() + "." + std::to_string(::getpid()) + "." +
                                   std::to_string(counter.fetch_add(1)) + ".part");
  }

  fs::path path_;
  int descriptor_ = -1;
};

/// The name of a file is on disk only when its directory is.
void sync_directory(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail("cannot open a snapshot's directory", directory, errno);
  const int result = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  // Some file systems cannot sync a directory and say so; the file itself is safe.
  if (result != 0 && error != EINVAL && error != ENOTSUP) fail("cannot write a snapshot's directory through to the disk", directory, error);
}

}  // namespace

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  fs::create_directories(directory);
  {
    Temporary temporary(directory / path.filename());
    temporary.write(bytes);
    temporary.give_name(path);
  }
  sync_directory(directory);
}

fs::path write_snapshot(const fs::path& directory, const Run& run, std::span<const std::byte> bytes) {
  const fs::path wanted = directory / file_name(run);
  fs::path path = wanted;
  for (int attempt = 1;; ++attempt) {
    try {
      write_file(path, bytes);
      return path;
    } catch (const fs::filesystem_error& e) {
      if (e.code() != std::errc::file_exists || attempt > 10000) throw;
      path = directory / (wanted.stem().string() + "." + std::to_string(attempt) + ".effort");
    }
  }
}

}  // namespace effort::record
