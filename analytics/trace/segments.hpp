// Chunks in which some segments take their times from representatives.  Internal; FORMAT.md describes the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analytics/trace/coder.hpp"
#include "analytics/trace/structure.hpp"

namespace effort::trace {

/// The symbol with a number.  Errors: TraceError if it is not known.
using SymbolOf = std::function<const Symbol&(std::uint32_t)>;

/// The most pieces of representatives that a chunk may need.  This bounds the cost of decoding it.
inline constexpr std::size_t most_pieces_of_chunk = 64;

/// The positions at which the segments of a sequence begin: its first event and each `step`.
std::vector<std::size_t> segment_begins(std::span<const std::uint32_t> symbols, const SymbolOf& symbol);

/// Representatives that a chunk needed for the first time.
struct RepresentativePiece {
  std::uint64_t first = 0;     ///< number of the first one; the others follow
  std::uint64_t sequence = 0;  ///< number of the sequence that they are parts of
  struct Part {
    std::size_t begin = 0, length = 0;  ///< events of the sequence; the length is not 0
  };
  std::vector<Part> parts;      ///< ascending
  std::vector<std::byte> body;  ///< coded times of all parts, each continuing the previous one
};
std::vector<std::byte> write_representatives(const RepresentativePiece& piece);
/// Errors: TraceError.
RepresentativePiece read_representatives(std::span<const std::byte> bytes);

/// A chunk with representatives, before its times are decoded.
struct ReducedChunk {
  std::uint64_t sequence = 0;
  std::vector<std::int64_t> representatives;  ///< [segments] number, or Encoder::in_full
  std::vector<std::int64_t> corrections;      ///< by region, in units of correction_unit()
  std::int64_t largest_error_ns = 0, error90_ns = 0;
  std::vector<std::byte> body;  ///< coded stamps: the begin of each segment, all of one that is stored in full, the end
};
std::vector<std::byte> write_reduced(const ReducedChunk& chunk);
/// Errors: TraceError.
ReducedChunk read_reduced(std::span<const std::byte> bytes);

/// The symbols of the stamps of a chunk's body.
std::vector<std::uint32_t> stamp_symbols(std::span<const std::uint32_t> symbols, std::span<const std::size_t> begins,
                                         std::span<const std::int64_t> representatives);

/// The times of all events, from the chunk's stamps and the times of representatives since their begin.  A segment does
/// not extend beyond the begin of the next one.
/// @param offsets  [segments] as many as the segment has events; empty if it is stored in full
std::vector<std::int64_t> rebuild(std::size_t events, std::span<const std::size_t> begins,
                                  std::span<const std::span<const std::int64_t>> offsets,
                                  std::span<const std::int64_t> stamps);

/// The time of a region in a chunk, without the regions inside it.
struct RegionTime {
  std::uint32_t region = 0;
  std::int64_t ns = 0;
};
/// In the order in which the regions occur.  A region that ends without a begin was open from the chunk's start; one
/// without an end stays open until the end.
std::vector<RegionTime> region_times(std::span<const std::uint32_t> symbols, const SymbolOf& symbol,
                                     std::span<const std::int64_t> times, std::int64_t end);

/// The unit of a correction: below 1 % of the rebuilt time.
constexpr std::int64_t correction_unit(std::int64_t rebuilt_ns) { return rebuilt_ns < 128 ? 1 : rebuilt_ns / 128; }

}  // namespace effort::trace
