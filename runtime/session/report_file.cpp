#include "runtime/session/report_file.hpp"

#include "record/descriptor.hpp"
#include "runtime/quiet_write.hpp"
#include "runtime/status.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace effort::session {
namespace {

/// Makes sure that the file can hold that many bytes, without changing its content.  Returns 0 or the error number.
int reserve(int file, std::size_t bytes) {
  rlimit most{};
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < bytes) return EFBIG;
  // posix_fallocate would read the file where the file system does not support this (NFS 3), and fail.
  int failed = 0;
  do failed = fallocate(file, 0, 0, static_cast<off_t>(bytes));
  while (failed != 0 && errno == EINTR);
  if (failed == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == ENODEV) return 0;
  return errno;
}

/// Replaces the content of the file.  If the text does not fit, the file keeps its content.  Returns 0 or the error
/// number.
int replace_content(int file, off_t old_bytes, const std::string& text) {
  int error = reserve(file, text.size());
  std::size_t done = 0;
  while (error == 0 && done < text.size()) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) error = errno;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  const off_t bytes = error == 0 ? static_cast<off_t>(text.size()) : std::max(old_bytes, static_cast<off_t>(done));
  int cut = 0;
  do cut = ftruncate(file, bytes);
  while (cut != 0 && errno == EINTR);
  return cut != 0 && error == 0 ? errno : error;
}

/// Opens the file.  If there is none, creates it and sets `created`.
int open_or_create(const char* path, bool& created) {
  // Without O_NONBLOCK, opening a pipe would wait for a reader.
  constexpr int how = O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  const int fresh = open(path, how | O_EXCL, 0666);
  created = fresh >= 0;
  return record::above_standard_streams(created || errno != EEXIST ? fresh : open(path, how, 0666));
}

}  // namespace

void write_report(const std::string& path, const std::string& text) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(Status::io, "the report '" + path + "' could not be written (" + reason +
                                "): set EFFORT_REPORT to a file that can be written, or to summary for stderr");
  };
  WriteSignalsHeld held;
  // Opening alone has effects on some devices.
  if (struct stat there{}; stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
    refuse("it is not a regular file");
  bool created = false;
  const int file = open_or_create(path.c_str(), created);
  if (file < 0) refuse(std::strerror(errno));
  struct stat status {};
  const bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  int error = regular ? replace_content(file, status.st_size, text) : 0;
  held.failed(error);
  if (close(file) != 0 && error == 0) error = errno;
  if (!regular) refuse("it is not a regular file");
  if (error != 0 && created) unlink(path.c_str());
  if (error != 0) refuse(std::strerror(error));
}

}  // namespace effort::session
