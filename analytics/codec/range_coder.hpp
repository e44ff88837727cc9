// A binary arithmetic coder with 16-bit probabilities: 64-bit interval, 32 bits out at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::codec {

/// Writes decisions into a byte string.
class RangeEncoder {
 public:
  static constexpr bool encoding = true;

  /// @param one  probability of a 1 in 1/65536, 1 to 65535
  bool code(bool bit, std::uint32_t one) {
    const std::uint64_t bound = (x_range >> 16) * one;
    if (bit) {
      x_range = bound;
    } else {
      add(bound);
      x_range -= bound;
    }
    if (x_range < kSmallest) renormalise();
    return bit;
  }

  /// An equiprobable bit.
  bool code_raw(bool bit) {
    x_range >>= 1;
    if (bit) add(x_range);
    if (x_range < kSmallest) renormalise();
    return bit;
  }

  /// Bytes so far that a decoder needs in order to decode everything coded up to now.
  std::size_t needed() const { return x_bytes.size() + 8; }

  /// Ends the stream with as few bytes as possible; zero bytes at the end are left out (a decoder reads zeros there).
  std::vector<std::byte> finish() {
    for (int n = 0; n <= 8; ++n) {
      const std::uint64_t rest = n == 8 ? 0 : ~std::uint64_t{0} >> (8 * n);
      const std::uint64_t rounded = (x_low + rest) & ~rest;
      if (rounded - x_low >= x_range) continue;
      add(rounded - x_low);
      for (int i = 0; i < n; ++i) x_bytes.push_back(static_cast<std::byte>(x_low >> (56 - 8 * i)));
      break;
    }
    while (!x_bytes.empty() && x_bytes.back() == std::byte{0}) x_bytes.pop_back();
    return std::move(x_bytes);
  }

 private:
  static constexpr std::uint64_t kSmallest = std::uint64_t{1} << 32;

  void add(std::uint64_t amount) {
    x_low += amount;
    if (x_low < amount) carry();
  }

  void carry() {
    for (std::size_t i = x_bytes.size(); i-- > 0;) {
      x_bytes[i] = static_cast<std::byte>(static_cast<unsigned>(x_bytes[i]) + 1);
      if (x_bytes[i] != std::byte{0}) return;
    }
  }

  void renormalise() {
    for (int i = 0; i < 4; ++i) x_bytes.push_back(static_cast<std::byte>(x_low >> (56 - 8 * i)));
    x_low <<= 32;
    x_range <<= 32;
  }

  std::uint64_t x_low = 0;
  std::uint64_t x_range = ~std::uint64_t{0};
  std::vector<std::byte> x_bytes;
};

/// Reads decisions back.  Behind the end of the bytes it reads zeros; any bytes decode to something.
class RangeDecoder {
 public:
  static constexpr bool encoding = false;

  explicit RangeDecoder(std::span<const std::byte> bytes) : x_bytes(bytes) {
    x_code = std::uint64_t{next_word()} << 32;
    x_code |= next_word();
  }

  bool code(bool, std::uint32_t one) {
    const std::uint64_t bound = (x_range >> 16) * one;
    const bool bit = x_code < bound;
    if (bit) {
      x_range = bound;
    } else {
      x_code -= bound;
      x_range -= bound;
    }
    if (x_range < kSmallest) renormalise();
    return bit;
  }

  bool code_raw(bool) {
    x_range >>= 1;
    const bool bit = x_code >= x_range;
    if (bit) x_code -= x_range;
    if (x_range < kSmallest) renormalise();
    return bit;
  }

  std::size_t needed() const { return 0; }
  /// More than a few words were read behind the end: the bytes were no whole stream.
  bool overran() const { return x_at > x_bytes.size() + 64; }

 private:
  static constexpr std::uint64_t kSmallest = std::uint64_t{1} << 32;

  std::uint32_t next_word() {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i, ++x_at)
      word = (word << 8) | (x_at < x_bytes.size() ? std::to_integer<std::uint32_t>(x_bytes[x_at]) : 0u);
    return word;
  }

  void renormalise() {
    x_code = (x_code << 32) | next_word();
    x_range <<= 32;
  }

  std::span<const std::byte> x_bytes;
  std::size_t x_at = 0;
  std::uint64_t x_code = 0;
  std::uint64_t x_range = ~std::uint64_t{0};
};

}  // namespace effort::codec
