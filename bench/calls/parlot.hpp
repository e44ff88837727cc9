// The coder of ParLOT (Devale et al., section IV.D), to compare with: LZ over 16-bit ids with one candidate, the last
// occurrence of the id, accepted if the three ids before it match; then elimination of zero bytes.
//
// As printed it cannot be decoded: the reader does not know where a length stands.  Here an id is always written, and a
// length follows it where the last occurrence of the id has the same three predecessors, which the reader knows too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace parlot {

using Word = std::uint16_t;

inline constexpr std::uint32_t never = ~std::uint32_t{0};

inline bool same_context(std::span<const Word> in, std::uint32_t candidate, std::size_t at) {
  return candidate != never && candidate >= 3 && in[candidate - 1] == in[at - 1] && in[candidate - 2] == in[at - 2] &&
         in[candidate - 3] == in[at - 3];
}

/// Writes bytes, of which zeros take a bit.
class ZeroElimination {
 public:
  void put(unsigned byte) {
    if (n_ == 0) {
      map_ = out_.size();
      out_.push_back(0);
    }
    if (byte != 0) {
      out_[map_] = static_cast<std::uint8_t>(out_[map_] | 1u << n_);
      out_.push_back(static_cast<std::uint8_t>(byte));
    }
    n_ = (n_ + 1) % 8;
  }
  void put_word(Word w) {
    put(w & 255u);
    put(w >> 8);
  }
  const std::vector<std::uint8_t>& bytes() const { return out_; }

 private:
  std::vector<std::uint8_t> out_;
  std::size_t map_ = 0;
  unsigned n_ = 0;
};

inline std::vector<std::uint8_t> encode(std::span<const Word> in) {
  std::vector<std::uint32_t> last(65536, never);
  ZeroElimination out;
  for (std::size_t i = 0; i < in.size();) {
    const std::uint32_t candidate = last[in[i]];
    out.put_word(in[i]);
    last[in[i]] = static_cast<std::uint32_t>(i);
    const bool match = i >= 3 && same_context(in, candidate, i);
    ++i;
    if (!match) continue;
    std::size_t length = 0;
    while (i < in.size() && length < 65535 && in[i] == in[candidate + 1 + length]) {
      last[in[i]] = static_cast<std::uint32_t>(i);
      ++i;
      ++length;
    }
    out.put_word(static_cast<Word>(length));
  }
  return out.bytes();
}

inline std::vector<Word> decode(std::span<const std::uint8_t> in, std::size_t events) {
  std::size_t at = 0;
  unsigned n = 0, map = 0;
  const auto byte = [&]() -> unsigned {
    if (n == 0) map = in[at++];
    const bool set = (map >> n & 1) != 0;
    n = (n + 1) % 8;
    return set ? in[at++] : 0u;
  };
  const auto word = [&] {
    const unsigned low = byte();
    return static_cast<Word>(low | byte() << 8);
  };
  std::vector<std::uint32_t> last(65536, never);
  std::vector<Word> out;
  while (out.size() < events) {
    const Word w = word();
    const std::uint32_t candidate = last[w];
    const std::size_t i = out.size();
    out.push_back(w);
    last[w] = static_cast<std::uint32_t>(i);
    if (i < 3 || !same_context(out, candidate, i)) continue;
    const unsigned length = word();
    for (unsigned k = 0; k < length; ++k) {
      out.push_back(out[candidate + 1 + k]);
      last[out.back()] = static_cast<std::uint32_t>(out.size() - 1);
    }
  }
  return out;
}

}  // namespace parlot
