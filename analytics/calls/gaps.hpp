// Codes the times between stamped events of a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analytics/codec/range_coder.hpp"

namespace effort::calls {

struct GapModels;

/// Threads: one at a time.  Memory: 400 KB, and the coded bytes.
class GapEncoder {
 public:
  GapEncoder();
  ~GapEncoder();

  /// @param context  StampFinder::context() of the stamped event: equal events tend to come after equal times
  /// @param ns  since the previous stamp
  void put(std::uint32_t context, std::uint64_t ns);
  std::size_t count() const { return count_; }
  /// Returns the bytes of everything since the last call, and restarts.
  std::vector<std::byte> finish();

 private:
  std::unique_ptr<GapModels> models_;
  codec::RangeEncoder coder_;
  std::size_t count_ = 0;
};

/// The inverse, with the same contexts.  The bytes must outlive it.
class GapDecoder {
 public:
  explicit GapDecoder(std::span<const std::byte> bytes);
  ~GapDecoder();

  std::uint64_t next(std::uint32_t context);
  /// Whether more was read than the bytes can hold, so that they are damaged.
  bool overran() const { return coder_.overran(); }

 private:
  std::unique_ptr<GapModels> models_;
  codec::RangeDecoder coder_;
};

}  // namespace effort::calls
