// Lossy coding of rank-by-step matrices to a stated error, size or number of bit-plane passes.
//
//   auto bytes = effort::codec::encode(values, rows, cols, effort::codec::Target::nrmse(0.01));
//   auto back = effort::codec::decode(bytes);                  // back.values, row-major
//   auto coarse = effort::codec::decode(bytes, {.level = 3});  // 8 times coarser in both directions
//
// The byte format is described in FORMAT.md.  All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "analytics/codec/byte_source.hpp"

namespace effort::codec {

/// The goal of an encoding.
class Target {
 public:
  enum class Kind { passes, nrmse, max_error, max_bytes };

  /// The `count` most significant bit planes, 1 to 60 (Gamblin 2009, 3.4.2).
  static Target passes(int count);
  /// Root mean square error over (max - min) of the values at most `bound`, > 0; for a constant matrix relative
  /// to the constant's magnitude (Gamblin 2009, 3.2).
  static Target nrmse(double bound);
  /// Absolute error of any value at most `bound`, > 0, in the unit of the values.
  static Target max_error(double bound);
  /// The stream holds at most `bound` bytes (>= minimum_bytes), at the smallest error found.
  static Target max_bytes(std::size_t bound);
  /// A max_bytes target of this size can be kept for every matrix.
  static constexpr std::size_t minimum_bytes = 48;

  Kind kind() const { return kind_; }
  double value() const { return value_; }
  bool operator==(const Target&) const = default;

 private:
  Target(Kind kind, double value) : kind_(kind), value_(value) {}
  Kind kind_;
  double value_;
};

enum class Coder {
  context,  ///< bit planes, set partitioning, context-adaptive arithmetic coding: the smallest
  ezw,      ///< zerotrees, run lengths and Huffman codes as in Gamblin 2009: the baseline
};

/// An invalid stream.
class CodecError : public std::runtime_error {
 public:
  /// @param offset  the byte of the input at which the problem was seen
  CodecError(const std::string& problem, std::size_t offset)
      : std::runtime_error(problem + " (at byte " + std::to_string(offset) + ")"),
        length_(problem.size()),
        offset_(offset) {}
  std::size_t offset() const { return offset_; }
  /// The same error in a larger input, in which this input starts at byte `begin`.
  CodecError within(std::size_t begin) const { return {std::string(what(), length_), begin + offset_}; }

 private:
  std::size_t length_, offset_;
};

struct EncodeOptions {
  Coder coder = Coder::context;
  /// Empty, or one entry per value, nonzero for absent values (a rank missing for some steps).  Absent values are not
  /// read and decode as NaN.
  std::span<const std::uint8_t> absent = {};
};

/// Encodes a row-major rows x cols matrix.
///
/// @param values  rows * cols finite numbers; std::invalid_argument names row and column of a NaN or infinity
/// The result depends on the arguments alone.  Cost: a transform, one to seven inverse transforms that measure
/// the error of a step, one coding (max_bytes: 14 codings); memory about three times a tile's values (at most 2^22
/// of them; larger matrices are cut into tiles).  Errors are measured on the reconstruction, never estimated.
/// Kokkos must be initialised; only its Serial space is used.
std::vector<std::byte> encode(std::span<const double> values, std::size_t rows, std::size_t cols, const Target& target,
                              Coder coder = Coder::context);
std::vector<std::byte> encode(std::span<const double> values, std::size_t rows, std::size_t cols, const Target& target,
                              const EncodeOptions& options);

struct DecodeOptions {
  int passes = 0;  ///< bit planes to use, most significant first; 0: all of the stream
  int level = 0;   ///< return the approximation that is 2^level times coarser in both directions
  /// A stream of more values (at the returned level) is refused with CodecError before memory is allocated.
  std::size_t max_values = std::size_t{1} << 28;
  /// The bytes may be cut off after any recorded cut (StreamInfo::cuts): decodes the passes that are complete.
  bool prefix = false;
};

/// A decoded matrix (or approximation), row-major, in the unit of the encoded values; absent values are NaN.
struct Decoded {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<double> values;
};

/// Decodes a stream.  Errors: CodecError for invalid bytes, std::invalid_argument for negative options.
/// Cost and memory are proportional to the compressed size plus the size of the result (for large matrices, plus one
/// tile).
Decoded decode(std::span<const std::byte> stream, const DecodeOptions& options = {});
/// The same for a file that does not fit into memory.  It is read once in small pieces for the checksum, then tile by
/// tile, and only the bytes that the passes need.  Memory: the result, one tile and its bytes.
Decoded decode(const ByteSource& stream, const DecodeOptions& options = {});

/// A place where a stream may be cut off.
struct Cut {
  int passes;         ///< complete bit planes up to here
  std::size_t bytes;  ///< length of the prefix
  double nrmse;       ///< error of the prefix; except for the last cut an estimate in the wavelet domain, to about 10 %
};

/// The header of a stream, read without decoding.
struct StreamInfo {
  std::size_t rows = 0;
  std::size_t cols = 0;
  int passes = 0;         ///< bit planes in the stream
  double nrmse = 0;       ///< achieved, rounded up by at most 0.1 %
  double max_error = 0;   ///< achieved largest absolute error, rounded up by at most 0.1 %
  std::size_t bytes = 0;  ///< of the whole stream
  int row_levels = 0;     ///< halvings along ranks
  int col_levels = 0;     ///< halvings along steps
  std::size_t tiles = 1;  ///< separately coded pieces
  bool has_absent = false;
  std::vector<Cut> cuts;  ///< in order; the last is the whole stream (small and tiled streams record only that)
};

/// Reads the header of a stream.  Errors: CodecError.
StreamInfo inspect(std::span<const std::byte> stream);
StreamInfo inspect(const ByteSource& stream);

}  // namespace effort::codec
