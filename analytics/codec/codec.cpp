#include "analytics/codec/codec.hpp"

#include "analytics/codec/blocks.hpp"
#include "analytics/codec/tile.hpp"
#include "analytics/wavelet/cdf97.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace effort::codec {
namespace {

constexpr std::size_t most_values = std::size_t{1} << 48;

double positive(const char* what, double bound) {
  if (!(bound > 0) || !std::isfinite(bound))
    throw std::invalid_argument(std::string(what) + " is " + std::to_string(bound) +
                                ": choose a finite number above 0");
  return bound;
}

/// The tiles of a large matrix.  All extents but the last are powers of two, so that levels join.
struct TileGrid {
  std::size_t tile_rows, tile_cols;

  static TileGrid of(std::size_t rows, std::size_t cols) {
    if (rows == 0 || cols == 0 || rows <= largest_tile / cols) return {rows, cols};
    const std::size_t width = std::min<std::size_t>(cols, std::size_t{1} << 18);
    const std::size_t height = std::bit_floor(largest_tile / width);
    return {std::min(rows, height), width};
  }
  std::size_t down(std::size_t rows) const { return tile_rows ? (rows + tile_rows - 1) / tile_rows : 1; }
  std::size_t across(std::size_t cols) const { return tile_cols ? (cols + tile_cols - 1) / tile_cols : 1; }
};

struct TilePlace {
  std::size_t row0, col0, rows, cols;
};

template <typename Visit>
void for_each_tile(std::size_t rows, std::size_t cols, const TileGrid& grid, const Visit& visit) {
  for (std::size_t r = 0; r < rows; r += grid.tile_rows)
    for (std::size_t c = 0; c < cols; c += grid.tile_cols)
      visit(TilePlace{r, c, std::min(grid.tile_rows, rows - r), std::min(grid.tile_cols, cols - c)});
}

TileCode encode_with(Coder coder, const Matrix& matrix, const Goal& goal) {
  return coder == Coder::ezw ? encode_tile_ezw(matrix, goal) : encode_tile(matrix, goal);
}

Bytes encode_single(const Matrix& matrix, const Target& target, Coder coder) {
  Bytes out = start_stream(0, matrix.rows, matrix.cols);
  Goal goal = goal_for(matrix, target);
  if (goal.kind == Target::Kind::max_bytes) goal.value -= static_cast<double>(out.size());
  const Bytes tile = encode_with(coder, matrix, goal).bytes;
  if (tile.empty() || (goal.kind == Target::Kind::max_bytes && static_cast<double>(tile.size()) > goal.value))
    throw std::invalid_argument("a bound of " + std::to_string(static_cast<std::size_t>(target.value())) +
                                " bytes is too small for this matrix: allow at least " +
                                std::to_string(Target::minimum_bytes) + " and the absence mask");
  out.insert(out.end(), tile.begin(), tile.end());
  seal(out);
  return out;
}

Bytes encode_tiled(const Matrix& whole, const TileGrid& grid, const Target& target, Coder coder) {
  Bytes tiles;
  const double count = static_cast<double>(grid.down(whole.rows) * grid.across(whole.cols));
  double squares = 0, worst = 0;
  for_each_tile(whole.rows, whole.cols, grid, [&](const TilePlace& place) {
    std::vector<double> values;
    std::vector<std::uint8_t> absent;
    for (std::size_t i = place.row0; i < place.row0 + place.rows; ++i) {
      const auto begin = static_cast<std::ptrdiff_t>(i * whole.cols + place.col0);
      const auto end = begin + static_cast<std::ptrdiff_t>(place.cols);
      values.insert(values.end(), whole.values.begin() + begin, whole.values.begin() + end);
      if (!whole.absent.empty()) absent.insert(absent.end(), whole.absent.begin() + begin, whole.absent.begin() + end);
    }
    Matrix part = prepare(values, place.rows, place.cols, absent);
    const int shift = part.exponent;
    part.exponent += whole.exponent;
    Goal goal = goal_for(whole, target);
    goal.nrmse_unit = std::ldexp(goal.nrmse_unit, -shift);
    if (goal.kind == Target::Kind::max_bytes) goal.value = std::floor((goal.value - 32) / count) - 4;
    if (goal.kind == Target::Kind::nrmse || goal.kind == Target::Kind::max_error)
      goal.value = std::ldexp(goal.value, -shift);
    const TileCode code = encode_with(coder, part, goal);
    if (code.bytes.empty())
      throw std::invalid_argument(
          "the bound on the bytes is too small for this matrix: allow at least 64 for each of its tiles");
    put_varint(tiles, code.bytes.size());
    tiles.insert(tiles.end(), code.bytes.begin(), code.bytes.end());
    const double rms = std::ldexp(code.errors.rms, shift);
    squares += rms * rms * static_cast<double>(part.present);
    worst = std::max(worst, std::ldexp(code.errors.max, shift));
  });
  Bytes out = start_stream(1, whole.rows, whole.cols);
  put_varint(out, grid.tile_rows);
  put_varint(out, grid.tile_cols);
  const double unit = whole.nrmse_unit();
  put_u16(out, error_code(std::sqrt(squares / static_cast<double>(std::max<std::size_t>(whole.present, 1))) / unit));
  put_u16(out, error_code(worst / unit));
  put_double(out, std::ldexp(unit, whole.exponent));
  out.insert(out.end(), tiles.begin(), tiles.end());
  seal(out);
  return out;
}

/// The start of every stream.
struct Start {
  bool tiled = false;
  std::size_t rows = 0, cols = 0;
  TileGrid grid{};
  double nrmse = 0, max_error = 0;
};

Start read_start(ByteReader& in) {
  if (in.byte() != version_byte) throw CodecError("this is not a stream of a known version", 0);
  const unsigned form = in.byte();
  if (form > 1) throw CodecError("unknown form of stream", 1);
  in.u16();
  Start start;
  start.tiled = form == 1;
  start.rows = in.varint();
  start.cols = in.varint();
  if (start.rows > most_values || start.cols > most_values || (start.cols > 0 && start.rows > most_values / start.cols))
    throw CodecError("the matrix is too large", 4);
  start.grid = {start.rows, start.cols};
  const std::size_t at = in.offset();
  if (start.tiled) {
    start.grid = {in.varint(), in.varint()};
    start.nrmse = error_of_code(in.u16());
    const double relative = error_of_code(in.u16());
    start.max_error = relative * in.real();
  }
  if (start.rows == 0 || start.cols == 0) return start;
  if (start.grid.tile_rows == 0 || start.grid.tile_cols == 0 || start.grid.tile_cols > largest_tile ||
      start.grid.tile_rows > largest_tile / start.grid.tile_cols)
    throw CodecError("the tiles are too large or empty", at);
  return start;
}

/// Writes a tile's approximation into the result; a tile smaller than a cell of the level contributes its mean.
class Assembly {
 public:
  Assembly(std::size_t rows, std::size_t cols, int level)
      : level_(std::min(level, 62)),
        rows_(wavelet::low_length(rows, level)),
        cols_(wavelet::low_length(cols, level)),
        values_(rows_ * cols_) {}

  void put(const TilePlace& place, int tile_level, std::span<const double> values, std::size_t tile_cols) {
    const int coarser = level_ - tile_level;
    if (coarser > 0 && counts_.empty()) counts_.resize(values_.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::size_t i = ((place.row0 >> tile_level) + k / tile_cols) >> coarser;
      const std::size_t j = ((place.col0 >> tile_level) + k % tile_cols) >> coarser;
      double& cell = values_[i * cols_ + j];
      if (coarser > 0) {
        cell += values[k];
        ++counts_[i * cols_ + j];
      } else {
        cell = values[k];
      }
    }
  }

  Decoded finish() {
    for (std::size_t i = 0; i < counts_.size(); ++i) values_[i] /= counts_[i];
    return {rows_, cols_, std::move(values_)};
  }

 private:
  int level_;
  std::size_t rows_, cols_;
  std::vector<double> values_, counts_;
};

/// The coarsest level, up to `level`, at which the tiles' approximations join without gaps.
int tile_level(const Start& start, int level) {
  if (start.grid.tile_rows < start.rows) level = std::min(level, std::countr_zero(start.grid.tile_rows));
  if (start.grid.tile_cols < start.cols) level = std::min(level, std::countr_zero(start.grid.tile_cols));
  return level;
}

StreamInfo inspect_blocks(const ByteSource& stream) {
  const BlockIndex index = read_block_index(stream);
  StreamInfo info;
  info.rows = index.rows;
  info.cols = index.cols;
  info.bytes = stream.size();
  info.nrmse = index.errors.nrmse;
  info.max_error = index.errors.max_error;
  info.tiles = index.blocks.size();
  for (const BlockIndex::Block& block : index.blocks) {
    const TileInfo tile = inspect_tile(stream, block.offset, block.size);
    info.passes = std::max(info.passes, tile.passes);
    info.has_absent = info.has_absent || tile.has_absent;
    info.row_levels = std::max(info.row_levels, wavelet::deepest_level(block.rows));
    info.col_levels = std::max(info.col_levels, wavelet::deepest_level(block.cols));
  }
  info.cuts.push_back({info.passes, info.bytes, info.nrmse});
  return info;
}

}  // namespace

Target Target::passes(int count) {
  if (count < 1 || count > 60) throw std::invalid_argument("passes is " + std::to_string(count) + ": choose 1 to 60");
  return {Kind::passes, static_cast<double>(count)};
}
Target Target::nrmse(double bound) { return {Kind::nrmse, positive("nrmse", bound)}; }
Target Target::max_error(double bound) { return {Kind::max_error, positive("max_error", bound)}; }
Target Target::max_bytes(std::size_t bound) {
  if (bound < minimum_bytes)
    throw std::invalid_argument("max_bytes is " + std::to_string(bound) + ": allow at least " +
                                std::to_string(minimum_bytes));
  return {Kind::max_bytes, static_cast<double>(bound)};
}

std::vector<std::byte> encode(std::span<const double> values, std::size_t rows, std::size_t cols, const Target& target,
                              const EncodeOptions& options) {
  const bool masked = std::any_of(options.absent.begin(), options.absent.end(), [](std::uint8_t a) { return a != 0; });
  if (!masked && !options.absent.empty() && options.absent.size() != values.size())
    prepare(values, rows, cols, options.absent);
  const Matrix matrix = prepare(values, rows, cols, masked ? options.absent : std::span<const std::uint8_t>{});
  const TileGrid grid = TileGrid::of(rows, cols);
  if (grid.tile_rows == rows && grid.tile_cols == cols) return encode_single(matrix, target, options.coder);
  return encode_tiled(matrix, grid, target, options.coder);
}

std::vector<std::byte> encode(std::span<const double> values, std::size_t rows, std::size_t cols, const Target& target,
                              Coder coder) {
  return encode(values, rows, cols, target, EncodeOptions{.coder = coder});
}

Decoded decode(std::span<const std::byte> stream, const DecodeOptions& options) {
  return decode(MemorySource(stream), options);
}

Decoded decode(const ByteSource& stream, const DecodeOptions& options) {
  if (options.passes < 0 || options.level < 0)
    throw std::invalid_argument("passes and level must not be negative: choose 0 for all");
  if (!options.prefix) check_seal(stream);
  if (is_blocks(stream)) {
    if (options.prefix) throw CodecError("a prefix of a stream in blocks cannot be decoded", 1);
    return read_blocks(stream, read_block_index(stream), options.level, options.passes, options.max_values);
  }
  ByteReader in(stream, 0, stream.size());
  const Start start = read_start(in);
  const std::size_t rows = wavelet::low_length(start.rows, options.level),
                    cols = wavelet::low_length(start.cols, options.level);
  if (cols > 0 && rows > options.max_values / cols)
    throw CodecError("the result would hold " + std::to_string(rows) + " x " + std::to_string(cols) +
                         " values, more than the " + std::to_string(options.max_values) + " allowed",
                     4);
  if (start.rows == 0 || start.cols == 0) return {rows, cols, {}};
  if (!start.tiled)
    return {rows, cols,
            read_tile(stream, in.offset(), in.left(), start.rows, start.cols,
                      {options.passes, options.level, options.prefix})};
  Assembly assembly(start.rows, start.cols, options.level);
  const int level = tile_level(start, options.level);
  for_each_tile(start.rows, start.cols, start.grid, [&](const TilePlace& place) {
    const std::size_t size = in.varint(), offset = in.offset();
    in.skip(size);
    assembly.put(place, level,
                 read_tile(stream, offset, size, place.rows, place.cols, {options.passes, level, options.prefix}),
                 wavelet::low_length(place.cols, level));
  });
  return assembly.finish();
}

StreamInfo inspect(std::span<const std::byte> stream) { return inspect(MemorySource(stream)); }

StreamInfo inspect(const ByteSource& stream) {
  if (is_blocks(stream)) return inspect_blocks(stream);
  ByteReader in(stream, 0, stream.size());
  const Start start = read_start(in);
  StreamInfo info;
  info.rows = start.rows;
  info.cols = start.cols;
  info.bytes = stream.size();
  info.row_levels = wavelet::deepest_level(start.grid.tile_rows);
  info.col_levels = wavelet::deepest_level(start.grid.tile_cols);
  if (start.rows == 0 || start.cols == 0) return info;
  info.tiles = start.grid.down(start.rows) * start.grid.across(start.cols);
  info.nrmse = start.nrmse;
  info.max_error = start.max_error;
  for (std::size_t t = 0; t < info.tiles; ++t) {
    const std::size_t size = start.tiled ? in.varint() : in.left(), start_of_tile = in.offset();
    in.skip(size);
    const TileInfo tile = inspect_tile(stream, start_of_tile, size);
    info.passes = std::max(info.passes, tile.passes);
    info.has_absent = info.has_absent || tile.has_absent;
    if (!start.tiled) {
      info.nrmse = tile.nrmse;
      info.max_error = tile.max_error;
      info.cuts = tile.cuts;
      for (Cut& cut : info.cuts) cut.bytes += start_of_tile;
    }
  }
  info.cuts.push_back({info.passes, info.bytes, info.nrmse});
  return info;
}

}  // namespace effort::codec
