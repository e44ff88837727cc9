#include "analytics/codec/distributed_coefficients.hpp"

#include "analytics/codec/bytes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace effort::codec {
namespace {

std::size_t whole(double fraction) { return static_cast<std::size_t>(fraction * 1048576); }

}  // namespace

std::size_t DistributedShape::all_rows() const { return std::accumulate(rows.begin(), rows.end(), std::size_t{0}); }

DistributedCoefficients::DistributedCoefficients(Communicator& nodes, const DistributedShape& shape,
                                                 const std::vector<int>& groups, const Matrix& local)
    : nodes_(nodes),
      shape_(shape),
      distribution_(shape.rows, groups),
      local_(local),
      transform_(nodes, distribution_, shape.cols),
      reconstruction_(local.values.size()) {
  transform_.forward(local.values);
  look();
}

/// Visits every coefficient row that this node contributes: visit(piece, band, row of the band, values).
template <typename Visit>
void DistributedCoefficients::for_each_piece(const Visit& visit) const {
  for (const Piece& piece : transform_.pieces()) {
    if (piece.replicated && !transform_.contributes_replicated()) continue;
    const Band& band = transform_.layout().bands[piece.band];
    for (std::size_t i = 0; i < piece.coefficient.extent(0); ++i)
      visit(piece, band, piece.row0 + i, &piece.coefficient(i, 0));
  }
}

/// Updates the statistics of the magnitudes.
void DistributedCoefficients::look() {
  const std::vector<Band>& bands = transform_.layout().bands;
  band_largest_.assign(bands.size(), 0);
  model_.clear();
  double largest = 0, first = 0;
  for_each_piece([&](const Piece& piece, const Band& band, std::size_t i, const double* row) {
    const std::size_t n = piece.coefficient.extent(1);
    const double here = largest_in(row, n) * band.gain;
    band_largest_[piece.band] = std::max(band_largest_[piece.band], here);
    if (piece.band == 0) {
      first = here;
      return;
    }
    largest = std::max(largest, here);
    const std::size_t every = sampling(band);
    if (i % every != 0) return;
    for (std::size_t j = 0; j < n; ++j) model_.add(std::abs(row[j]) * band.gain, static_cast<std::uint32_t>(every));
  });
  std::vector<double> tops{largest, first};
  nodes_.allreduce(std::span(tops), ReduceOp::max);
  largest_ = tops[0];
  first_ = tops[1];
  std::vector<std::int64_t> counts = model_.counts();
  nodes_.allreduce(std::span(counts), ReduceOp::sum);
  model_.set_counts(counts);
  model_.sum_up();
}

void DistributedCoefficients::choose_splits(double step) {
  transform_.choose_splits(step);
  look();
}

Points DistributedCoefficients::choose_points(double step) {
  PlaceSums sums;
  for_each_piece([&](const Piece& piece, const Band& band, std::size_t i, const double* row) {
    const std::size_t every = sampling(band);
    if (piece.band > 0 && i % every == 0)
      sums.add_row(row, piece.coefficient.extent(1), band.gain / step, static_cast<double>(every));
  });
  std::vector<std::int64_t> numbers;
  for (std::size_t k = 0; k < 2; ++k) {
    numbers.push_back(static_cast<std::int64_t>(sums.count[k]));
    numbers.push_back(static_cast<std::int64_t>(whole(sums.sum[k])));
  }
  nodes_.allreduce(std::span(numbers), ReduceOp::sum);
  for (std::size_t k = 0; k < 2; ++k) {
    sums.count[k] = static_cast<double>(numbers[2 * k]);
    sums.sum[k] = static_cast<double>(numbers[2 * k + 1]) / 1048576;
  }
  return sums.points();
}

Errors DistributedCoefficients::reconstruct(const QuantisationStep& step, const Points& points) {
  const bool fits = narrow(step.value());
  for (const Piece& piece : transform_.pieces())
    for (std::size_t i = 0; i < piece.coefficient.extent(0); ++i)
      requantise_row(&piece.coefficient(i, 0), piece.coefficient.extent(1), transform_.layout().bands[piece.band].gain,
                     step.value(), points, fits, &piece.trial(i, 0));
  transform_.inverse(reconstruction_);
  const Errors mine = measure(local_, reconstruction_.data());
  struct Sums {
    double squares, max;
    std::int64_t present;
  };
  const Sums own{mine.rms * mine.rms * static_cast<double>(local_.present), mine.max,
                 static_cast<std::int64_t>(local_.present)};
  // Added in the order of the nodes, so that the sum is the same everywhere.
  const auto all = nodes_.allgatherv(std::span<const Sums>(&own, 1));
  const auto errors_of = [&](int first, int end) {
    Sums sum{0, 0, 0};
    for (int node = first; node < end; ++node) {
      const Sums& s = all.values[static_cast<std::size_t>(node)];
      sum = {sum.squares + s.squares, std::max(sum.max, s.max), sum.present + s.present};
    }
    return Errors{sum.present ? std::sqrt(sum.squares / static_cast<double>(sum.present)) : 0, sum.max};
  };
  group_errors_[step.value()] = errors_of(distribution_.first_node(group()), distribution_.end_node(group()));
  return errors_of(0, nodes_.size());
}

std::size_t DistributedCoefficients::busy_values(double step) const {
  std::int64_t busy = 0;
  for_each_piece([&](const Piece& piece, const Band&, std::size_t, const double*) {
    if (band_largest_[piece.band] >= step) busy += static_cast<std::int64_t>(piece.coefficient.extent(1));
  });
  nodes_.allreduce(std::span(&busy, 1), ReduceOp::sum);
  return static_cast<std::size_t>(busy);
}

std::vector<double> DistributedCoefficients::plane_errors(const Trial& trial) const {
  std::vector<double> errors;
  for (int missing = 0; missing < 64; ++missing)
    errors.push_back(std::sqrt(model_.squared_error(std::ldexp(trial.step.value(), missing))));
  return errors;
}

// The message: per piece band, first row, rows, and pairs of gap and magnitude * 2 + sign, ended by a gap beyond the
// piece.
Bytes DistributedCoefficients::quantised(const Trial& trial) const {
  Bytes out;
  const double step = trial.step.value();
  for (const Piece& piece : transform_.pieces()) {
    if (piece.replicated && !transform_.contributes_replicated()) continue;
    const Band& band = transform_.layout().bands[piece.band];
    const wavelet::MatrixView& values = piece.coefficient;
    const double scale = band.gain / step;
    put_varint(out, piece.band);
    put_varint(out, piece.row0);
    put_varint(out, values.extent(0));
    std::uint64_t gap = 0;
    for (std::size_t i = 0; i < values.extent(0); ++i)
      for (std::size_t j = 0; j < values.extent(1); ++j) {
        const double c = values(i, j);
        const auto magnitude = static_cast<std::uint64_t>(std::abs(c) * scale);
        if (magnitude == 0) {
          ++gap;
          continue;
        }
        put_varint(out, gap);
        put_varint(out, magnitude << 1 | (c < 0 ? 1 : 0));
        gap = 0;
      }
    put_varint(out, values.size());
  }
  return out;
}

namespace {

/// Sets the values of one message.
template <typename Q>
void take_part(const Bytes& part, const Layout& layout, std::vector<BandData<Q>>& data) {
  ByteReader in(part);
  while (!in.rest().empty()) {
    const std::size_t b = in.varint(), row0 = in.varint(), rows = in.varint();
    const Band& band = layout.bands[b];
    for (std::size_t at = in.varint(); at < rows * band.cols; at += in.varint() + 1) {
      const std::uint64_t value = in.varint();
      if (!data[b].allocated()) data[b].allocate(band.rows, band.cols);
      const std::size_t cell = data[b].at(row0 + at / band.cols, at % band.cols);
      data[b].magnitude[cell] = static_cast<Q>(value >> 1);
      data[b].negative[cell] = value & 1;
    }
  }
}

template <typename Q>
Bytes code_tile(const PendingTile& tile) {
  std::vector<BandData<Q>> data(tile.layout.bands.size());
  data[0].allocate(1, 1);
  for (const Bytes& part : tile.parts) take_part(part, tile.layout, data);
  for (BandData<Q>& band : data)
    if (band.allocated()) band.grow_tree();
  const auto error_without = [&](int missing) {
    return tile.errors[std::min(static_cast<std::size_t>(missing), tile.errors.size() - 1)];
  };
  return write_body({tile.layout, tile.trial, tile.exponent, tile.nrmse_unit, false, error_without}, data);
}

}  // namespace

Bytes code_parts(const PendingTile& tile) {
  return tile.narrow ? code_tile<std::uint32_t>(tile) : code_tile<std::uint64_t>(tile);
}

}  // namespace effort::codec
