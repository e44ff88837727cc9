// The output files of commands.  They never replace an input (files/inputs.hpp), and are complete or not written at
// all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>

namespace effort::tools {

/// A file that is being written.  Until commit() gives it the target's name, replacing an older file, it has no name or
/// a temporary one beside the target.  Without a call of commit() nothing changes and nothing is left behind.  Errors:
/// UsageError if the target is an input, std::system_error naming the file.
class PendingFile {
 public:
  enum class Name {
    none,    ///< vanishes with the process, even if that is killed
    beside,  ///< for libraries that need the name; stays behind if the process is killed
  };
  /// On file systems without nameless files, both have a name.
  explicit PendingFile(const std::filesystem::path& target, Name name = Name::none);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  /// The path to write to; a pipe or a device is written in place.
  const std::filesystem::path& at() const { return at_; }
  /// Whether the target can be written in any order.
  bool is_regular() const { return at_ != path_; }
  void commit();
  [[noreturn]] void fail(const char* problem, int error) const;

 private:
  /// False if the file system has no such files.
  bool open_nameless();
  void give_name();

  std::filesystem::path path_, at_;
  std::filesystem::path temporary_;  ///< a name beside the target
  int nameless_ = -1;                ///< descriptor
};

/// A PendingFile written by the functions below.  Errors: as of PendingFile.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& target);
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

/// One number per line.
void write_integers(OutputFile& file, std::span<const std::int32_t> values);

}  // namespace effort::tools
