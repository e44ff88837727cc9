#include "tools/files/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "tools/files/inputs.hpp"

namespace effort::tools {

namespace fs = std::filesystem;

namespace {

/// The file that a symbolic link leads to is replaced, not the link.
fs::path behind_links(const fs::path& path) {
  std::error_code ignored;
  const fs::path whole = fs::is_symlink(fs::symlink_status(path, ignored)) ? fs::weakly_canonical(path, ignored) : path;
  return whole.empty() ? path : whole;
}

}  // namespace

PendingFile::PendingFile(const fs::path& target, Name name) : path_(behind_links(target)), at_(path_) {
  refuse_input(target);
  std::error_code ignored;
  const fs::file_status status = fs::status(path_, ignored);
  if (fs::is_directory(status)) fail("cannot write", EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) return;
  temporary_ = path_.parent_path() / ("." + path_.filename().string() + ".part" + std::to_string(::getpid()));
  const bool nameless = name == Name::none && open_nameless();
  at_ = nameless ? fs::path("/proc/self/fd/" + std::to_string(nameless_)) : temporary_;
}

bool PendingFile::open_nameless() {
#ifdef O_TMPFILE
  const fs::path directory = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  nameless_ = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#endif
  return nameless_ >= 0 && ::access("/proc/self/fd", X_OK) == 0;
}

PendingFile::~PendingFile() {
  if (nameless_ >= 0) ::close(nameless_);
  if (at_ == temporary_ && !temporary_.empty()) ::unlink(temporary_.c_str());
}

void PendingFile::fail(const char* problem, int error) const {
  throw std::system_error(error, std::generic_category(), std::string(problem) + " '" + path_.string() + "'");
}

void PendingFile::give_name() {
  ::unlink(temporary_.c_str());  // left by a killed process of the same number
  if (::linkat(AT_FDCWD, at_.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0)
    fail("cannot write", errno);
  at_ = temporary_;
}

void PendingFile::commit() {
  if (!is_regular()) return;
  refuse_input(path_);  // some are found while the file is written
  if (at_ != temporary_) give_name();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot write", errno);
  temporary_.clear();
}

OutputFile::OutputFile(const fs::path& target) : name_(target), file_(std::fopen(name_.at().c_str(), "wb")) {
  if (file_ == nullptr) name_.fail("cannot write", errno);
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) name_.fail("cannot write", errno);
  size_ += bytes.size();
}

void OutputFile::write(const std::string& text) { write(std::as_bytes(std::span(text))); }

void OutputFile::write(std::span<const double> values) { write(std::as_bytes(values)); }

void OutputFile::extend(std::uint64_t bytes) {
  if (!name_.is_regular()) name_.fail("this format needs a regular file, which is not", ESPIPE);
  if (std::fflush(file_) != 0 || ::ftruncate(::fileno(file_), static_cast<off_t>(bytes)) != 0)
    name_.fail("cannot write", errno);
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(::fileno(file_), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) name_.fail("cannot write", errno);
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void OutputFile::commit() {
  std::FILE* const file = file_;
  file_ = nullptr;
  int error = std::fflush(file) == 0 ? 0 : errno;
  if (std::fclose(file) != 0 && error == 0) error = errno;
  if (error != 0) name_.fail("cannot write", error);
  name_.commit();
}

void write_integers(OutputFile& file, std::span<const std::int32_t> values) {
  std::string text;
  for (std::int32_t value : values) text += std::to_string(value) + '\n';
  file.write(text);
}

}  // namespace effort::tools
