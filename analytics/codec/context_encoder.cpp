// Encoding of one matrix that is in one place.
#include "analytics/codec/context_body.hpp"
#include "analytics/codec/split_choice.hpp"
#include "analytics/codec/step_search.hpp"
#include "analytics/wavelet/pages.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

namespace effort::codec {
namespace {

/// Coefficients of one matrix and everything that is tried on them.
class LocalCoefficients final : public Coefficients {
 public:
  explicit LocalCoefficients(const Matrix& matrix);

  std::size_t values() const override { return matrix_.rows * matrix_.cols; }
  std::size_t present() const override { return matrix_.present; }
  double largest() const override { return largest_; }
  double first() const override { return first_; }
  const ErrorModel& model() const override { return model_; }
  void choose_splits(double step) override;
  Points choose_points(double step) override;
  Errors reconstruct(const Step& step, const Points& points) override;

  Bytes code(const Trial& trial, double nrmse_unit, bool plain) const;

 private:
  void fill_model();
  template <typename Q>
  std::vector<BandData<Q>> quantise(double step) const;
  /// Whether nothing of a band is left at a step (with room for the rounding of the weights).
  bool zeros(std::size_t b, double step) const { return band_largest_[b] < step * 0.999; }
  const double* row(const Band& band, std::size_t i) const { return &coefficients_[(band.row0 + i) * matrix_.cols + band.col0]; }

  const Matrix& matrix_;
  wavelet::Levels levels_;
  Layout layout_;
  std::unique_ptr<double[]> coefficients_, scratch_;
  std::vector<double> band_largest_;  ///< weighted
  ErrorModel model_;
  double largest_ = 0, first_ = 0;
};

LocalCoefficients::LocalCoefficients(const Matrix& matrix) : matrix_(matrix) {
  const std::size_t rows = matrix.rows, cols = matrix.cols, n = rows * cols;
  levels_ = {wavelet::deepest_level(rows), wavelet::deepest_level(cols)};
  coefficients_ = wavelet::make_doubles(n);
  scratch_ = wavelet::make_doubles(n);
  wavelet::forward(Kokkos::Serial(), wavelet::ConstMatrixView(matrix.values.data(), rows, cols),
                   wavelet::MatrixView(coefficients_.get(), rows, cols), levels_);
  layout_ = make_layout(rows, cols, levels_, possible_splits(rows, cols, levels_));
  first_ = std::abs(coefficients_[0]) * layout_.bands[0].gain;
  fill_model();
}

void LocalCoefficients::fill_model() {
  model_.clear();
  largest_ = 0;
  band_largest_.assign(layout_.bands.size(), first_);
  for (std::size_t b = 1; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    const std::size_t every = sampling(band);
    double largest = 0;
    for (std::size_t i = 0; i < band.rows; ++i) {
      largest = std::max(largest, largest_in(row(band, i), band.cols));
      if (i % every == 0)
        for (std::size_t j = 0; j < band.cols; ++j) model_.add(std::abs(row(band, i)[j]) * band.gain, static_cast<std::uint32_t>(every));
    }
    band_largest_[b] = largest * band.gain;
    largest_ = std::max(largest_, band_largest_[b]);
  }
  model_.sum_up();
}

void LocalCoefficients::choose_splits(double step) {
  std::vector<PacketSplit> splits = layout_.splits;
  bool any = false;
  for (PacketSplit& split : splits) {
    split.extra = best_split(split, coefficients_.get(), matrix_.cols, step);
    apply_split(coefficients_.get(), matrix_.cols, split, 0, split.extra);
    any |= split.extra > 0;
  }
  if (!any) return;
  layout_ = make_layout(matrix_.rows, matrix_.cols, levels_, std::move(splits));
  fill_model();
}

Points LocalCoefficients::choose_points(double step) {
  PlaceSums sums;
  for (std::size_t b = 1; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    if (band_largest_[b] < step) continue;
    const std::size_t every = sampling(band);
    for (std::size_t i = 0; i < band.rows; i += every)
      sums.add_row(row(band, i), band.cols, band.gain / step, static_cast<double>(every));
  }
  return sums.points();
}

Errors LocalCoefficients::reconstruct(const Step& step, const Points& points) {
  const bool fits = narrow(step.value());
  for (std::size_t b = 0; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    for (std::size_t i = 0; i < band.rows; ++i) {
      double* to = &scratch_[(band.row0 + i) * matrix_.cols + band.col0];
      if (zeros(b, step.value())) {
        std::fill_n(to, band.cols, 0.0);
      } else {
        requantise_row(row(band, i), band.cols, band.gain, step, points, fits, to);
      }
    }
  }
  for (const PacketSplit& split : layout_.splits) undo_split(scratch_.get(), matrix_.cols, split);
  const std::size_t rows = matrix_.rows, cols = matrix_.cols;
  ErrorSum sum(matrix_);
  wavelet::inverse_rows(Kokkos::Serial(), wavelet::MatrixView(scratch_.get(), rows, cols), levels_,
                        [&](std::size_t i, const double* values) { sum.add(i, values); });
  return sum.errors();
}

template <typename Q>
std::vector<BandData<Q>> LocalCoefficients::quantise(double step) const {
  std::vector<BandData<Q>> data(layout_.bands.size());
  for (std::size_t b = 0; b < data.size(); ++b) {
    const Band& band = layout_.bands[b];
    if (b > 0 && zeros(b, step)) continue;
    data[b].allocate(band.rows, band.cols);
    for (std::size_t i = 0; i < band.rows; ++i) {
      const std::size_t at = data[b].at(i, 0);
      quantise_row(row(band, i), band.cols, band.gain / step, &data[b].magnitude[at], &data[b].negative[at]);
    }
    data[b].grow_tree();
  }
  return data;
}

Bytes LocalCoefficients::code(const Trial& trial, double nrmse_unit, bool plain) const {
  const double step = trial.step.value();
  const auto error_without = [&](int missing) { return std::sqrt(model_.squared_error(std::ldexp(step, missing))); };
  const ContextBody body{layout_, trial, matrix_.exponent, nrmse_unit, plain, error_without};
  if (narrow(step)) {
    auto data = quantise<std::uint32_t>(step);
    return write_body(body, data);
  }
  auto data = quantise<std::uint64_t>(step);
  return write_body(body, data);
}

}  // namespace

TileCode encode_context(const Matrix& matrix, const Goal& goal) {
  LocalCoefficients coefficients(matrix);
  const auto code = [&](const Trial& trial) { return coefficients.code(trial, goal.nrmse_unit, goal.quick); };
  if (!goal.quick) coefficients.choose_splits(first_guess(coefficients, goal));
  std::optional<Trial> found;
  if (goal.kind == Target::Kind::max_bytes) {
    found = find_step_of_size(coefficients, static_cast<std::size_t>(goal.value), [&](const Trial& trial) { return code(trial).size(); });
  } else {
    found = find_step(coefficients, goal);
  }
  if (!found) return {};
  return {code(*found), found->errors};
}

}  // namespace effort::codec
