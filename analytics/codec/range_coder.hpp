// A binary arithmetic coder with 16-bit probabilities: 64-bit interval, 32 bits out at a time.
//
// Encoder and decoder are a few registers over a buffer, so inner loops can work on a local copy.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace effort::codec {

inline std::uint32_t big_endian(std::uint32_t word) {
  if constexpr (std::endian::native == std::endian::little) {
    return word << 24 | (word & 0xFF00u) << 8 | (word >> 8 & 0xFF00u) | word >> 24;
  } else {
    return word;
  }
}

/// Bytes that a decoder may read beyond the end of a stream.  Reading more shows that the stream is damaged.
inline constexpr std::size_t most_beyond = 4096;

/// Writes decisions into a byte string.
class RangeEncoder {
 public:
  static constexpr bool encoding = true;

  /// Reserves room for further decisions (each raw bit counts as one); call before coding them.
  void reserve(std::size_t decisions) {
    const std::size_t needed = used() + decisions * 2 + 64;  // the least probability is 2^-16
    if (needed > capacity_) grow(std::max(needed, capacity_ * 2));
  }

  /// @param one  probability of a 1 in 1/65536, 1 to 65535
  bool code(bool bit, std::uint32_t one) { return x.code(bit, one); }
  /// An equiprobable bit.
  bool code_raw(bool bit) { return x.code_bits(bit, 1) != 0; }
  /// `n` <= 16 equiprobable bits.
  std::uint32_t code_bits(std::uint32_t bits, int n) { return x.code_bits(bits, n); }
  /// One of several alternatives: the one with probabilities from `below` to below + share, in units of 2^-bits.
  /// @param bits  at most 16; share is not 0
  void code_part(std::uint32_t below, std::uint32_t share, int bits) { x.code_part(below, share, bits); }

  /// Bytes of the stream that a decoder needs for everything coded so far.
  std::size_t needed() const { return used() + 8; }

  /// Ends the stream with as few bytes as possible.  Zero bytes at the end are left out, because a decoder reads zeros
  /// there, but not so many that it would consider the stream damaged.
  std::vector<std::byte> finish() {
    reserve(8);
    for (int n = 0; n <= 8; ++n) {
      const std::uint64_t rest = n == 8 ? 0 : ~std::uint64_t{0} >> (8 * n);
      const std::uint64_t rounded = (x.low + rest) & ~rest;
      if (rounded - x.low >= x.range) continue;
      x.add(rounded - x.low);
      for (int i = 0; i < n; ++i) *x.end++ = static_cast<unsigned char>(x.low >> (56 - 8 * i));
      break;
    }
    const std::size_t most = most_beyond - 2 * sizeof(x.low);  // the decoder reads ahead
    for (std::size_t n = 0; n < most && x.end != memory_.get() && x.end[-1] == 0; ++n) --x.end;
    const auto* bytes = reinterpret_cast<const std::byte*>(memory_.get());
    return {bytes, bytes + used()};
  }

  /// The registers alone, for an inner loop between two calls of reserve().
  struct Registers {
    static constexpr bool encoding = true;
    std::uint64_t low = 0, range = ~std::uint64_t{0};
    unsigned char* end = nullptr;

    [[gnu::always_inline]] bool code(bool bit, std::uint32_t one) {
      const std::uint64_t bound = (range >> 16) * one;
      const std::uint64_t zero = static_cast<std::uint64_t>(bit) - 1;  // all ones for a 0
      add(bound & zero);
      range = bound + ((range - 2 * bound) & zero);
      if (range < smallest) renormalise();
      return bit;
    }
    std::uint32_t code_bits(std::uint32_t bits, int n) {
      range >>= n;
      add(bits * range);
      if (range < smallest) renormalise();
      return bits;
    }
    [[gnu::always_inline]] void code_part(std::uint32_t below, std::uint32_t share, int bits) {
      range >>= bits;
      add(below * range);
      range *= share;
      if (range < smallest) renormalise();
    }
    void add(std::uint64_t amount) {
      low += amount;
      if (low < amount) {
        unsigned char* at = end;
        while (++*--at == 0) {
        }
      }
    }

   private:
    void renormalise() {
      const std::uint32_t word = big_endian(static_cast<std::uint32_t>(low >> 32));
      std::memcpy(end, &word, 4);
      end += 4;
      low <<= 32;
      range <<= 32;
    }
  };
  const Registers& take() const { return x; }
  void put(const Registers& r) { x = r; }

 private:
  static constexpr std::uint64_t smallest = std::uint64_t{1} << 32;

  std::size_t used() const { return static_cast<std::size_t>(x.end - memory_.get()); }

  void grow(std::size_t capacity) {
    auto larger = std::make_unique_for_overwrite<unsigned char[]>(capacity);
    const std::size_t n = used();
    if (n > 0) std::memcpy(larger.get(), memory_.get(), n);
    memory_ = std::move(larger);
    x.end = memory_.get() + n;
    capacity_ = capacity;
  }

  Registers x;
  std::size_t capacity_ = 0;
  std::unique_ptr<unsigned char[]> memory_;
};

/// Reads decisions.  Zeros follow the end of the bytes, so any bytes decode to something.
class RangeDecoder {
 public:
  static constexpr bool encoding = false;

  /// The bytes must outlive the decoder.
  explicit RangeDecoder(std::span<const std::byte> bytes) {
    x.at = reinterpret_cast<const unsigned char*>(bytes.data());
    x.end = x.at + bytes.size();
    x.value = std::uint64_t{x.next_word()} << 32;
    x.value |= x.next_word();
  }

  struct Registers {
    static constexpr bool encoding = false;
    std::uint64_t value = 0, range = ~std::uint64_t{0};
    const unsigned char* at = nullptr;
    const unsigned char* end = nullptr;
    std::size_t beyond = 0;  ///< bytes read beyond the end

    [[gnu::always_inline]] bool code(bool, std::uint32_t one) {
      const std::uint64_t bound = (range >> 16) * one;
      const bool bit = value < bound;
      const std::uint64_t zero = static_cast<std::uint64_t>(bit) - 1;
      value -= bound & zero;
      range = bound + ((range - 2 * bound) & zero);
      if (range < smallest) renormalise();
      return bit;
    }
    std::uint32_t code_bits(std::uint32_t, int n) {
      range >>= n;
      const std::uint64_t bits = std::min<std::uint64_t>(value / range, (std::uint64_t{1} << n) - 1);
      value -= bits * range;
      if (range < smallest) renormalise();
      return static_cast<std::uint32_t>(bits);
    }
    std::uint32_t look(int bits) const {
      const std::uint64_t most = (std::uint64_t{1} << bits) - 1;
      return static_cast<std::uint32_t>(std::min(value / (range >> bits), most));
    }
    [[gnu::always_inline]] void code_part(std::uint32_t below, std::uint32_t share, int bits) {
      range >>= bits;
      value -= below * range;
      range *= share;
      if (range < smallest) renormalise();
    }
    std::uint32_t next_word() {
      if (end - at >= 4) {
        std::uint32_t word;
        std::memcpy(&word, at, 4);
        at += 4;
        return big_endian(word);
      }
      std::uint32_t word = 0;
      for (int i = 0; i < 4; ++i) {
        word <<= 8;
        if (at != end) {
          word |= *at++;
        } else {
          ++beyond;
        }
      }
      return word;
    }

   private:
    void renormalise() {
      value = (value << 32) | next_word();
      range <<= 32;
    }
  };

  void reserve(std::size_t) {}
  bool code(bool bit, std::uint32_t one) { return x.code(bit, one); }
  bool code_raw(bool) { return x.code_bits(0, 1) != 0; }
  std::uint32_t code_bits(std::uint32_t bits, int n) { return x.code_bits(bits, n); }
  /// A number below 2^bits that the next alternative contains: find it, then code_part() it.
  std::uint32_t look(int bits) const { return x.look(bits); }
  void code_part(std::uint32_t below, std::uint32_t share, int bits) { x.code_part(below, share, bits); }
  std::size_t needed() const { return 0; }
  /// Whether so much was read beyond the end that the bytes cannot be a whole stream.
  bool overran() const { return x.beyond > most_beyond; }
  const Registers& take() const { return x; }
  void put(const Registers& r) { x = r; }

 private:
  static constexpr std::uint64_t smallest = std::uint64_t{1} << 32;
  Registers x;
};

}  // namespace effort::codec
