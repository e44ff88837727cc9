#include "tools/stream_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace effort::tools {

StreamFile::StreamFile(const std::filesystem::path& path)
    : path_(path.string()), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail("cannot open", errno);
  struct stat info {};
  const int error = ::fstat(descriptor_, &info) != 0 ? errno
                    : S_ISREG(info.st_mode)          ? 0
                    : S_ISDIR(info.st_mode)          ? EISDIR
                                                     : EINVAL;
  if (error != 0) {
    ::close(descriptor_);
    fail(error == EINVAL ? "is no regular file:" : "cannot read", error);
  }
  size_ = static_cast<std::size_t>(info.st_size);
}

StreamFile::~StreamFile() { ::close(descriptor_); }

std::span<const std::byte> StreamFile::view(std::size_t offset, std::size_t count,
                                            std::vector<std::byte>& storage) const {
  storage.resize(count);
  for (std::size_t done = 0; done < count;) {
    const ssize_t got = ::pread(descriptor_, storage.data() + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read", errno);
    if (got == 0) {
      throw std::runtime_error("the file became shorter while it was read (file '" + path_ + "', byte " +
                               std::to_string(offset + done) + "), wait until it is complete");
    }
    done += static_cast<std::size_t>(got);
  }
  return storage;
}

void StreamFile::fail(const char* problem, int error) const {
  throw std::system_error(error, std::generic_category(), std::string(problem) + " '" + path_ + "'");
}

}  // namespace effort::tools
