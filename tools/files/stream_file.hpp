// A compressed matrix on disk, read on demand.
#pragma once

#include "analytics/codec/byte_source.hpp"
#include "record/source.hpp"

#include <filesystem>
#include <memory>

namespace effort::tools {

/// Errors of all members: std::runtime_error naming the file.
class StreamFile final : public codec::ByteSource {
 public:
  explicit StreamFile(const std::filesystem::path& path) : path_(path), file_(record::open_file(path)) {}
  std::size_t size() const override { return file_->size(); }
  std::span<const std::byte> view(std::size_t offset, std::size_t count,
                                  std::vector<std::byte>& storage) const override;

 private:
  std::filesystem::path path_;
  std::unique_ptr<record::Source> file_;
};

}  // namespace effort::tools
