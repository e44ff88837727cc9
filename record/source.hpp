// The source of a reader's bytes.  Internal.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "record/format.hpp"

namespace effort::record {

/// Bytes with random access.  A file is read with pread rather than mapped, so a file that shrinks meanwhile causes an
/// error, not a signal.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::uint64_t size() const = 0;
  /// `offset + count` is within size().  Errors: std::system_error; std::runtime_error if the file has shrunk.
  virtual format::Bytes read(std::uint64_t offset, std::uint64_t count) const = 0;
};

/// Errors: std::system_error with the file's name.
std::unique_ptr<Source> open_file(const std::filesystem::path& path);
std::unique_ptr<Source> from_memory(format::Bytes bytes);

}  // namespace effort::record
