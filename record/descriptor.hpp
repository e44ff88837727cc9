// A file that the library keeps open in a process whose descriptors belong to the host.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace effort::record {

/// Returns a descriptor of the same open file with a number above 2, or -1 with errno if there is none.  If the host
/// has closed its standard streams, its output must not end up in a file of the library.  Safe at any point of the
/// host's execution.
/// @param number  as open() returned it; negative if it failed
inline int above_standard_streams(int number) noexcept {
  if (number < 0 || number > STDERR_FILENO) return number;
  const int higher = ::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(number);
  errno = error;
  return higher;
}

/// An open file, closed by the destructor unless the host has closed all descriptors and reused the number.
class Descriptor {
 public:
  Descriptor() = default;
  /// @param number  as open() returned it; negative if it failed.  errno is kept
  explicit Descriptor(int number) noexcept { reset(number); }
  ~Descriptor() { reset(-1); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  /// Closes the file and takes over another one.
  void reset(int number) noexcept {
    const int error = errno;
    if (is_open()) ::close(number_);
    errno = error;
    number_ = above_standard_streams(number);
    if (number_ >= 0 && ::fstat(number_, &opened_) != 0) opened_ = {};
  }
  int number() const noexcept { return number_; }
  /// Whether the number still refers to the file.
  bool is_open() const noexcept {
    struct stat now {};
    return number_ >= 0 && ::fstat(number_, &now) == 0 && now.st_dev == opened_.st_dev && now.st_ino == opened_.st_ino;
  }

 private:
  int number_ = -1;
  struct stat opened_ {};
};

}  // namespace effort::record
