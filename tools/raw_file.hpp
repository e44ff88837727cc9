// Raw matrices on disk: little-endian float64, C order, nothing else in the file.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace effort::tools {

/// Reads rows x cols finite numbers.  Errors: std::runtime_error naming file and remedy, if the file has
/// another number of bytes, or holds a NaN or infinity (with row, column and byte).
std::vector<double> read_raw(const std::filesystem::path& path, std::size_t rows, std::size_t cols);

/// The same for [outer][rows][cols]; messages then name the outer index too, as `outer_name`.
std::vector<double> read_raw_cube(const std::filesystem::path& path, std::size_t outer, const char* outer_name,
                                  std::size_t rows, std::size_t cols);

/// One integer per line, `count` lines.  Errors: std::runtime_error naming file and line.
std::vector<std::int32_t> read_integers(const std::filesystem::path& path, std::size_t count);

/// A whole file.  Errors: std::system_error.
std::vector<std::byte> read_bytes(const std::filesystem::path& path);

/// The name of a file that is being written: the file is at() until commit() renames it, replacing an older file.
/// Without a call of commit() nothing is left behind.  Errors: std::system_error naming the file.
class PendingFile {
 public:
  explicit PendingFile(const std::filesystem::path& path);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  /// Where to write: beside the target, or the target itself if that is a pipe or a device.
  const std::filesystem::path& at() const { return temporary_.empty() ? path_ : temporary_; }
  /// Whether the target can be written in any order.
  bool is_regular() const { return !temporary_.empty(); }
  void commit();
  [[noreturn]] void fail(const char* problem, int error) const;

 private:
  std::filesystem::path path_, temporary_;
};

/// A file that gets its name only when it is complete; an older one of that name is replaced.  Without a call of
/// commit() nothing is left behind.  Errors: std::system_error naming the file.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void write(std::span<const std::byte> bytes);
  void write(const std::string& text);
  /// As little-endian float64.
  void write(std::span<const double> values);
  /// Bytes written so far in order.
  std::uint64_t size() const { return size_; }
  /// Extends the file with zeros to `bytes`, so that the rest can be written in any order.  An error if the target is
  /// not a regular file.
  void extend(std::uint64_t bytes);
  /// After extend(): from byte `offset` on.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  void write_at(std::uint64_t offset, std::span<const double> values) { write_at(offset, std::as_bytes(values)); }
  void commit();

 private:
  PendingFile name_;
  std::FILE* file_ = nullptr;
  std::uint64_t size_ = 0;
};

/// Runs an algorithm on data from `path`, and adds the file's name to its messages about bad input.
template <typename Function>
auto on_data_of(const std::filesystem::path& path, Function&& function) {
  try {
    return function();
  } catch (const std::invalid_argument& e) {
    throw std::runtime_error(std::string(e.what()) + " (file '" + path.string() + "')");
  }
}

/// One number per line.
void write_integers(const std::filesystem::path& path, std::span<const std::int32_t> values);

}  // namespace effort::tools
