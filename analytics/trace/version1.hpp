// Decodes what encoders of version 1 made, which files up to format version 1.3 hold.  Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analytics/trace/event.hpp"
#include "analytics/trace/structure.hpp"

namespace effort::trace::version1 {

/// As trace::decode_sequence() and trace::decode_times().
Sequence decode_sequence(const Sequence& base, std::size_t length, SymbolRange range, const KindOf& kind,
                         std::span<const std::byte> bytes);
std::vector<std::int64_t> decode_times(std::span<const std::uint32_t> symbols, TimeBound bound,
                                       std::span<const std::byte> bytes);

}  // namespace effort::trace::version1
