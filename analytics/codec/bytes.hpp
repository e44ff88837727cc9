// Reading and writing the small numbers of stream headers.
#pragma once

#include "analytics/codec/codec.hpp"

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

/// Takes numbers off the front of a byte string; CodecError where it ends too early.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t offset() const { return at_; }
  std::span<const std::byte> rest() const { return bytes_.subspan(at_); }

  unsigned byte() {
    if (at_ >= bytes_.size()) throw CodecError("the stream ends too early", bytes_.size());
    return std::to_integer<unsigned>(bytes_[at_++]);
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
    if (n > bytes_.size() - at_) throw CodecError("the stream ends too early", bytes_.size());
    const auto taken = bytes_.subspan(at_, n);
    at_ += n;
    return taken;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

/// An error as 16 bits: 0 is exactly zero, c stands for 2^(30 - c / 700), rounded up by less than 0.1 %.
inline unsigned error_code(double error) {
  if (!(error > 0)) return 0;
  const double code = std::floor((30 - std::log2(error)) * 700 - 1e-9);
  return static_cast<unsigned>(code < 1 ? 1 : code > 65535 ? 65535 : code);
}
inline double error_of_code(unsigned code) { return code == 0 ? 0 : std::exp2(30 - code / 700.0); }

}  // namespace effort::codec
