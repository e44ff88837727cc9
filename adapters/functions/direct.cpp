#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "adapters/functions/process.hpp"
#include "record/descriptor.hpp"

namespace effort::functions::direct {

int open(const char* path, int flags, unsigned mode) {
  return record::above_standard_streams(
      static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode)));
}

void close(int fd) { ::syscall(SYS_close, fd); }

namespace {

/// Beyond the limit of file sizes, the kernel would send SIGXFSZ.
bool is_allowed(std::uint64_t end) {
  rlimit limit;
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && end <= limit.rlim_cur;
}

}  // namespace

bool write(int fd, std::uint64_t offset, const void* from, std::uint64_t bytes) {
  return is_allowed(offset + bytes) && ::syscall(SYS_pwrite64, fd, from, bytes, offset) == static_cast<long>(bytes);
}

bool reserve(int fd, std::uint64_t offset, std::uint64_t bytes) {
  if (!is_allowed(offset + bytes)) return false;
  if (::syscall(SYS_fallocate, fd, 0, offset, bytes) == 0) return true;
  if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
  // File systems without fallocate: written zeros take their space.
  static const char zeros[4096] = {};
  for (std::uint64_t done = 0; done < bytes; done += sizeof zeros)
    if (!write(fd, offset + done, zeros, sizeof zeros)) return false;
  return true;
}

}  // namespace effort::functions::direct
