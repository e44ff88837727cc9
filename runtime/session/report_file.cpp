#include "runtime/session/report_file.hpp"

#include "record/descriptor.hpp"
#include "runtime/quiet_write.hpp"
#include "runtime/status.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace effort::session {
namespace {

/// 0, or the error number.
int write_all(int file, const std::string& text) {
  if (ftruncate(file, 0) != 0) return errno;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return 0;
}

}  // namespace

void write_report(const std::string& path, const std::string& text) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(Status::io, "the report '" + path + "' could not be written (" + reason +
                                "): set EFFORT_REPORT to a file that can be written, or to summary for stderr");
  };
  WriteSignalsHeld held;
  // Opening alone has effects on some devices; without O_NONBLOCK, opening a pipe would wait for a reader.
  if (struct stat there{}; stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
    refuse("it is not a regular file");
  const int file =
      record::above_standard_streams(open(path.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0666));
  if (file < 0) refuse(std::strerror(errno));
  struct stat status {};
  const bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  int error = regular ? write_all(file, text) : 0;
  held.failed(error);
  if (close(file) != 0 && error == 0) error = errno;
  if (!regular) refuse("it is not a regular file");
  if (error != 0) refuse(std::strerror(error));
}

}  // namespace effort::session
