// A compressed matrix on disk, of which only what is asked for is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "analytics/codec/byte_source.hpp"

namespace effort::tools {

/// Read with pread rather than mapped: mapped pages count as the command's memory, and a file that shrinks while it is
/// read is an error, not a signal.  Errors of all members: std::runtime_error naming the file.
class StreamFile final : public codec::ByteSource {
 public:
  explicit StreamFile(const std::filesystem::path& path);
  ~StreamFile() override;
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;
  std::size_t size() const override { return size_; }
  std::span<const std::byte> view(std::size_t offset, std::size_t count,
                                  std::vector<std::byte>& storage) const override;

 private:
  [[noreturn]] void fail(const char* problem, int error) const;
  std::string path_;
  int descriptor_;
  std::size_t size_ = 0;
};

}  // namespace effort::tools
