// A piece of the dictionary: new symbols and one sequence.  Internal; FORMAT.md describes the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analytics/trace/event.hpp"
#include "analytics/trace/structure.hpp"

namespace effort::trace {

struct Piece {
  unsigned version = 2;             ///< of the coding: 1 or 2
  TimeBound bound;                  ///< of all chunks that use the sequence
  SymbolRange range;                ///< symbols that the sequence may use
  std::vector<Symbol> new_symbols;  ///< from range.known to range.end
  std::uint64_t number = 0;         ///< of the sequence
  std::uint64_t base = no_base;     ///< number of the one that it is coded against
  std::size_t length = 0;           ///< its events
  std::vector<std::byte> body;      ///< the coded sequence

  static constexpr std::uint64_t no_base = ~std::uint64_t{0};
};

/// The most sequences that must be decoded before another one: those that it is coded against, directly or indirectly.
inline constexpr std::uint32_t most_depth = 8;
/// A generation of the dictionary ends when it has this many symbols or sequences.
inline constexpr std::size_t most_entries = std::size_t{1} << 16;

std::vector<std::byte> write_piece(const Piece& piece);
/// Errors: TraceError.
Piece read_piece(std::span<const std::byte> bytes);

}  // namespace effort::trace
