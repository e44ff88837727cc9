// Adaptive models of decisions and numbers, for encoder and decoder alike: the same function codes a value with a
// RangeEncoder, and finds it with a RangeDecoder.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "analytics/codec/bit_model.hpp"
#include "analytics/codec/range_coder.hpp"
#include "analytics/codec/symbol_model.hpp"

namespace effort::trace {

/// Mixes three numbers into a hash of 32 bits.  The format depends on it.
constexpr std::uint32_t mix(std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
  std::uint64_t h = (a + 1) * 0x9E3779B97F4A7C15ull ^ (b + 0x7F4A7C15ull) * 0xC2B2AE3D27D4EB4Full ^
                    (c + 0x165667B1ull) * 0xD6E8FEB86659FD93ull;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9ull;
  return static_cast<std::uint32_t>(h >> 32);
}

/// The context of one of several decisions that share `context`.
constexpr std::uint32_t at_node(std::uint32_t context, std::uint32_t node) { return (context + node) * 0x9E3779B1u; }

/// Three views of a decision's circumstances, hashed by mix().  The outcomes seen in each of them predict the decision.
struct Contexts {
  std::uint32_t a, b, c;

  /// The same for one decision of several.
  constexpr Contexts at(std::uint32_t node) const {
    return {at_node(a, node), (b + node) * 0x85EBCA77u, (c + node) * 0xC2B2AE3Du};
  }
};

/// A table of models that is addressed by hashed contexts, and mixers that weigh their predictions.
class Models {
 public:
  static constexpr std::uint32_t n_mixers = 128;

  /// @param events  to be coded: a small chunk has a small table, which is cheap to set up.  The format depends on it.
  explicit Models(std::size_t events)
      : shift_(32 - std::clamp(static_cast<int>(std::bit_width(events)) + 2, 10, 16)),
        table_(std::size_t{1} << (32 - shift_)),
        mixers_(n_mixers) {}

  template <typename Io>
  [[gnu::always_inline]] bool decision(Io& io, bool bit, Contexts x, std::uint32_t mixer) {
    const std::array<codec::BitModel*, 3> models{&table_[x.a >> shift_], &table_[x.b >> shift_],
                                                 &table_[x.c >> shift_]};
    return mixers_[mixer].code(io, bit, models);
  }

  /// A decision with one context (of version 1).
  template <typename Io>
  [[gnu::always_inline]] bool plain_decision(Io& io, bool bit, std::uint32_t x) {
    codec::BitModel& model = table_[x >> shift_];
    bit = io.code(bit, model.probability());
    model.update(bit);
    return bit;
  }

 private:
  int shift_;
  std::vector<codec::BitModel> table_;
  std::vector<codec::Mixer> mixers_;
};

/// Models of symbols below 16, in a table that is addressed by hashed contexts.
class SymbolTable {
 public:
  /// @param kind  of all models; must outlive the table
  SymbolTable(std::size_t events, const codec::SymbolModel::Kind& kind)
      : kind_(kind),
        shift_(32 - std::clamp(static_cast<int>(std::bit_width(events)) + 1, 8, 12)),
        models_(std::size_t{1} << (32 - shift_), codec::SymbolModel(kind)) {}

  /// A symbol in one or two contexts.
  template <typename Io>
  [[gnu::always_inline]] std::uint32_t code(Io& io, std::uint32_t symbol, std::uint32_t x) {
    return codec::code_symbol(io, symbol, models_[x >> shift_], kind_);
  }
  template <typename Io>
  [[gnu::always_inline]] std::uint32_t code(Io& io, std::uint32_t symbol, std::uint32_t x, std::uint32_t y) {
    return codec::code_symbol(io, symbol, models_[x >> shift_], models_[y >> shift_], mixer_, kind_);
  }

  /// A number up to most < 5 * last, as symbols of which all but the final one are `last`.
  /// @param rest  the context of all symbols but the first, which has the others
  template <typename Io, typename... Context>
  [[gnu::always_inline]] std::uint32_t number(Io& io, std::uint32_t number, std::uint32_t most, std::uint32_t rest,
                                              Context... first) {
    std::uint32_t part = code(io, std::min(number, last), first...), sum = part;
    while (part == last && sum < most) {
      part = code(io, std::min(number - sum, last), at_node(rest, sum));
      sum += part;
    }
    return std::min(sum, most);  // a damaged stream may say more
  }
  static constexpr std::uint32_t last = codec::SymbolModel::n_symbols - 1;

 private:
  const codec::SymbolModel::Kind& kind_;
  int shift_;
  std::vector<codec::SymbolModel> models_;
  codec::SymbolMixer mixer_;
};

/// `bits` <= 64 equiprobable bits.
template <typename Io>
std::uint64_t raw_bits(Io& io, std::uint64_t value, int bits) {
  std::uint64_t result = 0;
  for (int left = bits; left > 0;) {
    const int n = std::min(left, 16);
    left -= n;
    result = result << n | io.code_bits(static_cast<std::uint32_t>(value >> left & ((1u << n) - 1)), n);
  }
  return result;
}

}  // namespace effort::trace
