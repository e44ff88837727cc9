#include "analytics/codec/blocks.hpp"

#include "analytics/codec/matrix.hpp"
#include "analytics/codec/tile.hpp"
#include "analytics/wavelet/cdf97.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace effort::codec {
namespace {

/// The extent of a block and of a cell of a level, in steps (or ranks).
struct Cells {
  std::size_t first, end;  ///< of the block, in the unit of the whole
  std::size_t cell;        ///< extent of a cell
  std::size_t count() const { return (end - first + cell - 1) / cell; }
  std::size_t begin_of(std::size_t j) const { return first + j * cell; }
  std::size_t end_of(std::size_t j) const { return std::min(end, first + (j + 1) * cell); }
};

/// Distributes the blocks' values over the cells of the whole; absent values are left out.
class Joiner {
 public:
  Joiner(std::size_t rows, std::size_t cols, int level)
      : rows_(rows),
        all_cols_(cols),
        cell_(std::size_t{1} << std::min(level, 62)),
        cols_(wavelet::low_length(cols, level)),
        out_{wavelet::low_length(rows, level), cols_, {}} {
    out_.values.resize(out_.rows * cols_);
  }

  void put(const BlockIndex::Block& block, const std::vector<double>& values) {
    const Cells down{block.row0, block.row0 + block.rows, cell_}, across{block.col0, block.col0 + block.cols, cell_};
    for (std::size_t i = 0; i < down.count(); ++i)
      for (std::size_t j = 0; j < across.count(); ++j) {
        const double value = values[i * across.count() + j];
        if (cell_ == 1) {
          out_.values[(block.row0 + i) * cols_ + block.col0 + j] = value;
        } else if (!std::isnan(value)) {
          overlaps(down, i, across, j, [&](std::size_t at, double area) { out_.values[at] += area * value; });
        } else {
          absent_.resize(out_.values.size());
          overlaps(down, i, across, j, [&](std::size_t at, double area) { absent_[at] += area; });
        }
      }
  }

  Decoded finish() {
    if (cell_ == 1 || cols_ == 0) return std::move(out_);  // without columns, there may be any number of rows
    const Cells down{0, rows_, cell_}, across{0, all_cols_, cell_};
    for (std::size_t i = 0; i < out_.rows; ++i)
      for (std::size_t j = 0; j < cols_; ++j) {
        double& value = out_.values[i * cols_ + j];
        const double area = static_cast<double>(down.end_of(i) - down.begin_of(i)) *
                                static_cast<double>(across.end_of(j) - across.begin_of(j)) -
                            (absent_.empty() ? 0 : absent_[i * cols_ + j]);
        value = area > 0 ? value / area : std::numeric_limits<double>::quiet_NaN();
      }
    return std::move(out_);
  }

 private:
  /// Visits the cells of the whole that a block's cell overlaps, with the area.
  template <typename Visit>
  void overlaps(const Cells& down, std::size_t i, const Cells& across, std::size_t j, const Visit& visit) const {
    for (std::size_t r = down.begin_of(i); r < down.end_of(i); r = (r / cell_ + 1) * cell_)
      for (std::size_t c = across.begin_of(j); c < across.end_of(j); c = (c / cell_ + 1) * cell_) {
        const std::size_t height = std::min(down.end_of(i), (r / cell_ + 1) * cell_) - r;
        const std::size_t width = std::min(across.end_of(j), (c / cell_ + 1) * cell_) - c;
        visit(r / cell_ * cols_ + c / cell_, static_cast<double>(height) * static_cast<double>(width));
      }
  }

  std::size_t rows_, all_cols_, cell_;
  std::size_t cols_;  ///< of cells
  Decoded out_;
  std::vector<double> absent_;  ///< share of every cell that is absent; empty if nothing is
};

/// Checks that blocks fill their extents and the bytes.
class IndexReader {
 public:
  explicit IndexReader(const ByteSource& stream) : in_(stream, 0, stream.size()) {}

  BlockIndex read() {
    if (in_.byte() != version_byte) throw CodecError("this is not a history of a known version", 0);
    const unsigned form = in_.byte();
    if (form != history_form && form != blocks_form) throw CodecError("this is not a history", 1);
    in_.u16();
    index_.rows = in_.varint();
    index_.cols = in_.varint();
    if (index_.rows > most_values || index_.cols > most_values ||
        (index_.cols > 0 && index_.rows > most_values / index_.cols))
      throw CodecError("the matrix is too large", 4);
    index_.errors.nrmse = error_of_code(in_.u16());
    index_.errors.max_error = error_of_code(in_.u16());
    index_.errors.max_error = std::ldexp(index_.errors.max_error,
                                         static_cast<int>(std::clamp<std::int64_t>(in_.signed_varint(), -1100, 1100)));
    form == history_form ? read_tiles() : read_slabs();
    place();
    return std::move(index_);
  }

 private:
  static constexpr std::size_t most_values = std::size_t{1} << 48;

  std::size_t count() {
    const std::size_t at = in_.offset();
    const std::size_t n = in_.varint();
    if (n > in_.left()) throw CodecError("more tiles than bytes", at);
    return n;
  }

  void add(std::size_t row0, std::size_t rows, std::size_t col0, std::size_t cols, std::size_t size) {
    if (rows == 0 || rows > index_.rows - row0 || rows > largest_tile || cols == 0 || cols > index_.cols - col0)
      throw CodecError("the tiles' extents do not match the history", in_.offset());
    index_.blocks.push_back({row0, rows, col0, cols, 0, size});
  }

  void read_tiles() {
    const std::size_t tiles = count();
    std::size_t col0 = 0;
    for (std::size_t i = 0; i < tiles; ++i) {
      const std::size_t cols = tiles > 1 ? in_.varint() : index_.cols;
      add(0, index_.rows, col0, cols, tiles > 1 ? in_.varint() : to_the_end);
      col0 += cols;
    }
    if (col0 != index_.cols) throw CodecError("the tiles do not fill the history", in_.offset());
  }

  void read_slabs() {
    const std::size_t slabs = count();
    std::size_t col0 = 0;
    for (std::size_t s = 0; s < slabs; ++s) {
      const std::size_t cols = slabs > 1 ? in_.varint() : index_.cols, blocks = count();
      std::size_t row0 = 0;
      for (std::size_t b = 0; b < blocks; ++b) {
        const std::size_t rows = blocks > 1 ? in_.varint() : index_.rows;
        add(row0, rows, col0, cols, s + 1 == slabs && b + 1 == blocks ? to_the_end : in_.varint());
        row0 += rows;
      }
      if (row0 != index_.rows) throw CodecError("the tiles do not fill the history", in_.offset());
      col0 += cols;
    }
    if (col0 != index_.cols) throw CodecError("the tiles do not fill the history", in_.offset());
  }

  /// Sets the tiles' offsets once the index has been read.
  void place() {
    std::size_t offset = in_.offset();
    const std::size_t end = offset + in_.left();
    for (BlockIndex::Block& block : index_.blocks) {
      if (block.size == to_the_end) block.size = end - offset;
      if (block.size > end - offset) throw CodecError("the tiles end too early", end);
      block.offset = offset;
      offset += block.size;
    }
    if (offset != end) throw CodecError("the tiles do not fill the bytes", offset);
  }

  static constexpr std::size_t to_the_end = ~std::size_t{0};
  ByteReader in_;
  BlockIndex index_;
};

}  // namespace

Bytes start_stream(unsigned form, std::size_t rows, std::size_t cols) {
  Bytes out;
  put_byte(out, version_byte);
  put_byte(out, form);
  put_u16(out, 0);
  put_varint(out, rows);
  put_varint(out, cols);
  return out;
}

Bytes write_blocks(std::size_t rows, std::span<const SlabBytes> slabs, const BlockErrors& errors) {
  std::size_t cols = 0;
  for (const SlabBytes& slab : slabs) cols += slab.cols;
  int exponent = 0;
  std::frexp(errors.max_error, &exponent);
  Bytes out = start_stream(blocks_form, rows, cols);
  put_u16(out, error_code(errors.nrmse));
  put_u16(out, error_code(std::ldexp(errors.max_error, -exponent)));
  put_signed(out, exponent);
  put_varint(out, slabs.size());
  for (const SlabBytes& slab : slabs) {
    if (slabs.size() > 1) put_varint(out, slab.cols);
    put_varint(out, slab.blocks.size());
    for (const BlockBytes& block : slab.blocks) {
      if (slab.blocks.size() > 1) put_varint(out, block.rows);
      if (&slab != &slabs.back() || &block != &slab.blocks.back()) put_varint(out, block.bytes.size());
    }
  }
  for (const SlabBytes& slab : slabs)
    for (const BlockBytes& block : slab.blocks) out.insert(out.end(), block.bytes.begin(), block.bytes.end());
  seal(out);
  return out;
}

bool is_blocks(const ByteSource& stream) {
  if (stream.size() < 2) return false;
  ByteReader in(stream, 1, 1);
  const unsigned form = in.byte();
  return form == history_form || form == blocks_form;
}

BlockIndex read_block_index(const ByteSource& stream) { return IndexReader(stream).read(); }

Decoded read_blocks(const ByteSource& stream, const BlockIndex& index, int level, int passes, std::size_t max_values) {
  if (level < 0) throw std::invalid_argument("level is negative: choose 0 for all values");
  const std::size_t rows = wavelet::low_length(index.rows, level), cols = wavelet::low_length(index.cols, level);
  if (cols > 0 && rows > max_values / cols)
    throw CodecError("the history would hold " + std::to_string(rows) + " x " + std::to_string(cols) +
                         " values, more than the " + std::to_string(max_values) + " allowed",
                     4);
  Joiner joiner(index.rows, index.cols, level);
  for (const BlockIndex::Block& block : index.blocks)
    joiner.put(block, read_tile(stream, block.offset, block.size, block.rows, block.cols, {passes, level, false}));
  return joiner.finish();
}

void for_each_slab(const ByteSource& stream, const BlockIndex& index, std::size_t max_values,
                   const std::function<void(std::size_t, const Decoded&)>& take) {
  for (std::size_t k = 0; k < index.blocks.size();) {
    const std::size_t first = index.blocks[k].col0, cols = index.blocks[k].cols;
    if (index.rows > max_values / cols)
      throw CodecError("a tile would hold " + std::to_string(index.rows) + " x " + std::to_string(cols) +
                           " values, more than the " + std::to_string(max_values) + " allowed",
                       index.blocks[k].offset);
    Joiner joiner(index.rows, cols, 0);
    for (; k < index.blocks.size() && index.blocks[k].col0 == first; ++k) {
      BlockIndex::Block block = index.blocks[k];
      block.col0 = 0;
      joiner.put(block, read_tile(stream, block.offset, block.size, block.rows, block.cols, {}));
    }
    take(first, joiner.finish());
  }
}

}  // namespace effort::codec
