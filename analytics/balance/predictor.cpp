#include "analytics/balance/predictor.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace effort::balance {
namespace {

constexpr double smoothing = 0.5;    // weight of the last window in the exponentially weighted mean
constexpr double forgetting = 0.6;   // of past errors, per window: about the last three count
constexpr double preference = 0.95;  // an involved predictor must be this much better than persistence

void check_length(std::size_t have, std::size_t want, const char* what) {
  if (have != want)
    throw std::invalid_argument(std::string(what) + " holds " + std::to_string(have) + " values (expected " +
                                std::to_string(want) + "), pass one per row and column");
}

// The median of a handful of values, which are put in order: insertion beats std::sort here.
double small_median(std::array<double, Forecaster::trend_depth>& v, int n) {
  for (int i = 1; i < n; ++i)
    for (int j = i; j > 0 && v[j] < v[j - 1]; --j) std::swap(v[j], v[j - 1]);
  return n % 2 == 1 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

}  // namespace

void Forecaster::reset(int rows, int columns) {
  rows_ = rows;
  columns_ = columns;
  windows_ = 0;
  newest_ = 0;
  const std::size_t n = static_cast<std::size_t>(rows) * columns;
  history_.assign(n * depth, 0.0);
  smooth_.assign(n, 0.0);
  base_.assign(n, 0.0);
  peak_.assign(n, 0.0);
  has_peak_.assign(static_cast<std::size_t>(rows), 0);
}

const double* Forecaster::past(int windows_ago, int row) const {
  const int slot = (newest_ - windows_ago + depth) % depth;
  return history_.data() + (static_cast<std::size_t>(slot) * rows_ + row) * columns_;
}

void Forecaster::observe(std::span<const double> mean, std::span<const double> base, std::span<const double> peak,
                         std::span<const PeakSteps> steps) {
  const std::size_t n = static_cast<std::size_t>(rows_) * columns_;
  check_length(mean.size(), n, "the window's mean");
  if (!base.empty()) check_length(base.size(), n, "the window's base");
  if (!peak.empty()) check_length(peak.size(), n, "the window's peak");
  if (!steps.empty()) check_length(steps.size(), static_cast<std::size_t>(rows_), "the window's peak steps");
  newest_ = (newest_ + 1) % depth;
  std::copy(mean.begin(), mean.end(), history_.begin() + static_cast<std::ptrdiff_t>(n) * newest_);
  if (windows_ == 0) {
    std::copy(mean.begin(), mean.end(), smooth_.begin());
  } else {
    for (std::size_t i = 0; i < n; ++i) smooth_[i] += smoothing * (mean[i] - smooth_[i]);
  }
  std::copy_n((base.empty() ? mean : base).begin(), n, base_.begin());
  for (int row = 0; row < rows_ && !peak.empty() && !steps.empty(); ++row) {
    if (steps[row].peaks == 0) continue;
    const std::size_t first = static_cast<std::size_t>(row) * columns_;
    for (std::size_t i = first; i < first + columns_; ++i)
      peak_[i] = has_peak_[row] ? peak_[i] + smoothing * (peak[i] - peak_[i]) : peak[i];
    has_peak_[row] = 1;
  }
  windows_ = std::min(windows_ + 1, depth);
}

void Forecaster::predict(int row, Predictor kind, double ahead, PeakSteps coming, std::span<double> out) const {
  check_length(out.size(), static_cast<std::size_t>(columns_), "the prediction");
  if (windows_ == 0) {
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  const double* last = past(0, row);
  const std::size_t offset = static_cast<std::size_t>(row) * columns_;
  const int n = std::min(windows_, trend_depth);
  switch (kind) {
    case Predictor::persistence: std::copy_n(last, columns_, out.begin()); return;
    case Predictor::ewma: std::copy_n(smooth_.begin() + static_cast<std::ptrdiff_t>(offset), columns_, out.begin()); return;
    case Predictor::median: {
      std::array<double, trend_depth> values;
      for (int c = 0; c < columns_; ++c) {
        for (int i = 0; i < n; ++i) values[i] = past(i, row)[c];
        out[c] = small_median(values, n);
      }
      return;
    }
    case Predictor::trend: {
      // Least squares through x = 0 (last), -1, ..., -(n - 1), taken at x = ahead: one weight per window.
      std::array<double, trend_depth> weight{};
      const double centre = -0.5 * (n - 1), spread = n * (n * n - 1.0) / 12.0;
      for (int i = 0; i < n; ++i)
        weight[i] = 1.0 / n + (spread > 0 ? (-i - centre) * (ahead - centre) / spread : 0.0);
      std::fill(out.begin(), out.end(), 0.0);
      for (int i = 0; i < n; ++i) {
        const double* values = past(i, row);
        for (int c = 0; c < columns_; ++c) out[c] += weight[i] * values[c];
      }
      for (int c = 0; c < columns_; ++c) out[c] = last[c] >= 0 ? std::max(out[c], 0.0) : out[c];
      return;
    }
    case Predictor::periodic: {
      const double share = has_peak_[row] && coming.steps > 0 ? static_cast<double>(coming.peaks) / coming.steps : 0.0;
      for (int c = 0; c < columns_; ++c) {
        const double base = base_[offset + c];
        out[c] = base + share * (peak_[offset + c] - base);
      }
      return;
    }
  }
}

void PredictorChoice::reset(int rows) {
  rows_ = rows;
  error_.assign(static_cast<std::size_t>(rows) * n_predictors, 0.0);
  scale_.assign(static_cast<std::size_t>(rows), 0.0);
}

void PredictorChoice::observe(std::span<const double> error, std::span<const double> scale) {
  check_length(error.size(), error_.size(), "the errors");
  check_length(scale.size(), scale_.size(), "the loads");
  for (std::size_t i = 0; i < error.size(); ++i) error_[i] = forgetting * error_[i] + error[i];
  for (std::size_t i = 0; i < scale.size(); ++i) scale_[i] = forgetting * scale_[i] + scale[i];
}

Predictor PredictorChoice::of(int row) const {
  const double* error = error_.data() + static_cast<std::size_t>(row) * n_predictors;
  int best = 0;
  for (int p = 1; p < n_predictors; ++p)
    if (error[p] < error[best] && error[p] < preference * error[0]) best = p;
  return static_cast<Predictor>(best);
}

double PredictorChoice::error(int row) const {
  if (scale_[row] <= 0) return -1;
  return error_[static_cast<std::size_t>(row) * n_predictors + static_cast<std::size_t>(of(row))] / scale_[row];
}

}  // namespace effort::balance
