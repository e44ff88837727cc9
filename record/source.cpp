#include "record/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace effort::record {

namespace {

[[noreturn]] void fail(const char* problem, const std::string& path, int error) {
  throw std::system_error(error, std::generic_category(), std::string(problem) + " '" + path + "'");
}

class FileSource final : public Source {
 public:
  explicit FileSource(std::string path) : path_(std::move(path)) {
    // Without O_NONBLOCK, opening a pipe would wait for its other end.
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) fail("cannot open", path_, errno);
    struct stat info {};
    const int error = ::fstat(descriptor_, &info) != 0 ? errno
                      : S_ISREG(info.st_mode)          ? 0
                      : S_ISDIR(info.st_mode)          ? EISDIR
                                                       : EINVAL;
    if (error != 0) {
      ::close(descriptor_);
      fail(error == EINVAL ? "can only read regular files, not" : "cannot read", path_, error);
    }
    size_ = static_cast<std::uint64_t>(info.st_size);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { ::close(descriptor_); }

  std::uint64_t size() const override { return size_; }

  format::Bytes read(std::uint64_t offset, std::uint64_t count) const override {
    format::Bytes out(count);
    std::uint64_t done = 0;
    while (done < count) {
      const ssize_t got = ::pread(descriptor_, out.data() + done, count - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("cannot read", path_, errno);
      if (got == 0) throw std::runtime_error("the file was truncated while it was read");
      done += static_cast<std::uint64_t>(got);
    }
    return out;
  }

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

class MemorySource final : public Source {
 public:
  explicit MemorySource(format::Bytes bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  format::Bytes read(std::uint64_t offset, std::uint64_t count) const override {
    const auto first = bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }

 private:
  format::Bytes bytes_;
};

}  // namespace

std::unique_ptr<Source> open_file(const std::filesystem::path& path) {
  return std::make_unique<FileSource>(path.string());
}

std::unique_ptr<Source> from_memory(format::Bytes bytes) { return std::make_unique<MemorySource>(std::move(bytes)); }

}  // namespace effort::record
