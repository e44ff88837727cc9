#include "runtime/snapshot/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace effort::snapshot {

namespace {

[[noreturn]] void fail(const char* problem, const std::string& path, int error) {
  throw std::system_error(error, std::generic_category(), std::string(problem) + " '" + path + "'");
}

class FileSource final : public Source {
 public:
  explicit FileSource(std::string path) : x_path(std::move(path)) {
    x_descriptor = ::open(x_path.c_str(), O_RDONLY | O_CLOEXEC);
    if (x_descriptor < 0) fail("cannot open", x_path, errno);
    struct stat info {};
    const int error = ::fstat(x_descriptor, &info) != 0 ? errno : S_ISREG(info.st_mode) ? 0 : S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    if (error != 0) {
      ::close(x_descriptor);
      fail("cannot read", x_path, error);
    }
    x_size = static_cast<std::uint64_t>(info.st_size);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { ::close(x_descriptor); }

  std::uint64_t size() const override { return x_size; }

  format::Bytes read(std::uint64_t offset, std::uint64_t count) const override {
    format::Bytes out(count);
    std::uint64_t done = 0;
    while (done < count) {
      const ssize_t got = ::pread(x_descriptor, out.data() + done, count - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("cannot read", x_path, errno);
      if (got == 0) throw std::runtime_error("the file became shorter while it was read");
      done += static_cast<std::uint64_t>(got);
    }
    return out;
  }

 private:
  std::string x_path;
  int x_descriptor = -1;
  std::uint64_t x_size = 0;
};

class MemorySource final : public Source {
 public:
  explicit MemorySource(format::Bytes bytes) : x_bytes(std::move(bytes)) {}
  std::uint64_t size() const override { return x_bytes.size(); }
  format::Bytes read(std::uint64_t offset, std::uint64_t count) const override {
    const auto first = x_bytes.begin() + static_cast<std::ptrdiff_t>(offset);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }

 private:
  format::Bytes x_bytes;
};

}  // namespace

std::unique_ptr<Source> open_file(const std::filesystem::path& path) { return std::make_unique<FileSource>(path.string()); }

std::unique_ptr<Source> from_memory(format::Bytes bytes) { return std::make_unique<MemorySource>(std::move(bytes)); }

}  // namespace effort::snapshot
