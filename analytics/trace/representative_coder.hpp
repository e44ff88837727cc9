// Codes chunks with representatives, for the encoder.  Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analytics/trace/coder.hpp"
#include "analytics/trace/segments.hpp"

namespace effort::trace {

/// Holds the representatives that later chunks may use, as a decoder will see them.
class RepresentativeCoder {
 public:
  struct Chunk {
    std::uint64_t number = 0;  ///< of the sequence
    const Sequence& sequence;
    std::span<const std::int64_t> times;  ///< ns since the chunk's start, ascending
    std::int64_t end = 0;                 ///< of the chunk, not before the last event
    TimeBound bound;
    SymbolOf symbol;
  };
  /// Sets everything of `out` but the dictionary.  Errors: std::invalid_argument for a plan that does not fit.
  void code(const Chunk& chunk, const Encoder::Plan& plan, Encoder::Reduced& out);
  std::size_t held_bytes() const;

 private:
  struct Held {
    std::uint64_t piece = 0;            ///< number of the first representative of its piece
    std::vector<std::int64_t> offsets;  ///< of its events since the first one
  };
  void add_new(const Chunk& chunk, std::span<const std::size_t> begins, const Encoder::Plan& plan,
               Encoder::Reduced& out);

  std::int64_t next_ = 0;
  std::map<std::int64_t, Held> held_;
};

}  // namespace effort::trace
