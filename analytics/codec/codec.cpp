#include "analytics/codec/codec.hpp"

#include "analytics/codec/matrix.hpp"
#include "analytics/wavelet/cdf97.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace effort::codec {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 48;

Bytes start_stream(StreamKind kind, unsigned flags, std::size_t rows, std::size_t cols) {
  Bytes out;
  put_byte(out, kVersionByte);
  put_byte(out, static_cast<unsigned>(kind) | flags);
  put_u16(out, 0);  // checksum
  put_varint(out, rows);
  put_varint(out, cols);
  return out;
}

Bytes encode_constant(const Matrix& matrix, double value) {
  Bytes out = start_stream(StreamKind::constant, matrix.absent.empty() ? 0 : kAbsentFlag, matrix.rows, matrix.cols);
  if (!matrix.absent.empty()) put_absent(out, matrix.absent);
  if (value != 0 || std::signbit(value)) put_double(out, value);
  seal(out);
  return out;
}

Bytes encode_raw(const Matrix& matrix, std::span<const double> values) {
  Bytes out = start_stream(StreamKind::raw, matrix.absent.empty() ? 0 : kAbsentFlag, matrix.rows, matrix.cols);
  if (!matrix.absent.empty()) put_absent(out, matrix.absent);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (matrix.absent.empty() || !matrix.absent[i]) put_double(out, values[i]);
  seal(out);
  return out;
}

Bytes encode_one(std::span<const double> values, std::size_t rows, std::size_t cols, const Target& target,
                 const EncodeOptions& options) {
  const bool masked = std::any_of(options.absent.begin(), options.absent.end(), [](std::uint8_t a) { return a != 0; });
  const Matrix matrix = prepare(values, rows, cols, masked ? options.absent : std::span<const std::uint8_t>{});
  if (matrix.present == 0 || matrix.min == matrix.max)
    return encode_constant(matrix, matrix.present == 0 ? 0 : std::ldexp(matrix.max, matrix.exponent));
  Bytes out = start_stream(StreamKind::context, masked ? kAbsentFlag : 0, rows, cols);
  if (masked) put_absent(out, matrix.absent);
  Target rest = target;
  if (target.kind() == Target::Kind::max_bytes) {
    const auto bound = static_cast<std::size_t>(target.value());
    if (bound < out.size() + 30)
      throw std::invalid_argument("a bound of " + std::to_string(bound) + " bytes is too small for the absence mask: allow at least " +
                                  std::to_string(out.size() + 30));
    rest = Target::max_bytes(std::max(bound - out.size(), std::size_t{1}));
  }
  bool reached = false;
  const Bytes body = encode_context(matrix, rest, reached);
  const bool larger = out.size() + body.size() > 8 * matrix.present + out.size() && target.kind() != Target::Kind::passes;
  if (!reached || larger) return encode_raw(matrix, values);
  out.insert(out.end(), body.begin(), body.end());
  seal(out);
  return out;
}

/// The start of every stream.
struct Start {
  StreamKind kind = StreamKind::context;
  bool has_absent = false;
  std::size_t rows = 0, cols = 0;
};

Start read_start(ByteReader& in) {
  if (in.byte() != kVersionByte) throw CodecError("this is no stream of a known version", 0);
  const unsigned flags = in.byte();
  Start start;
  start.kind = static_cast<StreamKind>(flags & 7);
  start.has_absent = (flags & kAbsentFlag) != 0;
  if ((flags & 7) > 4 || (flags & ~(7u | kAbsentFlag | kCutsFlag)) != 0) throw CodecError("unknown kind of stream", 1);
  in.u16();
  start.rows = in.varint();
  start.cols = in.varint();
  if (start.rows > kMostValues || start.cols > kMostValues || (start.cols > 0 && start.rows > kMostValues / start.cols))
    throw CodecError("the matrix is too large", 4);
  return start;
}

}  // namespace

Target Target::passes(int count) {
  if (count < 1 || count > 60) throw std::invalid_argument("passes is " + std::to_string(count) + ": choose 1 to 60");
  return {Kind::passes, static_cast<double>(count)};
}

namespace {
double positive(const char* what, double bound) {
  if (!(bound > 0) || !std::isfinite(bound))
    throw std::invalid_argument(std::string(what) + " is " + std::to_string(bound) + ": choose a finite number above 0");
  return bound;
}
}  // namespace

Target Target::nrmse(double bound) { return {Kind::nrmse, positive("nrmse", bound)}; }
Target Target::max_error(double bound) { return {Kind::max_error, positive("max_error", bound)}; }
Target Target::max_bytes(std::size_t bound) { return {Kind::max_bytes, static_cast<double>(bound)}; }

std::vector<std::byte> encode(std::span<const double> values, std::size_t rows, std::size_t cols, const Target& target,
                              const EncodeOptions& options) {
  return encode_one(values, rows, cols, target, options);
}

std::vector<std::byte> encode(std::span<const double> values, std::size_t rows, std::size_t cols, const Target& target,
                              Coder coder) {
  return encode(values, rows, cols, target, EncodeOptions{.coder = coder});
}

Decoded decode(std::span<const std::byte> stream, const DecodeOptions& options) {
  if (options.passes < 0 || options.level < 0)
    throw std::invalid_argument("passes and level must not be negative: choose 0 for all");
  if (!options.prefix) check_seal(stream);
  ByteReader in(stream);
  const Start start = read_start(in);
  Decoded out;
  out.rows = wavelet::low_length(start.rows, options.level);
  out.cols = wavelet::low_length(start.cols, options.level);
  if (out.rows * out.cols > options.max_values)
    throw CodecError("the result would hold " + std::to_string(out.rows * out.cols) + " values, more than allowed", 4);
  std::vector<std::uint8_t> absent;
  if (start.has_absent) absent = take_absent(in, start.rows * start.cols);
  switch (start.kind) {
    case StreamKind::constant: {
      const double value = in.rest().empty() ? 0.0 : in.real();
      out.values.assign(out.rows * out.cols, value);
      break;
    }
    case StreamKind::raw: {
      out.values.resize(start.rows * start.cols);
      for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] = !absent.empty() && absent[i] ? 0.0 : in.real();
      break;
    }
    default: {
      const ContextHeader header = read_context_header(in, false);
      out.values = decode_context(header, in.rest(), start.rows, start.cols, options.passes, options.level, options.prefix);
    }
  }
  if (!absent.empty() && options.level == 0)
    for (std::size_t i = 0; i < absent.size(); ++i)
      if (absent[i]) out.values[i] = std::numeric_limits<double>::quiet_NaN();
  return out;
}

StreamInfo inspect(std::span<const std::byte> stream) {
  ByteReader in(stream);
  const Start start = read_start(in);
  StreamInfo info;
  info.rows = start.rows;
  info.cols = start.cols;
  info.bytes = stream.size();
  info.has_absent = start.has_absent;
  if (start.has_absent) in.take(in.varint());
  info.row_levels = wavelet::deepest_level(start.rows);
  info.col_levels = wavelet::deepest_level(start.cols);
  if (start.kind == StreamKind::context) {
    const ContextHeader header = read_context_header(in, false);
    info.passes = header.planes;
    info.nrmse = header.nrmse;
    info.max_error = header.max_error;
  }
  info.cuts.push_back({info.passes, info.bytes, info.nrmse});
  return info;
}

}  // namespace effort::codec
