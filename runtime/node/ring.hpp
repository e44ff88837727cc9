// A lock-free byte ring: one producer (a rank's host thread), one consumer (its node's background thread).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace effort::node {

/// Header of a ring, in zero-initialised shared memory; the bytes are elsewhere in the segment.  Positions only grow.
struct RingControl {
  alignas(64) std::atomic<std::uint64_t> written;
  std::uint64_t consumed_seen;  ///< the producer's copy of `consumed`, refreshed only when needed to save cache misses
  alignas(64) std::atomic<std::uint64_t> consumed;
};

/// A view of one ring.  A push costs one copy and one release store.
class Ring {
 public:
  /// @param capacity  bytes, a power of two
  Ring(RingControl& control, std::byte* data, std::size_t capacity)
      : control_(&control), data_(data), capacity_(capacity) {}

  std::size_t capacity() const noexcept { return capacity_; }
  /// Bytes written and not yet consumed; either side may call it.
  std::size_t filled() const noexcept {
    return control_->written.load(std::memory_order_acquire) - control_->consumed.load(std::memory_order_acquire);
  }

  /// Producer: writes as much of `bytes` as fits and returns the number of bytes written.
  std::size_t push(std::span<const std::byte> bytes) noexcept {
    const std::uint64_t written = control_->written.load(std::memory_order_relaxed);
    if (written + bytes.size() - control_->consumed_seen > capacity_)
      control_->consumed_seen = control_->consumed.load(std::memory_order_acquire);
    const std::size_t n = std::min<std::size_t>(bytes.size(), capacity_ - (written - control_->consumed_seen));
    const std::size_t at = written & (capacity_ - 1);
    const std::size_t first = std::min(n, capacity_ - at);
    std::memcpy(data_ + at, bytes.data(), first);
    if (n > first) std::memcpy(data_, bytes.data() + first, n - first);
    control_->written.store(written + n, std::memory_order_release);
    return n;
  }

  /// Consumer: appends all available bytes to `out`; returns their number.
  std::size_t drain(std::vector<std::byte>& out) {
    const std::uint64_t consumed = control_->consumed.load(std::memory_order_relaxed);
    const std::uint64_t written = control_->written.load(std::memory_order_acquire);
    const std::size_t n = written - consumed;
    if (n == 0) return 0;
    const std::size_t at = consumed & (capacity_ - 1);
    const std::size_t first = std::min(n, capacity_ - at);
    out.insert(out.end(), data_ + at, data_ + at + first);
    out.insert(out.end(), data_, data_ + (n - first));
    control_->consumed.store(written, std::memory_order_release);
    return n;
  }

 private:
  RingControl* control_;
  std::byte* data_;
  std::size_t capacity_;
};

}  // namespace effort::node
