// Coded before the planes: the choice of splits and the first coefficient.
#pragma once

#include "analytics/codec/bands.hpp"

#include <bit>
#include <cstdint>

namespace effort::codec {

/// Codes the further halvings of a band: usually none, otherwise usually as many as possible.
template <typename Io>
int code_split(Io& io, const PacketSplit& split) {
  if (split.deepest == 0 || split.rows == 0 || split.cols == 0) return 0;
  if (!io.code(split.extra > 0, 8192)) return 0;
  if (io.code(split.extra == split.deepest, 32768)) return split.deepest;
  int extra = 0;
  for (int bit = static_cast<int>(std::bit_width(static_cast<unsigned>(split.deepest))); bit-- > 0;)
    extra |= static_cast<int>(io.code_raw((split.extra >> bit) & 1)) << bit;
  return extra;
}

/// Codes the first coefficient (the mean of all values) as a whole, because it has many more planes than the others.
template <typename Io>
void code_first(Io& io, std::uint64_t& magnitude, bool& negative) {
  const int own = static_cast<int>(std::bit_width(magnitude));
  int width = 0;
  for (int bit = 6; bit-- > 0;) width |= static_cast<int>(io.code_raw((own >> bit) & 1)) << bit;
  std::uint64_t value = 0;
  for (int bit = width; bit-- > 0;) value |= static_cast<std::uint64_t>(io.code_raw((magnitude >> bit) & 1)) << bit;
  magnitude = value;
  negative = io.code_raw(negative);
}

}  // namespace effort::codec
