// Shared parts of the encoder and the decoder of a block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analytics/calls/symbols.hpp"

namespace effort::calls {

/// The most nodes, items and open calls of a block.
inline constexpr std::size_t most_held = std::size_t{1} << 22;

inline constexpr std::uint32_t id_context = 1u << 20;

/// Function ids, each coded as its difference from the one after the last new one.
constexpr std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

/// The list of a call of `function` (dense, without + 1).
inline ListState inner_list(std::uint32_t function) {
  ListState list;
  list.function = function + 1;
  return list;
}

}  // namespace effort::calls
