#include "record/trace/writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "record/trace/format.hpp"

namespace effort::record::trace {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const char* problem, const fs::path& path, int error) {
  throw fs::filesystem_error(problem, path, std::error_code(error, std::generic_category()));
}

/// Returns 0, or the value of errno.
int write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

std::string hidden_name(const std::string& name) {
  const std::size_t word = name.starts_with("MPI_") ? std::min(name.find(' '), name.size()) : 0;
  if (word == name.size()) return name;
  char hash[32];
  std::snprintf(hash, sizeof hash, "#%016llx",
                static_cast<unsigned long long>(record::format::hash(std::as_bytes(std::span(name).subspan(word)))));
  return name.substr(0, word) + (word > 0 ? " " : "") + hash;
}

fs::path file_name(std::int32_t node) {
  std::string number = std::to_string(node);
  if (number.size() < 5) number.insert(0, 5 - number.size(), '0');
  return "node-" + number + ".trc";
}

Writer::Writer(const fs::path& path, const Header& header) : path_(path) {
  format::Bytes start = format::file_start(header.reduction.empty() ? 0 : format::feature_reduced);
  const format::Bytes chunk = encode(header);
  start.insert(start.end(), chunk.begin(), chunk.end());
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  if (begin_unnamed(start)) return;
  file_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file_.is_open()) fail("cannot create a trace file", path, errno);
  try {
    append(start);
  } catch (...) {
    ::unlink(path.c_str());  // without a header it is useless
    throw;
  }
}

/// Begins a file that has no name until it has its header.  A process that is killed earlier leaves nothing that a
/// reader would have to refuse.  Returns false if the file system does not support such files.
bool Writer::begin_unnamed(std::span<const std::byte> start) {
  const fs::path directory = path_.has_parent_path() ? path_.parent_path() : ".";
  file_.reset(::open(directory.c_str(), O_WRONLY | O_TMPFILE | O_APPEND | O_CLOEXEC, 0600));
  if (!file_.is_open()) return false;
  int error = write_all(file_.number(), start);
  const std::string self = "/proc/self/fd/" + std::to_string(file_.number());
  if (error == 0 && ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
    size_ = start.size();
    return true;
  }
  if (error == 0) error = errno;
  file_.reset(-1);
  if (error == EEXIST) fail("cannot create a trace file", path_, error);
  return false;
}

void Writer::append(std::span<const std::byte> chunks) {
  if (!file_.is_open()) fail("cannot write a trace file, which the program has closed", path_, EBADF);
  const int error = write_all(file_.number(), chunks);
  if (error != 0) {
    // If even this fails, the reader finds an incomplete chunk and skips it.
    [[maybe_unused]] const int cut = ::ftruncate(file_.number(), static_cast<off_t>(size_));
    fail("cannot write a trace file", path_, error);
  }
  size_ += chunks.size();
}

}  // namespace effort::record::trace
