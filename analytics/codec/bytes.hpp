// Reading and writing the small numbers of stream headers.
#pragma once

#include "analytics/codec/codec.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::codec {

using Bytes = std::vector<std::byte>;

inline void put_byte(Bytes& out, unsigned value) { out.push_back(static_cast<std::byte>(value)); }

/// Seven bits a byte, the lowest first, the top bit set on all but the last.
inline void put_varint(Bytes& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) put_byte(out, static_cast<unsigned>(value & 127) | 128u);
  put_byte(out, static_cast<unsigned>(value));
}

inline void put_signed(Bytes& out, std::int64_t value) {
  put_varint(out, (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

inline void put_u16(Bytes& out, unsigned value) {
  put_byte(out, value & 255);
  put_byte(out, value >> 8);
}

inline void put_double(Bytes& out, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 64; i += 8) put_byte(out, static_cast<unsigned>(bits >> i) & 255u);
}

/// Reads numbers from the front of a byte string; CodecError if it ends too early.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : size_(bytes.size()), piece_(bytes) {}
  /// Reads `size` bytes that start at `begin`.  Only a small piece of them is held in memory.
  ByteReader(const ByteSource& source, std::size_t begin, std::size_t size)
      : source_(&source), begin_(begin), size_(size) {}
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  /// Bytes read so far, and bytes left.
  std::size_t offset() const { return first_ + at_; }
  std::size_t left() const { return size_ - offset(); }
  /// All bytes left; like those from take(), valid until more are read.
  std::span<const std::byte> rest() {
    hold(left());
    return piece_.subspan(at_);
  }

  unsigned byte() {
    hold(1);
    return std::to_integer<unsigned>(piece_[at_++]);
  }
  std::uint64_t varint() {
    const std::size_t start = at_;
    std::uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      const unsigned next = byte();
      value |= static_cast<std::uint64_t>(next & 127) << shift;
      if (next < 128) return value;
    }
    throw CodecError("a number in the stream is too long", start);
  }
  std::int64_t signed_varint() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  unsigned u16() {
    const unsigned low = byte();
    return low | byte() << 8;
  }
  double real() {
    std::uint64_t bits = 0;
    for (int i = 0; i < 64; i += 8) bits |= static_cast<std::uint64_t>(byte()) << i;
    return std::bit_cast<double>(bits);
  }
  std::span<const std::byte> take(std::size_t n) {
    hold(n);
    const auto taken = piece_.subspan(at_, n);
    at_ += n;
    return taken;
  }
  void skip(std::size_t n) {
    check(n);
    const std::size_t held = std::min(n, piece_.size() - at_);
    at_ += held;
    if (held == n) return;
    first_ += piece_.size() + (n - held);
    piece_ = {};
    at_ = 0;
  }

 private:
  static constexpr std::size_t piece_bytes = 4096;

  void check(std::size_t n) const {
    if (n > left()) throw CodecError("the stream ends too early", size_);
  }
  /// Extends the piece by the next `n` bytes.
  void hold(std::size_t n) {
    if (n <= piece_.size() - at_) return;
    check(n);
    first_ += at_;
    at_ = 0;
    piece_ = source_->view(begin_ + first_, std::max(n, std::min(piece_bytes, left())), storage_);
  }

  const ByteSource* source_ = nullptr;
  std::size_t begin_ = 0, size_;
  std::span<const std::byte> piece_;
  std::size_t first_ = 0;  ///< start of the piece, counted from `begin_`
  std::size_t at_ = 0;     ///< position in the piece
  Bytes storage_;
};

/// An error as 16 bits: 0 is exactly zero, c stands for 2^(30 - c / 700), rounded up by less than 0.1 %.
inline unsigned error_code(double error) {
  if (!(error > 0)) return 0;
  const double code = std::floor((30 - std::log2(error)) * 700 - 1e-9);
  return static_cast<unsigned>(code < 1 ? 1 : code > 65535 ? 65535 : code);
}
inline double error_of_code(unsigned code) { return code == 0 ? 0 : std::exp2(30 - code / 700.0); }

}  // namespace effort::codec
