#include "analytics/calls/gaps.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "analytics/codec/bit_model.hpp"

namespace effort::calls {

/// The order of decisions is part of the format (FORMAT.md).
struct GapModels {
  static constexpr int length_bits = 16, head_bits = 16, context_bits = 12;
  codec::BitModel lengths[std::size_t{1} << length_bits];
  codec::BitModel heads[std::size_t{1} << head_bits];
  std::uint8_t last[std::size_t{1} << context_bits] = {};  ///< by context: the length of the last gap

  static std::uint32_t place(std::uint32_t context, int bits) { return context * 0x9E3779B1u >> (32 - bits); }

  template <typename Io>
  static bool decision(Io& io, bool bit, codec::BitModel& model) {
    bit = io.code(bit, model.probability());
    model.update(bit);
    return bit;
  }

  template <typename Io>
  std::uint64_t gap(Io& io, std::uint64_t ns, std::uint32_t context) {
    io.reserve(6 + 64);
    std::uint8_t& before = last[place(context, context_bits)];
    const std::uint32_t first = (context * 64 + before) * 64;
    const auto length = static_cast<std::uint32_t>(std::bit_width(ns));
    // A gap of 2^63 ns or more is one of 2^63 - 1, so that its length has six bits.
    std::uint32_t node = 1;
    for (int i = 5; i >= 0; --i)
      node = node * 2 + decision(io, (length >> i & 1) != 0, lengths[place(first + node, length_bits)]);
    const std::uint32_t n = node - 64;
    before = static_cast<std::uint8_t>(n);
    if (n <= 1) return n;
    std::uint64_t out = 1;
    int left = static_cast<int>(n) - 1;
    for (; left > 0 && out < 64; --left) {
      const auto so_far = static_cast<std::uint32_t>(out);
      out = out * 2 +
            decision(io, (ns >> (left - 1) & 1) != 0, heads[place((context * 64 + n) * 64 + so_far, head_bits)]);
    }
    for (; left > 0; left -= 16) {
      const int bits = left < 16 ? left : 16;
      const std::uint64_t part = ns >> (left - bits) & ((std::uint64_t{1} << bits) - 1);
      out = out << bits | io.code_bits(static_cast<std::uint32_t>(part), bits);
    }
    return out;
  }
};

GapEncoder::GapEncoder() : models_(std::make_unique<GapModels>()) {}
GapEncoder::~GapEncoder() = default;

void GapEncoder::put(std::uint32_t context, std::uint64_t ns) {
  models_->gap(coder_, std::min(ns, ~std::uint64_t{0} >> 1), context);
  ++count_;
}

std::vector<std::byte> GapEncoder::finish() {
  models_ = std::make_unique<GapModels>();
  count_ = 0;
  return std::exchange(coder_, {}).finish();
}

GapDecoder::GapDecoder(std::span<const std::byte> bytes) : models_(std::make_unique<GapModels>()), coder_(bytes) {}
GapDecoder::~GapDecoder() = default;

std::uint64_t GapDecoder::next(std::uint32_t context) { return models_->gap(coder_, 0, context); }

}  // namespace effort::calls
