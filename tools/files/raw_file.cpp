#include "tools/files/raw_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace effort::tools {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little,
              "raw files are little-endian: swap bytes here for this machine");

namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

[[noreturn]] void fail(const std::string& problem, const fs::path& path, int error) {
  throw std::system_error(error, std::generic_category(), problem + " '" + path.string() + "'");
}

File open(const fs::path& path) {
  // Without O_NONBLOCK, opening a pipe would wait for its other end.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) fail("cannot open", path, errno);
  File file(::fdopen(descriptor, "rb"));
  if (!file) {
    const int error = errno;
    ::close(descriptor);
    fail("cannot open", path, error);
  }
  struct stat info {};
  if (::fstat(::fileno(file.get()), &info) == 0 && S_ISDIR(info.st_mode)) fail("cannot read", path, EISDIR);
  return file;
}

std::uint64_t size_of(std::FILE* file, const fs::path& path) {
  struct stat info {};
  if (::fstat(::fileno(file), &info) != 0) fail("cannot read", path, errno);
  if (!S_ISREG(info.st_mode)) fail("can only read regular files, not", path, EINVAL);
  return static_cast<std::uint64_t>(info.st_size);
}

void read_all(std::FILE* file, void* into, std::size_t bytes, const fs::path& path) {
  if (std::fread(into, 1, bytes, file) != bytes) fail("cannot read", path, std::ferror(file) ? errno : EIO);
}

/// Number of values; products beyond any file size are refused.
std::uint64_t count_values(std::size_t outer, std::size_t rows, std::size_t cols) {
  const double product = static_cast<double>(outer) * static_cast<double>(rows) * static_cast<double>(cols);
  if (product > 1e18)
    throw std::runtime_error("a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                             " values is larger than any file: check the sizes given");
  return static_cast<std::uint64_t>(outer) * rows * cols;
}

}  // namespace

std::vector<double> read_raw_cube(const fs::path& path, std::size_t outer, const char* outer_name, std::size_t rows,
                                  std::size_t cols) {
  const std::uint64_t count = count_values(outer, rows, cols);
  const File file = open(path);
  const std::uint64_t size = size_of(file.get(), path);
  const std::string shape = (outer_name ? std::to_string(outer) + " x " : std::string()) + std::to_string(rows) +
                            " x " + std::to_string(cols);
  if (size != 8 * count) {
    throw std::runtime_error("the file does not have the size given (file '" + path.string() + "', " +
                             std::to_string(size) + " bytes; " + shape + " float64 are " + std::to_string(8 * count) +
                             "): give its true sizes or a complete file");
  }
  std::vector<double> values(count);
  read_all(file.get(), values.data(), size, path);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (std::isfinite(values[i])) continue;
    const std::uint64_t row = i / cols;
    throw std::runtime_error(std::string(std::isnan(values[i]) ? "NaN" : "an infinity") + " (file '" + path.string() +
                             "', " +
                             (outer_name ? outer_name + (" " + std::to_string(row / rows)) + ", " : std::string()) +
                             "row " + std::to_string(row % rows) + ", column " + std::to_string(i % cols) + ", byte " +
                             std::to_string(8 * i) + "): replace or remove missing values");
  }
  return values;
}

std::vector<double> read_raw(const fs::path& path, std::size_t rows, std::size_t cols) {
  return read_raw_cube(path, 1, nullptr, rows, cols);
}

std::vector<std::byte> read_bytes(const fs::path& path) {
  const File file = open(path);
  std::vector<std::byte> bytes(size_of(file.get(), path));
  read_all(file.get(), bytes.data(), bytes.size(), path);
  return bytes;
}

std::vector<std::int32_t> read_integers(const fs::path& path, std::size_t count) {
  const std::vector<std::byte> bytes = read_bytes(path);
  const char* at = reinterpret_cast<const char*>(bytes.data());
  const char* const end = at + bytes.size();
  std::vector<std::int32_t> out;
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  for (std::size_t line = 1; at < end;) {
    if (blank(*at)) {
      line += *at == '\n';
      ++at;
      continue;
    }
    std::int32_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (next < end && !blank(*next))) {
      throw std::runtime_error("not an integer (file '" + path.string() + "', line " + std::to_string(line) +
                               "): give one per line");
    }
    out.push_back(value);
    at = next;
  }
  if (out.size() != count) {
    throw std::runtime_error("the file holds " + std::to_string(out.size()) + " numbers instead of " +
                             std::to_string(count) + " (file '" + path.string() + "'): give one per row");
  }
  return out;
}

}  // namespace effort::tools
