// The source of a stream's bytes: memory, or a file that is read piece by piece.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace effort::codec {

/// Bytes with random access.  Readers hold at most one piece (a tile) at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::size_t size() const = 0;
  /// `count` bytes starting at `offset`, within size(): the bytes in memory, or read into `storage`.  Valid while the
  /// source exists and `storage` is unchanged.  Errors: the source's own.
  virtual std::span<const std::byte> view(std::size_t offset, std::size_t count,
                                          std::vector<std::byte>& storage) const = 0;
};

/// The caller's bytes, which must outlive it.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t size() const override { return bytes_.size(); }
  std::span<const std::byte> view(std::size_t offset, std::size_t count, std::vector<std::byte>&) const override {
    return bytes_.subspan(offset, count);
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace effort::codec
