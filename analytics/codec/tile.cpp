#include "analytics/codec/tile.hpp"

#include "analytics/codec/ezw.hpp"
#include "analytics/wavelet/cdf97.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace effort::codec {
namespace {

constexpr double absent_value = std::numeric_limits<double>::quiet_NaN();

Bytes start_tile(StreamKind kind, const Matrix& matrix) {
  Bytes out;
  put_byte(out, static_cast<unsigned>(kind) | (matrix.absent.empty() ? 0 : absent_flag));
  if (!matrix.absent.empty()) put_absent(out, matrix.absent);
  return out;
}

TileCode encode_constant(const Matrix& matrix) {
  TileCode code{start_tile(StreamKind::constant, matrix), {}};
  const double value = matrix.present == 0 ? 0 : std::ldexp(matrix.max, matrix.exponent);
  if (value != 0) put_double(code.bytes, value);
  return code;
}

TileCode encode_raw(const Matrix& matrix) {
  TileCode code{start_tile(StreamKind::raw, matrix), {}};
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    if (matrix.absent.empty() || !matrix.absent[i])
      put_double(code.bytes, std::ldexp(matrix.values[i], matrix.exponent));
  return code;
}

struct TileStart {
  StreamKind kind;
  bool has_absent, plain;
};

TileStart read_tile_start(ByteReader& in) {
  const unsigned byte = in.byte();
  const unsigned kind = byte & 7;
  if ((byte & ~(7u | absent_flag | plain_flag)) != 0 || kind > 3)
    throw CodecError("unknown kind of tile", in.offset() - 1);
  return {static_cast<StreamKind>(kind), (byte & absent_flag) != 0, (byte & plain_flag) != 0};
}

std::vector<double> read_raw(ByteReader& in, std::size_t n, std::span<const std::uint8_t> absent) {
  const auto gone = static_cast<std::size_t>(std::count(absent.begin(), absent.end(), 1));
  if (in.left() != 8 * (n - gone)) throw CodecError("the raw values do not fill the matrix", in.offset());
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!absent.empty() && absent[i]) continue;
    const std::size_t at = in.offset();
    values[i] = in.real();
    if (!std::isfinite(values[i])) throw CodecError("a raw value is not finite", at);
  }
  return values;
}

double read_constant(ByteReader& in) {
  if (in.left() == 0) return 0;
  const std::size_t at = in.offset();
  const double value = in.real();
  if (!std::isfinite(value)) throw CodecError("the constant is not finite", at);
  return value;
}

/// NaN for cells of which all values are absent.
void mark_absent(std::vector<double>& values, std::span<const std::uint8_t> absent, std::size_t rows, std::size_t cols,
                 int level) {
  if (absent.empty()) return;
  std::vector<double> mask(absent.size());
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = absent[i] ? absent_value : 0;
  if (level > 0) mask = block_means(mask, rows, cols, level);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isnan(mask[i])) values[i] = absent_value;
}

}  // namespace

Goal goal_for(const Matrix& matrix, const Target& target) {
  Goal goal{target.kind(), target.value(), matrix.nrmse_unit()};
  if (target.kind() == Target::Kind::nrmse) goal.value *= goal.nrmse_unit;
  if (target.kind() == Target::Kind::max_error) goal.value = std::ldexp(goal.value, -matrix.exponent);
  return goal;
}

namespace {

/// @param encode_body  encodes the values to a goal; no bytes if that is impossible
template <typename EncodeBody>
TileCode encode_as(StreamKind kind, const Matrix& matrix, const Goal& goal, const EncodeBody& encode_body) {
  if (matrix.present == 0 || matrix.min == matrix.max) return encode_constant(matrix);
  TileCode code{start_tile(kind, matrix), {}};
  if (goal.quick && kind == StreamKind::context) code.bytes[0] |= static_cast<std::byte>(plain_flag);
  Goal rest = goal;
  if (goal.kind == Target::Kind::max_bytes) {
    if (goal.value <= static_cast<double>(code.bytes.size())) return {};
    rest.value -= static_cast<double>(code.bytes.size());
  }
  const bool bounded = goal.kind == Target::Kind::nrmse || goal.kind == Target::Kind::max_error;
  // Values near the smallest double are decoded to a multiple of it.
  if (bounded) rest.value = std::max(rest.value - std::ldexp(0.5, -1074 - matrix.exponent), 0.0);
  const TileCode body = encode_body(matrix, rest);
  if (bounded && (body.bytes.empty() || body.bytes.size() >= 8 * matrix.present)) return encode_raw(matrix);
  if (body.bytes.empty()) return {};
  code.bytes.insert(code.bytes.end(), body.bytes.begin(), body.bytes.end());
  code.errors = body.errors;
  return code;
}

}  // namespace

TileCode encode_tile(const Matrix& matrix, const Goal& goal) {
  return encode_as(StreamKind::context, matrix, goal, encode_context);
}

TileCode encode_tile_ezw(const Matrix& matrix, const Goal& goal) {
  return encode_as(StreamKind::ezw, matrix, goal, encode_ezw);
}

namespace {

TileInfo read_tile_info(ByteReader& in) {
  const TileStart start = read_tile_start(in);
  TileInfo info;
  info.has_absent = start.has_absent;
  if (start.has_absent) in.skip(in.varint());
  if (start.kind == StreamKind::context) {
    const ContextHeader header = read_context_header(in);
    info.passes = header.planes;
    info.cuts = header.cuts;
    info.nrmse = header.nrmse;
    info.max_error = header.max_error;
  }
  if (start.kind == StreamKind::ezw) {
    const EzwHeader header = read_ezw_header(in);
    info.passes = header.passes;
    info.nrmse = header.nrmse;
    info.max_error = header.max_error;
  }
  return info;
}

/// Number of a tile's bytes that contain the given passes (0: all).
std::size_t bytes_needed(const ByteSource& source, std::size_t offset, std::size_t size, int passes) {
  if (passes == 0) return size;
  ByteReader in(source, offset, size);
  for (const Cut& cut : read_tile_info(in).cuts)
    if (cut.passes == passes) return std::min(cut.bytes, size);
  return size;
}

/// Runs a reader of bytes that begin at byte `begin` of a source, and makes its errors name the offset in the source.
template <typename Read>
auto placed(std::size_t begin, const Read& read) {
  try {
    return read();
  } catch (const CodecError& e) {
    throw e.within(begin);
  }
}

}  // namespace

TileInfo inspect_tile(const ByteSource& source, std::size_t offset, std::size_t size) {
  return placed(offset, [&] {
    ByteReader in(source, offset, size);
    return read_tile_info(in);
  });
}

namespace {

/// @param decode_zerotrees  decodes the body of an EZW tile
template <typename DecodeZerotrees>
std::vector<double> decode_with(std::span<const std::byte> tile, std::size_t rows, std::size_t cols,
                                const TileOptions& options, const DecodeZerotrees& decode_zerotrees) {
  ByteReader in(tile);
  const TileStart start = read_tile_start(in);
  std::vector<std::uint8_t> absent;
  if (start.has_absent) absent = take_absent(in, rows * cols);
  std::vector<double> values;
  switch (start.kind) {
    case StreamKind::constant:
      values.assign(wavelet::low_length(rows, options.level) * wavelet::low_length(cols, options.level),
                    read_constant(in));
      break;
    case StreamKind::raw: values = block_means(read_raw(in, rows * cols, absent), rows, cols, options.level); break;
    case StreamKind::ezw: values = decode_zerotrees(in); break;
    default: {
      const ContextHeader header = read_context_header(in);
      TileOptions context = options;
      context.plain = start.plain;
      values = placed(in.offset(), [&] { return decode_context(header, in.rest(), rows, cols, context); });
    }
  }
  mark_absent(values, absent, rows, cols, options.level);
  return values;
}

}  // namespace

std::vector<double> decode_tile(std::span<const std::byte> tile, std::size_t rows, std::size_t cols) {
  return decode_with(tile, rows, cols, {}, [](ByteReader& in) -> std::vector<double> {
    throw CodecError("a growing history has no EZW tiles", in.offset());
  });
}

std::vector<double> read_tile(const ByteSource& source, std::size_t offset, std::size_t size, std::size_t rows,
                              std::size_t cols, const TileOptions& options) {
  return placed(offset, [&] {
    Bytes storage;
    const auto tile = source.view(offset, bytes_needed(source, offset, size, options.passes), storage);
    return decode_with(tile, rows, cols, options, [&](ByteReader& in) {
      const EzwHeader header = read_ezw_header(in);
      return decode_ezw(header, in, rows, cols, options);
    });
  });
}

void scale_back(std::vector<double>& values, int shift) {
  if (shift == 0) return;
  constexpr double largest_double = std::numeric_limits<double>::max();
  for (double& v : values) v = std::clamp(std::ldexp(v, shift), -largest_double, largest_double);
}

std::vector<double> block_means(std::span<const double> values, std::size_t rows, std::size_t cols, int level) {
  if (level == 0) return {values.begin(), values.end()};
  const std::size_t out_rows = wavelet::low_length(rows, level), out_cols = wavelet::low_length(cols, level);
  const int shift = std::min(level, 62);
  std::vector<double> sums(out_rows * out_cols), counts(out_rows * out_cols);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) {
      const double v = values[i * cols + j];
      if (std::isnan(v)) continue;
      const std::size_t at = (i >> shift) * out_cols + (j >> shift);
      sums[at] += v;
      ++counts[at];
    }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = counts[i] > 0 ? sums[i] / counts[i] : absent_value;
  return sums;
}

}  // namespace effort::codec
