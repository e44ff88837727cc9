// Canonical Huffman codes for small alphabets.
#pragma once

#include "analytics/codec/bytes.hpp"

#include <cstdint>
#include <vector>

namespace effort::codec {

/// Writes bits, the first into the top of each byte.
class BitWriter {
 public:
  void put(std::uint64_t bits, int n) {
    for (int i = n; i-- > 0;) {
      if (x_used == 0) x_bytes.push_back(std::byte{0});
      if ((bits >> i) & 1) x_bytes.back() |= static_cast<std::byte>(0x80u >> x_used);
      x_used = (x_used + 1) % 8;
    }
  }
  const Bytes& bytes() const { return x_bytes; }

 private:
  Bytes x_bytes;
  int x_used = 0;
};

/// Reads them back; CodecError behind the end.
class BitReader {
 public:
  BitReader(std::span<const std::byte> bytes, std::size_t offset) : x_bytes(bytes), x_offset(offset) {}
  unsigned bit() {
    if (x_at >= 8 * x_bytes.size()) throw CodecError("the coded symbols end too early", x_offset + x_bytes.size());
    const unsigned byte = std::to_integer<unsigned>(x_bytes[x_at / 8]);
    const unsigned bit = (byte >> (7 - x_at % 8)) & 1u;
    ++x_at;
    return bit;
  }
  std::uint64_t bits(int n) {
    std::uint64_t value = 0;
    for (int i = 0; i < n; ++i) value = value << 1 | bit();
    return value;
  }
  std::size_t offset() const { return x_offset + x_at / 8; }

 private:
  std::span<const std::byte> x_bytes;
  std::size_t x_offset, x_at = 0;
};

/// A code for the symbols 0 .. n-1, at most 31 bits each (Huffman 1952; canonical order: by length, then symbol).
class HuffmanCode {
 public:
  /// The best code for these frequencies; symbols of frequency 0 get none.
  explicit HuffmanCode(const std::vector<std::uint64_t>& frequencies);
  /// A code that was written by write().
  HuffmanCode(ByteReader& in, std::size_t symbols);

  void write(Bytes& out) const;
  void put(BitWriter& out, std::size_t symbol) const { out.put(x_codes[symbol], x_lengths[symbol]); }
  std::size_t take(BitReader& in) const;

 private:
  static constexpr int kLongest = 31;
  void assign();

  std::vector<int> x_lengths;
  std::vector<std::uint32_t> x_codes;
  std::vector<std::size_t> x_order;              ///< symbols in the order of their codes
  std::uint32_t x_first[kLongest + 1] = {};      ///< smallest code of each length
  std::size_t x_count[kLongest + 1] = {};
  std::size_t x_start[kLongest + 1] = {};        ///< where in x_order a length begins
};

}  // namespace effort::codec
