// When the events of a sequence happened.  Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analytics/trace/event.hpp"

namespace effort::trace {

/// Codes time stamps.
/// @param symbols  the events' symbols, which are the contexts of the times
/// @param times    ns since the chunk's start, ascending, 0 to most_time
/// @param decoded  if not null, set to the result that decode_times() will give
std::vector<std::byte> encode_times(std::span<const std::uint32_t> symbols, std::span<const std::int64_t> times,
                                    TimeBound bound, std::vector<std::int64_t>* decoded = nullptr);
/// Errors: TraceError.
std::vector<std::int64_t> decode_times(std::span<const std::uint32_t> symbols, TimeBound bound,
                                       std::span<const std::byte> bytes);

/// The unit of differences, in ns, before it is doubled.
std::int64_t unit_of(TimeBound bound);
/// The decoded time that comes so many units, doubled at most 60 times, after another.  Errors: TraceError.
std::int64_t stamp_after(std::int64_t stamp, std::int64_t unit, std::uint64_t units, std::uint32_t doublings);

inline constexpr std::int64_t most_time = std::int64_t{1} << 60;

}  // namespace effort::trace
