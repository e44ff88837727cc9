// Decoding of one context-coded matrix.
#include "analytics/codec/tile.hpp"
#include "analytics/codec/plane_coder.hpp"
#include "analytics/codec/prelude.hpp"

#include <algorithm>
#include <cmath>

namespace effort::codec {
namespace {

/// Magnitudes of a partly decoded band are multiples of 2^missing.
template <typename Q>
struct Dequantiser {
  unsigned points;
  int missing;
  double step;

  /// `unit`: the step in the coefficients' own scale.  The same arithmetic as in the encoder's verification.
  double value(Q magnitude, bool negative, double unit) const {
    if (magnitude == 0) return 0;
    const auto units = static_cast<double>(magnitude >> missing);
    const double size = (units + point_value(units == 1 ? points & 15 : points >> 4)) * unit;
    return negative ? -size : size;
  }
};

/// Fills the corner of the transform that a level needs; `stride` is the corner's width.
template <typename Q>
void dequantise(const Layout& layout, const std::vector<BandData<Q>>& data, const Dequantiser<Q>& dequantiser, int level,
                double* corner, std::size_t stride) {
  for (std::size_t b = 1; b < layout.bands.size(); ++b) {
    const Band& band = layout.bands[b];
    if (band.level <= level || !data[b].allocated()) continue;
    const double unit = dequantiser.step / band.gain;
    for (std::size_t i = 0; i < band.rows; ++i) {
      double* row = corner + (band.row0 + i) * stride + band.col0;
      for (std::size_t j = 0; j < band.cols; ++j) {
        const std::size_t at = data[b].at(i, j);
        row[j] = dequantiser.value(data[b].magnitude[at], data[b].negative[at] != 0, unit);
      }
    }
  }
}

/// The levels that remain above `level`.
wavelet::Levels above(wavelet::Levels levels, int level) {
  return {std::max(levels.rows - level, 0), std::max(levels.cols - level, 0)};
}

std::vector<double> rebuild(const Layout& layout, std::vector<double> corner, std::size_t rows, std::size_t cols, int level) {
  for (const PacketSplit& split : layout.splits)
    if (split.level > level) undo_split(corner.data(), cols, split);
  std::vector<double> values(rows * cols);
  wavelet::inverse(Kokkos::Serial(), wavelet::MatrixView(corner.data(), rows, cols),
                   wavelet::MatrixView(values.data(), rows, cols), above(layout.levels, level));
  const int halvings = std::min(level, layout.levels.rows) + std::min(level, layout.levels.cols);
  if (halvings > 0) {
    const double scale = std::exp2(-0.5 * halvings);
    for (double& v : values) v *= scale;
  }
  return values;
}

template <typename Q>
std::vector<double> decode_planes(RangeDecoder& io, const ContextHeader& header, const Layout& layout, std::uint64_t first,
                                  bool negative, int planes, std::size_t payload_size, const TileOptions& options) {
  const int level = options.level;
  std::vector<BandData<Q>> data(layout.bands.size());
  PlaneCoder<RangeDecoder, Q> coder(io, layout, data, options.plain);
  for (int p = header.planes; p-- > header.planes - planes;) {
    coder.code_plane(p);
    if (io.overran()) throw CodecError("the coded planes end too early", payload_size);
  }
  const int missing = header.planes - planes;
  const std::size_t rows = wavelet::low_length(layout.rows, level), cols = wavelet::low_length(layout.cols, level);
  std::vector<double> corner(rows * cols);
  const double step = std::ldexp(header.step(), missing);
  dequantise(layout, data, Dequantiser<Q>{missing > 0 ? kPartialPoints : header.points, missing, step}, level, corner.data(), cols);
  const Dequantiser<std::uint64_t> alone{header.points, 0, header.step()};
  corner[0] = alone.value(first, negative, header.step() / layout.bands[0].gain);
  return rebuild(layout, std::move(corner), rows, cols, level);
}

}  // namespace

double ContextHeader::step() const { return std::ldexp(1 + mantissa / 256.0, exponent); }

ContextHeader read_context_header(ByteReader& in) {
  ContextHeader header;
  const std::size_t start = in.offset();
  const std::int64_t exponent = in.signed_varint();
  if (exponent < -1400 || exponent > 1100) throw CodecError("the quantisation step is out of range", start);
  header.exponent = static_cast<int>(exponent);
  header.mantissa = in.byte();
  const unsigned planes = in.byte();
  header.planes = static_cast<int>(planes & (kCutsFlag - 1));
  if (header.planes < 1 || header.planes > 63) throw CodecError("the number of bit planes is not 1 to 63", in.offset() - 1);
  header.points = in.byte();
  header.nrmse = error_of_code(in.u16());
  header.max_error = error_of_code(in.u16()) * header.step();
  if (planes & kCutsFlag) {
    std::size_t end = 0;
    for (int k = 1; k < header.planes; ++k) {
      end += in.varint();
      header.cuts.push_back({k, end, error_of_code(in.u16())});
    }
    for (Cut& cut : header.cuts) cut.bytes += in.offset();
  }
  header.size = in.offset();
  return header;
}

namespace {

/// The planes that a payload of this size surely holds.
int complete_planes(const ContextHeader& header, std::size_t size) {
  if (header.cuts.empty()) return header.planes;
  int planes = 0;
  for (const Cut& cut : header.cuts)
    if (cut.bytes - header.size <= size) planes = cut.passes;
  if (planes == 0) throw CodecError("the prefix ends before the first cut", header.size + size);
  return planes + 1 == header.planes && size > header.cuts.back().bytes - header.size ? header.planes : planes;
}

}  // namespace

std::vector<double> decode_context(const ContextHeader& stated, std::span<const std::byte> payload, std::size_t rows,
                                   std::size_t cols, const TileOptions& options) {
  // Values near the ends of the range are rebuilt near 1, where nothing overflows or loses bits.
  const int shift = std::abs(stated.exponent) > 300 ? stated.exponent : 0;
  ContextHeader header = stated;
  header.exponent -= shift;
  const wavelet::Levels levels{wavelet::deepest_level(rows), wavelet::deepest_level(cols)};
  RangeDecoder io(payload);
  std::vector<PacketSplit> splits = possible_splits(rows, cols, levels);
  for (PacketSplit& split : splits) {
    split.extra = code_split(io, split);
    if (split.extra > split.deepest) throw CodecError("a band is split deeper than it can be", 0);
  }
  const Layout layout = make_layout(rows, cols, levels, std::move(splits));
  std::uint64_t first = 0;
  bool negative = false;
  code_first(io, first, negative);
  int planes = options.passes == 0 ? header.planes : std::min(options.passes, header.planes);
  if (options.prefix) planes = std::min(planes, complete_planes(header, payload.size()));
  std::vector<double> values =
      header.planes <= 31 ? decode_planes<std::uint32_t>(io, header, layout, first, negative, planes, payload.size(), options)
                          : decode_planes<std::uint64_t>(io, header, layout, first, negative, planes, payload.size(), options);
  scale_back(values, shift);
  return values;
}

}  // namespace effort::codec
