// Writes a snapshot to disk atomically.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

#include "record/descriptor.hpp"
#include "record/writer.hpp"

namespace effort::record {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const char* problem, const fs::path& path, int error) {
  throw fs::filesystem_error(problem, path, std::error_code(error, std::generic_category()));
}

/// The path of a name in a directory.  Not made by operator/, which crashed when an allocation failed (libstdc++ 12).
fs::path inside(const fs::path& directory, const std::string& name) {
  const std::string& text = directory.native();
  return {text.empty() || text.ends_with('/') ? text + name : text + '/' + name};
}

/// Writes all of `bytes` and syncs them to disk.
void write_all(const Descriptor& file, std::span<const std::byte> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write a snapshot", path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (::fsync(file.number()) != 0) fail("cannot flush a snapshot to the disk", path, errno);
}

[[noreturn]] void fail_as_taken(const fs::path& target) {
  fail("a snapshot of this name already exists and is not overwritten", target, EEXIST);
}

/// Writes a file that has no name until it is complete, so a killed process leaves nothing behind.  Returns false if
/// the file system does not support such files.
bool write_unnamed(const fs::path& directory, const fs::path& target, std::span<const std::byte> bytes) {
  const Descriptor file(::open(directory.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666));
  const std::string self = "/proc/self/fd/" + std::to_string(file.number());
  if (!file.is_open() || ::access(self.c_str(), F_OK) != 0) return false;
  write_all(file, bytes, target);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, target.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno == EEXIST) fail_as_taken(target);
  return false;
}

/// Names of temporary files end with the machine, the process and a number.
std::string ending_here() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return std::string(".") + host + ".";
}

/// Attempts to create a file that another writer may take for a dead one's.  It hardly happens twice in a row; where it
/// seems to, the file system does not identify files.
constexpr int most_attempts = 10;

/// A new file, locked: the lock shows that its writer is alive.
class Locked {
 public:
  explicit Locked(const fs::path& path)
      : path_(path),
        file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)),
        error_(file_.is_open() ? 0 : errno),
        taken_(file_.is_open() && ::flock(file_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {}

  /// Why it could not be created; 0 if it was.
  int error() const { return error_; }
  /// Whether another writer has removed it before it was locked, or is about to, taking this one for dead.
  bool lost() const {
    // Not by the number of links, which some file systems do not count.
    struct stat named {
    }, opened{};
    return taken_ || ::stat(path_.c_str(), &named) != 0 || ::fstat(file_.number(), &opened) != 0 ||
           named.st_ino != opened.st_ino || named.st_dev != opened.st_dev;
  }
  const Descriptor& file() const { return file_; }

 private:
  const fs::path path_;
  Descriptor file_;
  int error_;
  bool taken_;  ///< another writer holds the lock, because it removes the file
};

/// A temporary file beside the target, removed by the destructor.
class Temporary {
 public:
  explicit Temporary(const fs::path& target) : path_(unique_beside(target)), locked_(path_) {
    if (locked_.error() != 0) fail("cannot create a snapshot (is the directory writable?)", path_, locked_.error());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() { ::unlink(path_.c_str()); }

  bool lost() const { return locked_.lost(); }

  void write(std::span<const std::byte> bytes) { write_all(locked_.file(), bytes, path_); }

  /// A hard link fails if the name exists, unlike a plain rename.  Not every file system has links.
  void give_name(const fs::path& target) {
    if (::link(path_.c_str(), target.c_str()) == 0) return;
    if (errno == EEXIST) fail_as_taken(target);
    if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS && errno != EMLINK)
      fail("cannot name a snapshot", target, errno);
    rename_without_links(target);
  }

 private:
  void rename_without_links(const fs::path& target) {
#ifdef RENAME_NOREPLACE
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) return;
    if (errno == EEXIST) fail_as_taken(target);
#endif
    for (int k = 1; !rename_over_claim(target, k == most_attempts); ++k) continue;
  }

  /// Without links and renameat2: creates an empty file of that name exclusively, then replaces it.  False if the empty
  /// file was lost to another writer.
  bool rename_over_claim(const fs::path& target, bool last_attempt) {
    const Locked claim(target);
    if (claim.error() != 0)
      fail("a snapshot of this name already exists and is not overwritten", target, claim.error());
    if (claim.lost() && !last_attempt) return false;
    if (::rename(path_.c_str(), target.c_str()) == 0) return true;
    const int error = errno;
    ::unlink(target.c_str());
    fail("cannot name a snapshot", target, error);
  }

  static fs::path unique_beside(const fs::path& target) {
    static std::atomic<unsigned> counter{0};
    return inside(target.parent_path(), "." + target.filename().string() + ending_here() + std::to_string(::getpid()) +
                                            "." + std::to_string(counter.fetch_add(1)) + ".part");
  }

  fs::path path_;
  Locked locked_;
};

/// The name of the snapshot that a temporary file of this machine, whose locks are visible here, was to become; empty
/// for any other file.
std::string target_of(const std::string& name, const std::string& ending) {
  const std::size_t at = name.rfind(ending);
  if (!name.starts_with('.') || !name.ends_with(".part") || at == std::string::npos || at == 0) return {};
  const std::string numbers = name.substr(at + ending.size(), name.size() - at - ending.size() - 5);
  const bool ours = numbers.find_first_not_of("0123456789.") == std::string::npos &&
                    std::count(numbers.begin(), numbers.end(), '.') == 1;
  return ours ? name.substr(1, at - 1) : std::string();
}

/// A file that is locked here, so that it has no living writer; false if it has one, or is not a file.
class Abandoned {
 public:
  explicit Abandoned(const fs::path& path)
      : file_(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)),
        locked_(file_.is_open() && ::flock(file_.number(), LOCK_EX | LOCK_NB) == 0) {}
  explicit operator bool() const { return locked_; }
  /// Whether it is empty and still has its name: a living writer may have renamed another file over it.
  bool is_empty_claim() const {
    struct stat st {};
    return locked_ && ::fstat(file_.number(), &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 0 && st.st_size == 0;
  }

 private:
  Descriptor file_;
  bool locked_;
};

struct CloseDirectory {
  void operator()(DIR* d) const { ::closedir(d); }
};

/// Removes the temporary files of killed writers, and the empty files with which they have claimed a name.  A
/// directory_iterator is not used: in libstdc++, it terminates the process if an allocation fails.
void remove_abandoned(const fs::path& directory) {
  const std::string ending = ending_here();
  const std::unique_ptr<DIR, CloseDirectory> open(::opendir(directory.c_str()));
  while (const dirent* entry = open ? ::readdir(open.get()) : nullptr) {
    const std::string target = target_of(entry->d_name, ending);
    if (target.empty()) continue;
    const fs::path left = inside(directory, entry->d_name);
    const Abandoned file(left);
    if (!file) continue;
    const fs::path claimed = inside(directory, target);
    const Abandoned claim(claimed);  // locked until it is removed
    if (claim.is_empty_claim()) ::unlink(claimed.c_str());
    ::unlink(left.c_str());
  }
}

void write_named(const fs::path& directory, const fs::path& target, std::span<const std::byte> bytes) {
  remove_abandoned(directory);
  for (int k = 1;; ++k) {
    Temporary temporary(inside(directory, target.filename().string()));
    if (temporary.lost() && k < most_attempts) continue;
    temporary.write(bytes);
    return temporary.give_name(target);
  }
}

/// Syncs a directory: a file's name is on disk only once its directory is.
void sync_directory(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail("cannot open a snapshot's directory", directory, errno);
  const int result = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  // Some file systems cannot sync a directory and return an error; the file itself is safe.
  if (result != 0 && error != EINVAL && error != ENOTSUP)
    fail("cannot flush a snapshot's directory to the disk", directory, error);
}

}  // namespace

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  const std::size_t slash = path.native().rfind('/');
  const fs::path directory(slash == std::string::npos ? "." : path.native().substr(0, std::max(slash, std::size_t{1})));
  if (struct stat found{}; ::stat(directory.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
    fs::create_directories(directory);
  if (!write_unnamed(directory, path, bytes)) write_named(directory, path, bytes);
  sync_directory(directory);
}

fs::path write_snapshot(const fs::path& directory, const Run& run, std::span<const std::byte> bytes) {
  const fs::path wanted = inside(directory, file_name(run));
  fs::path path = wanted;
  for (int attempt = 1;; ++attempt) {
    try {
      write_file(path, bytes);
      return path;
    } catch (const fs::filesystem_error& e) {
      if (e.code() != std::errc::file_exists || attempt > 10000) throw;
      path = inside(directory, wanted.stem().string() + "." + std::to_string(attempt) + ".effort");
    }
  }
}

}  // namespace effort::record
