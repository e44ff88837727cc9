// Encoding of one local matrix.
#include "analytics/codec/context_body.hpp"
#include "analytics/codec/quantisation_search.hpp"
#include "analytics/codec/rare_values.hpp"
#include "analytics/codec/split_choice.hpp"
#include "analytics/wavelet/pages.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace effort::codec {
namespace {

bool same_place(const Band& a, const Band& b) {
  return a.row0 == b.row0 && a.col0 == b.col0 && a.rows == b.rows && a.cols == b.cols;
}

/// Coefficients of one matrix, with scratch memory for trials.
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
  Errors reconstruct(const QuantisationStep& step, const Points& points) override;
  double bands_squared_error(double step) override {
    return find_rare(step) ? rare_->squared_error(step) : model_.squared_error(step);
  }

  Bytes code(const Trial& trial, double nrmse_unit, bool plain) const;

 private:
  void fill_model(const std::vector<Band>& before);
  double largest_within(const PacketSplit& split) const;
  /// Prepares `rare_` for a step; false if there are too many values.
  bool find_rare(double step);
  template <typename Q>
  std::vector<BandData<Q>> quantise(double step) const;
  /// Whether a band is zero at a step (with a margin for the rounding of the weights).
  bool zeros(std::size_t b, double step) const { return band_size_[b].largest < step * 0.999; }
  const double* row(const Band& band, std::size_t i) const {
    return &coefficients_[(band.row0 + i) * matrix_.cols + band.col0];
  }

  const Matrix& matrix_;
  wavelet::Levels levels_;
  Layout layout_;
  std::unique_ptr<double[]> coefficients_, scratch_;
  std::vector<RowSize> band_size_;  ///< weighted
  std::vector<bool> cleared_;       ///< bands that are zero in the scratch memory and stay so in the inverse transform
  ErrorModel model_;
  std::optional<RareValues> rare_;  ///< for the present splits
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
  fill_model({});
}

/// Measures the bands' sizes; bands that a choice of splits has not changed keep theirs.
void LocalCoefficients::fill_model(const std::vector<Band>& before) {
  model_.clear();
  rare_.reset();
  cleared_.clear();
  largest_ = 0;
  const std::vector<RowSize> known = std::exchange(band_size_, std::vector<RowSize>(layout_.bands.size(), {first_, 0}));
  for (std::size_t b = 1; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    const std::size_t every = sampling(band);
    const auto same =
        std::find_if(before.begin(), before.end(), [&](const Band& other) { return same_place(other, band); });
    RowSize size;
    for (std::size_t i = 0; i < band.rows; ++i) {
      const bool sampled = i % every == 0;
      if (same == before.end()) {
        const RowSize here = size_of(row(band, i), band.cols);
        size = {std::max(size.largest, here.largest), size.squares + here.squares};
      }
      for (std::size_t j = 0; sampled && j < band.cols; ++j)
        model_.add(std::abs(row(band, i)[j]) * band.gain, static_cast<std::uint32_t>(every));
    }
    band_size_[b] = same == before.end() ? RowSize{size.largest * band.gain, size.squares * band.gain * band.gain}
                                         : known[static_cast<std::size_t>(same - before.begin())];
    largest_ = std::max(largest_, band_size_[b].largest);
  }
  model_.sum_up();
}

void LocalCoefficients::choose_splits(double step) {
  std::vector<PacketSplit> splits = layout_.splits;
  bool any = false;
  for (PacketSplit& split : splits) {
    if (largest_within(split) < step / 4) continue;
    split.extra = best_split(split, coefficients_.get(), matrix_.cols, step);
    apply_split(wavelet::MatrixView(coefficients_.get(), matrix_.rows, matrix_.cols), split, 0, split.extra);
    any |= split.extra > 0;
  }
  if (!any) return;
  const Layout before = std::exchange(layout_, make_layout(matrix_.rows, matrix_.cols, levels_, std::move(splits)));
  fill_model(before.bands);
}

/// The largest weighted magnitude of the bands that a split makes.
double LocalCoefficients::largest_within(const PacketSplit& split) const {
  double largest = 0;
  for (std::size_t b = 1; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    const bool inside = band.row0 >= split.row0 && band.row0 < split.row0 + split.rows && band.col0 >= split.col0 &&
                        band.col0 < split.col0 + split.cols;
    if (inside) largest = std::max(largest, band_size_[b].largest);
  }
  return largest;
}

bool LocalCoefficients::find_rare(double step) {
  if (values() < 4096) return false;  // a further trial costs less
  if (rare_ && step >= rare_->floor()) return true;
  const double floor = step / 8;
  if (model_.count_from(floor) > static_cast<double>(RareValues::most)) return false;
  rare_.emplace();
  rare_->clear(floor);
  for (std::size_t b = 1; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    if (band_size_[b].largest < floor) {
      rare_->add_small(band_size_[b].squares);
      continue;
    }
    for (std::size_t i = 0; i < band.rows; ++i) rare_->add_row(row(band, i), band.cols, band.gain);
  }
  rare_->finish();
  return true;
}

Points LocalCoefficients::choose_points(double step) {
  PlaceSums sums;
  for (std::size_t b = 1; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    if (band_size_[b].largest < step) continue;
    const std::size_t every = sampling(band);
    for (std::size_t i = 0; i < band.rows; i += every)
      sums.add_row(row(band, i), band.cols, band.gain / step, static_cast<double>(every));
  }
  return sums.points();
}

Errors LocalCoefficients::reconstruct(const QuantisationStep& step, const Points& points) {
  const double unit = step.value();
  const bool fits = narrow(unit);
  cleared_.resize(layout_.bands.size());
  for (std::size_t b = 0; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    const bool zero = zeros(b, unit);
    if (zero && cleared_[b]) continue;
    for (std::size_t i = 0; i < band.rows; ++i) {
      double* to = &scratch_[(band.row0 + i) * matrix_.cols + band.col0];
      if (zero) {
        std::fill_n(to, band.cols, 0.0);
      } else {
        requantise_row(row(band, i), band.cols, band.gain, unit, points, fits, to);
      }
    }
    // Without levels along the rows the last one is undone in place.
    cleared_[b] = zero && levels_.rows > 0 && band.level == 1 && band.row_level + band.col_level <= 2;
  }
  for (const PacketSplit& split : layout_.splits)
    if (split.extra > 0 && largest_within(split) >= unit * 0.999)
      undo_split(wavelet::MatrixView(scratch_.get(), matrix_.rows, matrix_.cols), split);
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
    found = find_quantisation_step_for_size(coefficients, static_cast<std::size_t>(goal.value),
                                            [&](const Trial& trial) { return code(trial).size(); });
  } else {
    found = find_quantisation_step(coefficients, goal);
  }
  if (!found) return {};
  return {code(*found), found->errors};
}

}  // namespace effort::codec
