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
      if (used_ == 0) bytes_.push_back(std::byte{0});
      if ((bits >> i) & 1) bytes_.back() |= static_cast<std::byte>(0x80u >> used_);
      used_ = (used_ + 1) % 8;
    }
  }
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  int used_ = 0;
};

/// Reads bits; CodecError beyond the end.
class BitReader {
 public:
  BitReader(std::span<const std::byte> bytes, std::size_t offset) : bytes_(bytes), offset_(offset) {}
  unsigned bit() {
    if (at_ >= 8 * bytes_.size()) throw CodecError("the coded symbols end too early", offset_ + bytes_.size());
    const unsigned byte = std::to_integer<unsigned>(bytes_[at_ / 8]);
    const unsigned bit = (byte >> (7 - at_ % 8)) & 1u;
    ++at_;
    return bit;
  }
  std::uint64_t bits(int n) {
    std::uint64_t value = 0;
    for (int i = 0; i < n; ++i) value = value << 1 | bit();
    return value;
  }
  std::size_t offset() const { return offset_ + at_ / 8; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t offset_, at_ = 0;
};

/// A code for the symbols 0 .. n-1, at most 31 bits each (Huffman 1952; canonical order: by length, then symbol).
class HuffmanCode {
 public:
  /// The best code for these frequencies; symbols of frequency 0 get none.
  explicit HuffmanCode(const std::vector<std::uint64_t>& frequencies);
  /// A code that was written by write().
  HuffmanCode(ByteReader& in, std::size_t symbols);

  void write(Bytes& out) const;
  void put(BitWriter& out, std::size_t symbol) const { out.put(codes_[symbol], lengths_[symbol]); }
  std::size_t take(BitReader& in) const;

 private:
  static constexpr int longest = 31;
  void assign();

  std::vector<int> lengths_;
  std::vector<std::uint32_t> codes_;
  std::vector<std::size_t> order_;         ///< symbols in the order of their codes
  std::uint32_t first_[longest + 1] = {};  ///< smallest code of each length
  std::size_t count_[longest + 1] = {};
  std::size_t start_[longest + 1] = {};  ///< first index in order_ of each length
};

}  // namespace effort::codec
