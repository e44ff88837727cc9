// Matrices stored as blocks: slabs of steps, each cut along the ranks.
#pragma once

#include "analytics/codec/bytes.hpp"
#include "analytics/codec/codec.hpp"

#include <functional>
#include <span>
#include <vector>

namespace effort::codec {

/// The second byte of a serialised history: one of tiles (History), or one of blocks.
inline constexpr unsigned history_form = 2, blocks_form = 3;

/// The start of every stream, with room for the checksum.
Bytes start_stream(unsigned form, std::size_t rows, std::size_t cols);

/// A block to be stored.
struct BlockBytes {
  std::size_t rows = 0;
  Bytes bytes;  ///< a tile
};
struct SlabBytes {
  std::size_t cols = 0;
  std::vector<BlockBytes> blocks;  ///< from the first row to the last
};
/// The errors that the stream states for the whole.
struct BlockErrors {
  double nrmse = 0;
  double max_error = 0;
};
/// A stream of form 3; for a single block, its smallest variant.
Bytes write_blocks(std::size_t rows, std::span<const SlabBytes> slabs, const BlockErrors& errors);

/// The index of a stream of form 2 or 3.  Errors: CodecError.
struct BlockIndex {
  struct Block {
    std::size_t row0, rows, col0, cols;
    std::size_t offset, size;  ///< of the tile, in the stream
  };
  std::size_t rows = 0, cols = 0;
  BlockErrors errors;
  std::vector<Block> blocks;
};
bool is_blocks(const ByteSource& stream);
BlockIndex read_block_index(const ByteSource& stream);

/// Decodes the whole, or its 2^level times coarser approximation.  The blocks' approximations are joined and resampled
/// to one grid.
Decoded read_blocks(const ByteSource& stream, const BlockIndex& index, int level, int passes, std::size_t max_values);

/// Decodes slab by slab: `take` gets the first column and the values of all rows.  A slab of more than
/// `max_values`: CodecError.
void for_each_slab(const ByteSource& stream, const BlockIndex& index, std::size_t max_values,
                   const std::function<void(std::size_t first, const Decoded& slab)>& take);

}  // namespace effort::codec
