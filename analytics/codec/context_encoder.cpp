// Encoding of one matrix: transform, choice of decomposition and step, planes.
#include "analytics/codec/tile.hpp"
#include "analytics/codec/plane_coder.hpp"
#include "analytics/codec/prelude.hpp"
#include "analytics/wavelet/clones.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>

namespace effort::codec {
namespace {

/// A quantisation step that a stream can state: (1 + mantissa / 256) 2^exponent.
struct Step {
  int exponent = 0;
  unsigned mantissa = 0;

  static Step at_most(double value) {
    Step step;
    const double fraction = std::frexp(value, &step.exponent) * 2;
    --step.exponent;
    step.mantissa = static_cast<unsigned>((fraction - 1) * 256);
    return step;
  }
  double value() const { return std::ldexp(1 + mantissa / 256.0, exponent); }
};

/// How the squared error grows with the step, from a histogram of the weighted magnitudes.
class ErrorModel {
 public:
  void clear() {
    count_.fill(0);
    square_.fill(0);
  }
  /// @param weight  how many values this one stands for
  void add(double magnitude, std::uint32_t weight) {
    const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(magnitude) >> 48) - kFirst;
    const auto i = static_cast<std::size_t>(std::clamp<std::int64_t>(bits, 0, kBins - 1));
    count_[i] += weight;
    square_[i] += magnitude * magnitude * weight;
  }
  /// To be called between the last add() and the questions.
  void sum_up() {
    double square = 0;
    for (std::size_t i = 0; i < kBins; ++i) {
      const double here = square_[i];
      square_[i] = square;
      square += here;
    }
    all_ = square;
    std::uint64_t count = 0;
    for (std::size_t i = kBins; i-- > 0;) above_[i] = count += count_[i];
  }
  double squared_error(double step) const {
    // Bins whose lower end is below the step count as zeros.
    const std::int64_t bin = (static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(step) >> 48) - kFirst) + 1;
    if (bin >= kBins) return all_;
    const auto i = static_cast<std::size_t>(std::max<std::int64_t>(bin, 0));
    return square_[i] + static_cast<double>(above_[i]) * step * step / 12;
  }
  /// The step at which the error is `wanted`.
  double step_for(double wanted) const {
    double low = -250, high = 250;
    for (int k = 0; k < 40; ++k) {
      const double middle = (low + high) / 2;
      (squared_error(std::exp2(middle)) <= wanted ? low : high) = middle;
    }
    return std::exp2(low);
  }

 private:
  static constexpr std::int64_t kFirst = (1023 - 80) * 16;
  static constexpr std::int64_t kBins = 160 * 16;
  std::array<std::uint32_t, kBins> count_{};
  std::array<double, kBins> square_{};  ///< after sum_up(): of all bins below
  std::array<std::uint64_t, kBins> above_{};
  double all_ = 0;
};

/// About the bits that coefficients cost at a step: the sum of log2(1 + (c / step)^2) / 2.
class CostSum {
 public:
  explicit CostSum(double step) : scale_(1 / step) {}
  void add(double c) {
    const double x = c * scale_;
    product_ *= 1 + x * x;
    if (product_ > 1e200) {
      bits_ += std::log2(product_);
      product_ = 1;
    }
  }
  double bits() const { return (bits_ + std::log2(product_)) / 2; }

 private:
  double scale_, product_ = 1, bits_ = 0;
};

/// Where a value of one or of several steps is reconstructed in its interval.
struct Points {
  unsigned code = 0;
  double first() const { return point_value(code & 15); }
  double others() const { return point_value(code >> 4); }
};
unsigned nearest_point(double fraction) {
  return static_cast<unsigned>(std::clamp(std::lround((fraction - 0.1) / 0.04), 0L, 15L));
}

/// What the decoder will make of a row of coefficients; Integer holds the largest of them in steps.
template <typename Integer>
[[gnu::always_inline]] inline void requantise(const double* __restrict in, std::size_t n, double scale, double unit, double first,
                                              double others, double* __restrict out) {
  for (std::size_t j = 0; j < n; ++j) {
    const auto q = static_cast<Integer>(std::fabs(in[j]) * scale);
    const double point = q == 1 ? first : others, exists = q != 0 ? 1.0 : 0.0;
    out[j] = std::copysign((static_cast<double>(q) + point) * unit * exists, in[j]);
  }
}
EFFORT_VECTOR_CLONES void requantise_row(const double* __restrict in, std::size_t n, double scale, double unit, double first,
                                         double others, double* __restrict out) {
  requantise<std::int32_t>(in, n, scale, unit, first, others, out);
}

EFFORT_VECTOR_CLONES void quantise_row(const double* __restrict in, std::size_t n, double scale, std::uint32_t* __restrict magnitude,
                                       std::uint8_t* __restrict negative) {
  for (std::size_t j = 0; j < n; ++j) magnitude[j] = static_cast<std::uint32_t>(static_cast<std::int32_t>(std::abs(in[j]) * scale));
  for (std::size_t j = 0; j < n; ++j) negative[j] = in[j] < 0;
}
void quantise_row(const double* in, std::size_t n, double scale, std::uint64_t* magnitude, std::uint8_t* negative) {
  for (std::size_t j = 0; j < n; ++j) magnitude[j] = static_cast<std::uint64_t>(std::abs(in[j]) * scale);
  for (std::size_t j = 0; j < n; ++j) negative[j] = in[j] < 0;
}

/// Coefficients of one matrix and everything that is tried on them.
class Encoder {
 public:
  explicit Encoder(const Matrix& matrix);
  TileCode run(const Goal& goal);

 private:
  struct Trial {
    Step step;
    Points points;
    Errors errors;
  };

  void choose_splits(double step);
  void choose_split(PacketSplit& split, double step);
  void fill_model();
  double model_step(double rms) const;
  Points choose_points(double step) const;
  bool narrow(double step) const { return std::max(largest_, first_) < step * 2147483000.0; }
  void reconstruct(Trial& trial);
  Trial try_step(double step);
  std::optional<Trial> search_error(double bound, bool largest);
  TileCode code(const Trial& trial, double nrmse_unit) const;
  template <typename Q>
  int code_planes(RangeEncoder& io, const Trial& trial, std::vector<std::size_t>& needed) const;
  void put_cuts(Bytes& out, const Trial& trial, const std::vector<std::size_t>& needed, std::size_t size, double nrmse_unit) const;
  double sampled_error(double step, Points points) const;
  TileCode search_bytes(std::size_t bound, double nrmse_unit);

  const Matrix& matrix_;
  wavelet::Levels levels_;
  Layout layout_;
  std::unique_ptr<double[]> coefficients_, scratch_, reconstruction_;
  ErrorModel model_;
  bool quick_ = false;
  double largest_ = 0;  ///< weighted, the first coefficient aside
  double first_ = 0;    ///< weighted magnitude of the first coefficient
};

Encoder::Encoder(const Matrix& matrix) : matrix_(matrix) {
  const std::size_t rows = matrix.rows, cols = matrix.cols, n = rows * cols;
  levels_ = {wavelet::deepest_level(rows), wavelet::deepest_level(cols)};
  coefficients_ = std::make_unique_for_overwrite<double[]>(n);
  scratch_ = std::make_unique_for_overwrite<double[]>(n);
  reconstruction_ = std::make_unique_for_overwrite<double[]>(n);
  wavelet::forward(Kokkos::Serial(), wavelet::ConstMatrixView(matrix.values.data(), rows, cols),
                   wavelet::MatrixView(coefficients_.get(), rows, cols), levels_);
  layout_ = make_layout(rows, cols, levels_, possible_splits(rows, cols, levels_));
  first_ = std::abs(coefficients_[0]) * layout_.bands[0].gain;
  fill_model();
}

template <typename Visit>
void for_each_row(const Band& band, std::size_t stride, const double* matrix, const Visit& visit) {
  for (std::size_t i = 0; i < band.rows; ++i) visit(i, matrix + (band.row0 + i) * stride + band.col0);
}

EFFORT_VECTOR_CLONES double largest_in(const double* row, std::size_t n) {
  std::array<double, 8> largest{};
  for (std::size_t j = 0; j < n; ++j) {
    const double c = std::abs(row[j]);
    largest[j & 7] = c > largest[j & 7] ? c : largest[j & 7];
  }
  return *std::max_element(largest.begin(), largest.end());
}

/// Of large bands every so many rows are enough where nothing depends on exactness.
std::size_t sampling(const Band& band) {
  return std::clamp<std::size_t>(band.rows * band.cols / 8192, 1, std::max<std::size_t>(1, band.rows / 16));
}

void Encoder::fill_model() {
  model_.clear();
  largest_ = 0;
  for (std::size_t b = 1; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    const std::size_t every = sampling(band);
    for_each_row(band, matrix_.cols, coefficients_.get(), [&](std::size_t i, const double* row) {
      largest_ = std::max(largest_, largest_in(row, band.cols) * band.gain);
      if (i % every == 0)
        for (std::size_t j = 0; j < band.cols; ++j) model_.add(std::abs(row[j]) * band.gain, static_cast<std::uint32_t>(every));
    });
  }
  model_.sum_up();
}

double Encoder::model_step(double rms) const {
  return model_.step_for(rms * rms * static_cast<double>(matrix_.present));
}

/// Splits bands further where that makes them cheaper at this step.
void Encoder::choose_splits(double step) {
  std::vector<PacketSplit> splits = layout_.splits;
  bool any = false;
  for (PacketSplit& split : splits) {
    choose_split(split, step);
    apply_split(coefficients_.get(), matrix_.cols, split, 0, split.extra);
    any |= split.extra > 0;
  }
  if (!any) return;
  layout_ = make_layout(matrix_.rows, matrix_.cols, levels_, std::move(splits));
  fill_model();
}

EFFORT_VECTOR_CLONES void raise_to(const double* __restrict row, std::size_t n, double* __restrict largest) {
  for (std::size_t j = 0; j < n; ++j) {
    const double c = std::abs(row[j]);
    largest[j] = c > largest[j] ? c : largest[j];
  }
}

/// A split treats all lines along its direction alike, so that a sample shows what it gains: the strongest lines,
/// for what is rare, and an even choice of the others, each standing for several.
class SplitSample {
 public:
  SplitSample(const PacketSplit& split, const double* matrix, std::size_t stride) : sample_(split) {
    const std::size_t lines = split.along_rows ? split.cols : split.rows;
    std::vector<double> largest(lines);
    for (std::size_t i = 0; i < split.rows; ++i) {
      const double* row = matrix + (split.row0 + i) * stride + split.col0;
      if (split.along_rows) {
        raise_to(row, lines, largest.data());
      } else {
        largest[i] = largest_in(row, split.cols);
      }
    }
    largest_ = *std::max_element(largest.begin(), largest.end());
    choose_lines(largest);
    sample_.row0 = sample_.col0 = 0;
    (split.along_rows ? sample_.cols : sample_.rows) = lines_.size();
    values_.resize(sample_.rows * sample_.cols);
    for (std::size_t i = 0; i < sample_.rows; ++i) {
      const double* row = matrix + (split.row0 + (split.along_rows ? i : lines_[i])) * stride + split.col0;
      for (std::size_t j = 0; j < sample_.cols; ++j)
        values_[i * sample_.cols + j] = row[split.along_rows ? lines_[j] : j];
    }
  }

  double largest() const { return largest_; }

  /// How many halvings make the lines cheapest at a step.
  int best_depth(double step) {
    const std::size_t length = sample_.along_rows ? sample_.rows : sample_.cols;
    double best = cost(0, length, step) * 0.98 - 2, done = 0;
    int depth = 0;
    for (int k = 0; k < sample_.deepest; ++k) {
      apply_split(values_.data(), sample_.cols, sample_, k, k + 1);
      const std::size_t whole = wavelet::low_length(length, k), low = wavelet::low_length(whole, 1);
      done += cost(low, whole, step);
      const double now = done + cost(0, low, step);
      if (now >= best) continue;
      best = now;
      depth = k + 1;
    }
    return depth;
  }

 private:
  static constexpr std::size_t kStrong = 48, kEven = 80;

  void choose_lines(const std::vector<double>& largest) {
    const std::size_t lines = largest.size();
    std::vector<std::size_t> order(lines);
    for (std::size_t k = 0; k < lines; ++k) order[k] = k;
    if (lines <= kStrong + kEven) {
      lines_ = order;
      strong_ = lines;
      return;
    }
    std::nth_element(order.begin(), order.begin() + kStrong, order.end(),
                     [&](std::size_t a, std::size_t b) { return largest[a] != largest[b] ? largest[a] > largest[b] : a < b; });
    strong_ = kStrong;
    std::sort(order.begin(), order.begin() + kStrong);
    std::sort(order.begin() + kStrong, order.end());
    lines_.assign(order.begin(), order.begin() + kStrong);
    const std::size_t rest = lines - kStrong;
    for (std::size_t k = 0; k < kEven; ++k) lines_.push_back(order[kStrong + k * rest / kEven]);
    weight_ = static_cast<double>(rest) / static_cast<double>(kEven);
  }

  /// Of the positions [begin, end) of all lines.
  double cost(std::size_t begin, std::size_t end, double step) const {
    CostSum strong(step), even(step);
    const auto add = [&](std::size_t line, double c) { (line < strong_ ? strong : even).add(c); };
    for (std::size_t k = begin; k < end && sample_.along_rows; ++k)
      for (std::size_t line = 0; line < lines_.size(); ++line) add(line, values_[k * sample_.cols + line]);
    for (std::size_t line = 0; line < lines_.size() && !sample_.along_rows; ++line)
      for (std::size_t k = begin; k < end; ++k) add(line, values_[line * sample_.cols + k]);
    return strong.bits() + weight_ * even.bits();
  }

  PacketSplit sample_;
  std::vector<std::size_t> lines_;  ///< the strong ones first
  std::size_t strong_ = 0;
  double weight_ = 1, largest_ = 0;
  std::vector<double> values_;
};

void Encoder::choose_split(PacketSplit& split, double step) {
  if (split.deepest == 0 || split.rows == 0 || split.cols == 0) return;
  const double gain = wavelet::synthesis_norm(split.row_level, !split.along_rows) * wavelet::synthesis_norm(split.col_level, split.along_rows);
  SplitSample sample(split, coefficients_.get(), matrix_.cols);
  if (sample.largest() * gain >= step / 4) split.extra = sample.best_depth(step / gain);
}

/// The mean places of the values in their intervals (of large bands: of a sample).
Points Encoder::choose_points(double step) const {
  std::array<double, 2> count{}, sum{};
  for (std::size_t b = 1; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    const double scale = band.gain / step;
    const std::size_t every = sampling(band);
    for (std::size_t i = 0; i < band.rows; i += every) {
      const double* row = &coefficients_[(band.row0 + i) * matrix_.cols + band.col0];
      for (std::size_t j = 0; j < band.cols; ++j) {
        const double c = std::abs(row[j]) * scale;
        if (c < 1) continue;
        const std::size_t k = c >= 2;
        count[k] += static_cast<double>(every);
        sum[k] += (c - std::floor(c)) * static_cast<double>(every);
      }
    }
  }
  Points points;
  for (std::size_t k = 0; k < 2; ++k) points.code |= nearest_point(count[k] > 0 ? sum[k] / count[k] : 0.5) << (4 * k);
  return points;
}

/// What the decoder will return, and how far it is from the values.
void Encoder::reconstruct(Trial& trial) {
  const double step = trial.step.value();
  const bool fits = narrow(step);
  for (const Band& band : layout_.bands) {
    for (std::size_t i = 0; i < band.rows; ++i) {
      const std::size_t at = (band.row0 + i) * matrix_.cols + band.col0;
      const double *in = &coefficients_[at], scale = band.gain / step, unit = step / band.gain;
      if (fits) {
        requantise_row(in, band.cols, scale, unit, trial.points.first(), trial.points.others(), &scratch_[at]);
      } else {
        requantise<std::int64_t>(in, band.cols, scale, unit, trial.points.first(), trial.points.others(), &scratch_[at]);
      }
    }
  }
  for (const PacketSplit& split : layout_.splits) undo_split(scratch_.get(), matrix_.cols, split);
  const std::size_t rows = matrix_.rows, cols = matrix_.cols;
  wavelet::inverse(Kokkos::Serial(), wavelet::MatrixView(scratch_.get(), rows, cols),
                   wavelet::MatrixView(reconstruction_.get(), rows, cols), levels_);
  trial.errors = measure(matrix_, reconstruction_.get());
}

Encoder::Trial Encoder::try_step(double step) {
  Trial trial;
  // From there on everything is zero.
  const double largest_step = 4 * std::max(largest_, first_);
  trial.step = Step::at_most(largest_step > 0 ? std::min(step, largest_step) : step);
  trial.points = choose_points(trial.step.value());
  reconstruct(trial);
  return trial;
}

/// A step large enough, of errors that keep the bound: the errors found so far, in a log-log line, say where to look.
std::optional<Encoder::Trial> Encoder::search_error(double bound, bool largest) {
  const double enough = quick_ ? 0 : 0.985, aim = quick_ ? 0.9 : 0.993;
  const double smallest_step = std::ldexp(std::max(largest_, first_), -60);
  const auto error_of = [&](const Trial& trial) { return largest ? trial.errors.max : trial.errors.rms; };
  if (!quick_) choose_splits(largest ? bound / 1.5 : model_step(bound));
  double step = largest ? bound / (quick_ ? 2.5 : 1.5) : model_step(quick_ ? 0.9 * bound : bound);
  std::optional<Trial> best, above;
  const int trials = matrix_.rows * matrix_.cols < 4096 ? 5 : 12;
  for (int k = 0; (k < trials || !best) && k < 40 && step > smallest_step; ++k) {
    const Trial trial = try_step(step);
    const double error = error_of(trial), used = trial.step.value();
    if (error <= bound) {
      if (!best || used > best->step.value()) best = trial;
      if (error >= bound * enough || used > 3.9 * std::max(largest_, first_)) break;
    } else if (!above || used < above->step.value()) {
      above = trial;
    }
    if (best && above) {
      const double low = std::log(best->step.value()), high = std::log(above->step.value());
      if (high - low < 0.006) break;
      const double e = std::log(std::max(error_of(*best), bound * 1e-3)), f = std::log(error_of(*above));
      const double part = f > e ? (std::log(bound * aim) - e) / (f - e) : 0.5;
      step = std::exp(low + (high - low) * (k < 6 ? std::clamp(part, 0.08, 0.92) : 0.5));
    } else if (error == 0) {
      step = used * 4;
    } else if (largest) {
      step = used * std::clamp(bound * 0.97 / error, 0.25, 4.0);
    } else {
      const double wanted = bound * aim / error;
      step = model_.step_for(model_.squared_error(used) * wanted * wanted);
      step = error <= bound ? std::max(step, used * 1.01) : std::min(step, used * 0.99);
    }
  }
  return best;
}

/// Codes everything behind the header; returns the number of planes.  `needed`: the bytes up to the end of each.
template <typename Q>
int Encoder::code_planes(RangeEncoder& io, const Trial& trial, std::vector<std::size_t>& needed) const {
  std::vector<BandData<Q>> data(layout_.bands.size());
  int planes = 1;
  for (std::size_t b = 0; b < data.size(); ++b) {
    const Band& band = layout_.bands[b];
    data[b].allocate(band.rows, band.cols);
    for (std::size_t i = 0; i < band.rows; ++i)
      quantise_row(&coefficients_[(band.row0 + i) * matrix_.cols + band.col0], band.cols, band.gain / trial.step.value(),
                   &data[b].magnitude[data[b].at(i, 0)], &data[b].negative[data[b].at(i, 0)]);
    data[b].grow_tree();
    if (b > 0) planes = std::max(planes, int{data[b].tree.back().planes[data[b].tree.back().at(0, 0)]});
  }
  io.reserve(1024 + 64 * layout_.splits.size());
  for (const PacketSplit& split : layout_.splits) code_split(io, split);
  auto first = static_cast<std::uint64_t>(data[0].magnitude[data[0].at(0, 0)]);
  bool negative = data[0].negative[data[0].at(0, 0)] != 0;
  code_first(io, first, negative);
  PlaneCoder<RangeEncoder, Q> coder(io, layout_, data, quick_);
  for (int p = planes; p-- > 0;) {
    coder.code_plane(p);
    needed.push_back(io.needed());
  }
  return planes;
}

TileCode Encoder::code(const Trial& trial, double nrmse_unit) const {
  RangeEncoder io;
  std::vector<std::size_t> needed;
  const int planes = narrow(trial.step.value()) ? code_planes<std::uint32_t>(io, trial, needed) : code_planes<std::uint64_t>(io, trial, needed);
  const Bytes payload = io.finish();
  const bool has_cuts = payload.size() >= kCutsFrom && planes > 1 && !quick_;
  TileCode code{{}, trial.errors};
  put_signed(code.bytes, trial.step.exponent + matrix_.exponent);
  put_byte(code.bytes, trial.step.mantissa);
  put_byte(code.bytes, static_cast<unsigned>(planes) | (has_cuts ? kCutsFlag : 0));
  put_byte(code.bytes, trial.points.code);
  put_u16(code.bytes, error_code(trial.errors.rms / nrmse_unit));
  put_u16(code.bytes, error_code(trial.errors.max / trial.step.value()));
  if (has_cuts) put_cuts(code.bytes, trial, needed, payload.size(), nrmse_unit);
  code.bytes.insert(code.bytes.end(), payload.begin(), payload.end());
  return code;
}

/// Where each plane but the last ends, and the error there: measured in the wavelet domain on a sample, scaled by
/// what the last plane's error turned out to be.
void Encoder::put_cuts(Bytes& out, const Trial& trial, const std::vector<std::size_t>& needed, std::size_t size, double nrmse_unit) const {
  const double step = trial.step.value(), last = sampled_error(step, trial.points);
  const double correction = last > 0 ? trial.errors.rms / last : 1;
  std::size_t before = 0;
  for (std::size_t k = 0; k + 1 < needed.size(); ++k) {
    const std::size_t end = std::min(needed[k], size);
    put_varint(out, end - before);
    before = end;
    const int missing = static_cast<int>(needed.size() - 1 - k);
    put_u16(out, error_code(sampled_error(std::ldexp(step, missing), Points{kPartialPoints}) * correction / nrmse_unit));
  }
}

/// The root mean square difference of the weighted coefficients to their reconstruction at a step.
double Encoder::sampled_error(double step, Points points) const {
  double sum = 0;
  for (std::size_t b = 1; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    const std::size_t every = sampling(band);
    double squares = 0;
    for (std::size_t i = 0; i < band.rows; i += every) {
      const double* row = &coefficients_[(band.row0 + i) * matrix_.cols + band.col0];
      for (std::size_t j = 0; j < band.cols; ++j) {
        const double c = std::abs(row[j]) * band.gain / step, q = std::floor(c);
        const double e = q == 0 ? c : c - q - (q == 1 ? points.first() : points.others());
        squares += e * e;
      }
    }
    sum += squares * static_cast<double>(every);
  }
  return std::sqrt(sum / static_cast<double>(matrix_.present)) * step;
}

/// The smallest step found whose stream fits.
TileCode Encoder::search_bytes(std::size_t bound, double nrmse_unit) {
  const double largest = std::max({largest_, std::abs(coefficients_[0]), 1e-250});
  choose_splits(largest_ > 0 ? largest_ / 16 : largest);
  double low = std::ldexp(largest, -56), high = largest * 4;
  TileCode best;
  for (int k = 0; k < 16 && high / low > 1.005; ++k) {
    const double step = k == 0 ? high : std::sqrt(low * high);
    Trial trial;
    trial.step = Step::at_most(step);
    trial.points = choose_points(trial.step.value());
    if (code(trial, nrmse_unit).bytes.size() <= bound) {
      reconstruct(trial);
      best = code(trial, nrmse_unit);
      high = step;
    } else {
      low = step;
    }
  }
  return best;
}

TileCode Encoder::run(const Goal& goal) {
  quick_ = goal.quick;
  switch (goal.kind) {
    case Target::Kind::passes: {
      if (largest_ == 0) largest_ = std::abs(coefficients_[0]);
      const double top = std::exp2(std::floor(std::log2(largest_)));
      const double step = std::ldexp(top, 1 - static_cast<int>(goal.value));
      choose_splits(step);
      return code(try_step(step), goal.nrmse_unit);
    }
    case Target::Kind::max_bytes:
      return search_bytes(static_cast<std::size_t>(goal.value), goal.nrmse_unit);
    default: {
      const auto found = search_error(goal.value, goal.kind == Target::Kind::max_error);
      if (!found) return {};
      return code(*found, goal.nrmse_unit);
    }
  }
}

}  // namespace

TileCode encode_context(const Matrix& matrix, const Goal& goal) { return Encoder(matrix).run(goal); }

}  // namespace effort::codec
