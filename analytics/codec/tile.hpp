// A tile: one matrix coded on its own, without the size and checksum of the stream or history around it.
#pragma once

#include "analytics/codec/matrix.hpp"

namespace effort::codec {

/// The goal of a tile's encoding, in the scaled unit of its Matrix.
struct Goal {
  Target::Kind kind;   ///< nrmse means an RMS error here
  double value;        ///< passes, RMS error, largest error, or bytes
  double nrmse_unit;   ///< the tile's header states its RMS error in this unit
  bool quick = false;  ///< for tiles to be recoded soon: no search for the largest step, no splits, no mixing
};
Goal goal_for(const Matrix& matrix, const Target& target);

struct TileCode {
  Bytes bytes;
  Errors errors;  ///< achieved, in the scaled unit of the matrix
};

/// A kind byte and its body.  A goal of bytes that is too small leaves `bytes` empty.
TileCode encode_tile(const Matrix& matrix, const Goal& goal);
/// The same with the coder of Gamblin 2009.  Only the command-line tool uses it.  A program that does not call it is
/// linked without the encoder of zerotrees.
TileCode encode_tile_ezw(const Matrix& matrix, const Goal& goal);

struct TileInfo {
  bool has_absent = false;
  int passes = 0;
  double nrmse = 0, max_error = 0;
  std::vector<Cut> cuts;  ///< all but the end, from the start of the tile
};
/// Inspects the tile in the `size` bytes of the source that start at `offset`.  Reads only the headers before the coded
/// values.
TileInfo inspect_tile(const ByteSource& source, std::size_t offset, std::size_t size);

struct TileOptions {
  int passes = 0, level = 0;
  bool prefix = false;
  bool plain = false;  ///< set from the tile's kind byte: coded without mixing
};
/// Decodes a tile of encode_tile: row-major values; absent ones are NaN.  A program that calls no other reader of tiles
/// is linked without the decoder of zerotrees.
std::vector<double> decode_tile(std::span<const std::byte> tile, std::size_t rows, std::size_t cols);
/// Decodes a tile of any kind within a source, at the level of the options.  Reads only the bytes that the passes need.
/// Errors name their offset in the source.  Only the command-line tool uses it.  A program that does not call it is
/// linked without the decoder of zerotrees.
std::vector<double> read_tile(const ByteSource& source, std::size_t offset, std::size_t size, std::size_t rows,
                              std::size_t cols, const TileOptions& options);

/// The body of a context-coded tile (see FORMAT.md); empty if the goal cannot be reached.
TileCode encode_context(const Matrix& matrix, const Goal& goal);

/// The header before the coded planes.
struct ContextHeader {
  int exponent = 0;
  unsigned mantissa = 0;
  int planes = 0;
  unsigned points = 0;
  double nrmse = 0;
  double max_error = 0;
  std::vector<Cut> cuts;  ///< all but the end; bytes count from the start of the reader's input
  std::size_t size = 0;   ///< where the payload begins, likewise
  double step() const;
};
ContextHeader read_context_header(ByteReader& in);
/// The reconstruction of `level`, from the planes that `passes` (0: all) allows.  Errors name their offset in the
/// payload.
std::vector<double> decode_context(const ContextHeader& stated, std::span<const std::byte> payload, std::size_t rows,
                                   std::size_t cols, const TileOptions& options);

/// Multiplies by 2^shift; values beyond the range of doubles become the largest double.
void scale_back(std::vector<double>& values, int shift);

/// The mean over the cells of a grid that is 2^level times coarser (both extents rounded up), NaN if all are NaN.
std::vector<double> block_means(std::span<const double> values, std::size_t rows, std::size_t cols, int level);

}  // namespace effort::codec
