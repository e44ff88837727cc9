// Decoding of one context-coded matrix.
#include "analytics/codec/plane_coder.hpp"
#include "analytics/codec/prelude.hpp"
#include "analytics/codec/tile.hpp"
#include "analytics/simd/widest.hpp"
#include "analytics/wavelet/pages.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

namespace effort::codec {
namespace {

/// Reconstruction of a partly decoded stream, whose magnitudes are multiples of 2^missing.
struct Places {
  unsigned points;
  int missing;
  double step;
};

/// A row of coefficients; `unit`: the step in their own scale.  The same arithmetic as in the encoder's verification.
template <typename Q>
inline void place(const Q* magnitude, const std::uint8_t* negative, std::size_t n, int missing, double first,
                  double others, double unit, double* out) {
  using Signed = std::make_signed_t<Q>;
  simd::for_each(n, [&](std::size_t j) {
    const auto units = static_cast<Signed>(magnitude[j] >> missing);
    const double point = units == 1 ? first : others;
    const double exists = magnitude[j] != 0 ? 1.0 : 0.0;  // in a cut stream, only known bits count
    const auto sign = static_cast<double>(1 - 2 * static_cast<std::int32_t>(negative[j]));
    out[j] = (static_cast<double>(units) + point) * unit * exists * sign;
  });
}
void place_row(const std::uint32_t* magnitude, const std::uint8_t* negative, std::size_t n, int missing, double first,
               double others, double unit, double* out) {
  simd::widest([=] { place(magnitude, negative, n, missing, first, others, unit, out); });
}
void place_row(const std::uint64_t* magnitude, const std::uint8_t* negative, std::size_t n, int missing, double first,
               double others, double unit, double* out) {
  place(magnitude, negative, n, missing, first, others, unit, out);
}

/// Fills the corner of the transform that a level needs; `stride` is the corner's width.
template <typename Q>
void dequantise(const Layout& layout, const std::vector<BandData<Q>>& data, const Places& places, int level,
                double* corner, std::size_t stride) {
  for (std::size_t b = 1; b < layout.bands.size(); ++b) {
    const Band& band = layout.bands[b];
    if (band.level <= level) continue;
    for (std::size_t i = 0; i < band.rows; ++i) {
      double* row = corner + (band.row0 + i) * stride + band.col0;
      if (!data[b].allocated()) {
        std::fill_n(row, band.cols, 0.0);
        continue;
      }
      const std::size_t at = data[b].at(i, 0);
      place_row(&data[b].magnitude[at], &data[b].negative[at], band.cols, places.missing,
                point_value(places.points & 15), point_value(places.points >> 4), places.step / band.gain, row);
    }
  }
}

/// The levels that remain above `level`.
wavelet::Levels above(wavelet::Levels levels, int level) {
  return {std::max(levels.rows - level, 0), std::max(levels.cols - level, 0)};
}

/// Whether any band within a split holds a value.
template <typename Q>
bool holds_any(const PacketSplit& split, const Layout& layout, const std::vector<BandData<Q>>& data) {
  for (std::size_t b = 1; b < layout.bands.size(); ++b) {
    const Band& band = layout.bands[b];
    const bool inside = band.row0 >= split.row0 && band.row0 < split.row0 + split.rows && band.col0 >= split.col0 &&
                        band.col0 < split.col0 + split.cols;
    if (inside && data[b].allocated()) return true;
  }
  return false;
}

std::vector<double> rebuild(const Layout& layout, double* corner, std::size_t rows, std::size_t cols, int level) {
  std::vector<double> values;
  wavelet::make_zeros(values, rows * cols);
  wavelet::inverse(Kokkos::Serial(), wavelet::MatrixView(corner, rows, cols),
                   wavelet::MatrixView(values.data(), rows, cols), above(layout.levels, level));
  const int halvings = std::min(level, layout.levels.rows) + std::min(level, layout.levels.cols);
  if (halvings > 0) {
    const double scale = std::exp2(-0.5 * halvings);
    for (double& v : values) v *= scale;
  }
  return values;
}

template <typename Q>
std::vector<double> decode_planes(RangeDecoder& io, const ContextHeader& header, const Layout& layout,
                                  std::uint64_t first, bool negative, int planes, std::size_t payload_size,
                                  const TileOptions& options) {
  const int level = options.level;
  std::vector<BandData<Q>> data(layout.bands.size());
  PlaneCoder<RangeDecoder, Q> coder(io, layout, data, options.plain);
  for (int p = header.planes; p-- > header.planes - planes;) {
    coder.code_plane(p);
    if (io.overran()) throw CodecError("the coded planes end too early", payload_size);
  }
  const int missing = header.planes - planes;
  const std::size_t rows = wavelet::low_length(layout.rows, level), cols = wavelet::low_length(layout.cols, level);
  const auto corner = wavelet::make_doubles(rows * cols);
  const Places places{missing > 0 ? partial_points : header.points, missing, std::ldexp(header.step(), missing)};
  dequantise(layout, data, places, level, corner.get(), cols);
  const std::uint8_t sign = negative;
  place_row(&first, &sign, 1, 0, point_value(header.points & 15), point_value(header.points >> 4),
            header.step() / layout.bands[0].gain, corner.get());
  for (const PacketSplit& split : layout.splits)
    if (split.level > level && split.extra > 0 && holds_any(split, layout, data))
      undo_split(wavelet::MatrixView(corner.get(), rows, cols), split);
  data.clear();
  return rebuild(layout, corner.get(), rows, cols, level);
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
  header.planes = static_cast<int>(planes & (cuts_flag - 1));
  if (header.planes < 1 || header.planes > 63)
    throw CodecError("the number of bit planes is not 1 to 63", in.offset() - 1);
  header.points = in.byte();
  header.nrmse = error_of_code(in.u16());
  header.max_error = error_of_code(in.u16()) * header.step();
  if (planes & cuts_flag) {
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

/// The number of planes that a payload of this size certainly contains.
int complete_planes(const ContextHeader& header, std::size_t size) {
  if (header.cuts.empty()) return header.planes;
  int planes = 0;
  for (const Cut& cut : header.cuts)
    if (cut.bytes - header.size <= size) planes = cut.passes;
  if (planes == 0) throw CodecError("the prefix ends before the first cut", size);
  return planes + 1 == header.planes && size > header.cuts.back().bytes - header.size ? header.planes : planes;
}

}  // namespace

std::vector<double> decode_context(const ContextHeader& stated, std::span<const std::byte> payload, std::size_t rows,
                                   std::size_t cols, const TileOptions& options) {
  // Values near the ends of the range are reconstructed near 1, where nothing overflows or loses bits.
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
      header.planes <= 31
          ? decode_planes<std::uint32_t>(io, header, layout, first, negative, planes, payload.size(), options)
          : decode_planes<std::uint64_t>(io, header, layout, first, negative, planes, payload.size(), options);
  scale_back(values, shift);
  return values;
}

}  // namespace effort::codec
