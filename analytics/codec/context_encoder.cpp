// Encoding of one matrix: transform, choice of decomposition and step, planes.
#include "analytics/codec/tile.hpp"
#include "analytics/codec/plane_coder.hpp"
#include "analytics/codec/prelude.hpp"

#include <algorithm>
#include <array>
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
    x_count.fill(0);
    x_square.fill(0);
  }
  void add(double magnitude) {
    const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(magnitude) >> 48) - kFirst;
    const auto i = static_cast<std::size_t>(std::clamp<std::int64_t>(bits, 0, kBins - 1));
    ++x_count[i];
    x_square[i] += magnitude * magnitude;
  }
  double squared_error(double step) const {
    double sum = 0;
    for (std::size_t i = 0; i < kBins; ++i) {
      const double lower = std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(i) + kFirst) << 48);
      sum += lower < step ? x_square[i] : static_cast<double>(x_count[i]) * step * step / 12;
    }
    return sum;
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
  std::array<std::uint32_t, kBins> x_count{};
  std::array<double, kBins> x_square{};
};

/// About the bits that coefficients cost at a step: the sum of log2(1 + (c / step)^2) / 2.
class CostSum {
 public:
  explicit CostSum(double step) : x_scale(1 / step) {}
  void add(double c) {
    const double x = c * x_scale;
    x_product *= 1 + x * x;
    if (x_product > 1e200) {
      x_bits += std::log2(x_product);
      x_product = 1;
    }
  }
  double bits() const { return (x_bits + std::log2(x_product)) / 2; }

 private:
  double x_scale, x_product = 1, x_bits = 0;
};

/// Weighted coefficients of one matrix and everything that is tried on them.
class Encoder {
 public:
  explicit Encoder(const Matrix& matrix);
  TileCode run(const Goal& goal);

 private:
  struct Trial {
    Step step;
    int planes = 0;
    unsigned points = 0;
    double estimated = 0;  ///< squared error, in the wavelet domain
    Errors errors;
  };

  void choose_splits(double step);
  void fill_model();
  double model_step(double rms) const;
  void quantise(Trial& trial);
  void reconstruct(Trial& trial);
  Trial try_step(double step);
  std::optional<Trial> search_error(double bound, bool largest);
  TileCode code(const Trial& trial, double nrmse_unit);
  TileCode search_bytes(std::size_t bound, double nrmse_unit);

  const Matrix& x_matrix;
  wavelet::Levels x_levels;
  Layout x_layout;
  std::unique_ptr<double[]> x_coefficients, x_scratch, x_reconstruction;
  std::vector<BandData<std::uint64_t>> x_data;
  std::uint64_t x_dc = 0;
  bool x_dc_negative = false;
  ErrorModel x_model;
  double x_largest = 0;  ///< weighted, the first coefficient aside
};

Encoder::Encoder(const Matrix& matrix) : x_matrix(matrix) {
  const std::size_t rows = matrix.rows, cols = matrix.cols, n = rows * cols;
  x_levels = {wavelet::deepest_level(rows), wavelet::deepest_level(cols)};
  x_coefficients = std::make_unique_for_overwrite<double[]>(n);
  x_scratch = std::make_unique_for_overwrite<double[]>(n);
  x_reconstruction = std::make_unique_for_overwrite<double[]>(n);
  wavelet::forward(Kokkos::Serial(), wavelet::ConstMatrixView(matrix.values.data(), rows, cols),
                   wavelet::MatrixView(x_coefficients.get(), rows, cols), x_levels);
  x_layout = make_layout(rows, cols, x_levels, possible_splits(rows, cols, x_levels));
  x_data.resize(x_layout.bands.size());
  fill_model();
}

template <typename Visit>
void for_each_row(const Band& band, std::size_t stride, double* matrix, const Visit& visit) {
  for (std::size_t i = 0; i < band.rows; ++i) visit(i, matrix + (band.row0 + i) * stride + band.col0);
}

void Encoder::fill_model() {
  x_model.clear();
  x_largest = 0;
  for (std::size_t b = 1; b < x_layout.bands.size(); ++b) {
    const Band& band = x_layout.bands[b];
    for_each_row(band, x_matrix.cols, x_coefficients.get(), [&](std::size_t, const double* row) {
      for (std::size_t j = 0; j < band.cols; ++j) {
        const double c = std::abs(row[j]) * band.gain;
        x_model.add(c);
        x_largest = std::max(x_largest, c);
      }
    });
  }
}

double Encoder::model_step(double rms) const {
  return x_model.step_for(rms * rms * static_cast<double>(x_matrix.present));
}

/// Splits bands further where that makes them cheaper at this step.
void Encoder::choose_splits(double step) {
  std::vector<PacketSplit> splits = x_layout.splits;
  for (PacketSplit& split : splits) {
    const double gain = wavelet::synthesis_norm(split.row_level, !split.along_rows) * wavelet::synthesis_norm(split.col_level, split.along_rows);
    const auto cost = [&](std::size_t r0, std::size_t r1, std::size_t c0, std::size_t c1) {
      CostSum sum(step / gain);
      for (std::size_t i = r0; i < r1; ++i)
        for (std::size_t j = c0; j < c1; ++j) sum.add(x_coefficients[(split.row0 + i) * x_matrix.cols + split.col0 + j]);
      return sum.bits();
    };
    double before = cost(0, split.rows, 0, split.cols);
    if (before < 1) continue;
    double best = before * 0.98 - 2, done = 0;
    const std::vector<double> saved = [&] {
      std::vector<double> copy;
      for (std::size_t i = 0; i < split.rows; ++i) {
        const double* row = &x_coefficients[(split.row0 + i) * x_matrix.cols + split.col0];
        copy.insert(copy.end(), row, row + split.cols);
      }
      return copy;
    }();
    for (int k = 0; k < split.deepest; ++k) {
      apply_split(x_coefficients.get(), x_matrix.cols, split, k, k + 1);
      const std::size_t whole = wavelet::low_length(split.along_rows ? split.rows : split.cols, k);
      const std::size_t low = wavelet::low_length(whole, 1);
      done += split.along_rows ? cost(low, whole, 0, split.cols) : cost(0, split.rows, low, whole);
      const double now = done + (split.along_rows ? cost(0, low, 0, split.cols) : cost(0, split.rows, 0, low));
      if (now < best) {
        best = now;
        split.extra = k + 1;
      }
    }
    for (std::size_t i = 0; i < split.rows; ++i)
      std::copy_n(saved.data() + i * split.cols, split.cols, &x_coefficients[(split.row0 + i) * x_matrix.cols + split.col0]);
    apply_split(x_coefficients.get(), x_matrix.cols, split, 0, split.extra);
  }
  x_layout = make_layout(x_matrix.rows, x_matrix.cols, x_levels, std::move(splits));
  x_data.clear();
  x_data.resize(x_layout.bands.size());
  fill_model();
}

unsigned nearest_point(double fraction) {
  return static_cast<unsigned>(std::clamp(std::lround((fraction - 0.1) / 0.04), 0L, 15L));
}

void Encoder::quantise(Trial& trial) {
  const double step = trial.step.value();
  double zeros = 0;
  std::array<double, 2> count{}, sum{}, squares{};
  std::uint64_t any = 0;
  for (std::size_t b = 0; b < x_layout.bands.size(); ++b) {
    const Band& band = x_layout.bands[b];
    const double scale = band.gain / step;
    BandData<std::uint64_t>& data = x_data[b];
    if (!data.allocated()) data.allocate(band.rows, band.cols);
    for_each_row(band, x_matrix.cols, x_coefficients.get(), [&](std::size_t i, const double* row) {
      for (std::size_t j = 0; j < band.cols; ++j) {
        const double c = std::abs(row[j]) * scale;
        const auto q = static_cast<std::uint64_t>(c);
        data.magnitude[data.at(i, j)] = q;
        data.negative[data.at(i, j)] = row[j] < 0;
        if (b > 0) any |= q;
        if (q == 0) {
          zeros += c * c;
        } else {
          const double f = c - static_cast<double>(q);
          const std::size_t k = q > 1;
          ++count[k];
          sum[k] += f;
          squares[k] += f * f;
        }
      }
    });
  }
  double total = zeros;
  for (std::size_t k = 0; k < 2; ++k) {
    const unsigned nibble = nearest_point(count[k] > 0 ? sum[k] / count[k] : 0.5);
    const double point = point_value(nibble);
    trial.points |= nibble << (4 * k);
    total += squares[k] - 2 * point * sum[k] + point * point * count[k];
  }
  trial.estimated = total * step * step;
  trial.planes = std::max(1, static_cast<int>(std::bit_width(any)));
}

void Encoder::reconstruct(Trial& trial) {
  const double step = trial.step.value();
  const double first = point_value(trial.points & 15), others = point_value(trial.points >> 4);
  for (std::size_t b = 0; b < x_layout.bands.size(); ++b) {
    const Band& band = x_layout.bands[b];
    const double unit = step / band.gain;
    const BandData<std::uint64_t>& data = x_data[b];
    for_each_row(band, x_matrix.cols, x_scratch.get(), [&](std::size_t i, double* row) {
      for (std::size_t j = 0; j < band.cols; ++j) {
        const std::uint64_t q = data.magnitude[data.at(i, j)];
        const double magnitude = q == 0 ? 0 : (static_cast<double>(q) + (q == 1 ? first : others)) * unit;
        row[j] = data.negative[data.at(i, j)] ? -magnitude : magnitude;
      }
    });
  }
  for (const PacketSplit& split : x_layout.splits) undo_split(x_scratch.get(), x_matrix.cols, split);
  const std::size_t rows = x_matrix.rows, cols = x_matrix.cols;
  wavelet::inverse(Kokkos::Serial(), wavelet::MatrixView(x_scratch.get(), rows, cols),
                   wavelet::MatrixView(x_reconstruction.get(), rows, cols), x_levels);
  trial.errors = measure(x_matrix, x_reconstruction.get());
}

Encoder::Trial Encoder::try_step(double step) {
  Trial trial;
  trial.step = Step::at_most(step);
  quantise(trial);
  reconstruct(trial);
  return trial;
}

/// The largest step found whose error keeps the bound.
std::optional<Encoder::Trial> Encoder::search_error(double bound, bool largest) {
  const double smallest_step = std::ldexp(std::max(x_largest, std::abs(x_coefficients[0])), -58);
  double step = largest ? bound / 1.5 : model_step(bound);
  choose_splits(step);
  if (!largest) step = model_step(bound);
  std::optional<Trial> best;
  double too_large = HUGE_VAL;
  for (int k = 0; k < 10 && step > smallest_step; ++k) {
    const Trial trial = try_step(step);
    const double error = largest ? trial.errors.max : trial.errors.rms;
    const double used = trial.step.value();
    if (error <= bound) {
      if (!best || used > best->step.value()) best = trial;
      if (error >= bound * (largest ? 0.95 : 0.99) || used > 4 * x_largest) break;
    } else {
      too_large = std::min(too_large, used);
    }
    double next = used * bound * 0.97 / error;
    if (!largest) {
      const double model = x_model.squared_error(used), wanted = bound * 0.996 / error;
      next = x_model.step_for(model * wanted * wanted);
    }
    if (error == 0) next = used * 4;
    if (next >= too_large) next = best ? std::sqrt(too_large * best->step.value()) : too_large * 0.7;
    if (best && next <= best->step.value() * 1.004) {
      if (too_large < best->step.value() * 1.02) break;
      next = too_large < HUGE_VAL ? std::sqrt(too_large * best->step.value()) : best->step.value() * 1.02;
    }
    step = next;
  }
  return best;
}

template <typename Q>
BandData<Q> narrowed(const BandData<std::uint64_t>& wide) {
  BandData<Q> data;
  data.allocate(wide.rows, wide.cols);
  for (std::size_t i = 0; i < wide.magnitude.size(); ++i) data.magnitude[i] = static_cast<Q>(wide.magnitude[i]);
  data.negative = wide.negative;
  data.grow_tree();
  return data;
}

TileCode Encoder::code(const Trial& trial, double nrmse_unit) {
  Bytes out;
  put_signed(out, trial.step.exponent + x_matrix.exponent);
  put_byte(out, trial.step.mantissa);
  put_byte(out, static_cast<unsigned>(trial.planes));
  put_byte(out, trial.points);
  put_u16(out, error_code(trial.errors.rms / nrmse_unit));
  put_u16(out, error_code(trial.errors.max / trial.step.value()));
  RangeEncoder io;
  for (const PacketSplit& split : x_layout.splits) code_split(io, split);
  const auto& dc = x_data[0];
  std::uint64_t head = dc.magnitude[dc.at(0, 0)] >> trial.planes;
  bool negative = dc.negative[dc.at(0, 0)] != 0;
  code_dc_start(io, head, negative);
  const auto planes = [&]<typename Q>(Q) {
    std::vector<BandData<Q>> data;
    for (const auto& wide : x_data) data.push_back(narrowed<Q>(wide));
    PlaneCoder<RangeEncoder, Q> coder(io, x_layout, data);
    for (int p = trial.planes; p-- > 0;) {
      io.code_raw((dc.magnitude[dc.at(0, 0)] >> p) & 1);
      coder.code_plane(p);
    }
  };
  if (trial.planes <= 31) {
    planes(std::uint32_t{});
  } else {
    planes(std::uint64_t{});
  }
  const Bytes payload = io.finish();
  out.insert(out.end(), payload.begin(), payload.end());
  return {std::move(out), trial.errors};
}

/// The smallest step found whose stream fits.
TileCode Encoder::search_bytes(std::size_t bound, double nrmse_unit) {
  const double largest = std::max({x_largest, std::abs(x_coefficients[0]), 1e-250});
  choose_splits(x_largest > 0 ? x_largest / 16 : largest);
  double low = std::ldexp(largest, -56), high = largest * 4;
  TileCode best;
  for (int k = 0; k < 16 && high / low > 1.005; ++k) {
    const double step = k == 0 ? high : std::sqrt(low * high);
    Trial trial;
    trial.step = Step::at_most(step);
    quantise(trial);
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
  switch (goal.kind) {
    case Target::Kind::passes: {
      if (x_largest == 0) x_largest = std::abs(x_coefficients[0]);
      const double top = std::exp2(std::floor(std::log2(x_largest)));
      const double step = std::ldexp(top, 1 - static_cast<int>(goal.value));
      choose_splits(step);
      return code(try_step(step), goal.nrmse_unit);
    }
    case Target::Kind::max_bytes:
      return search_bytes(static_cast<std::size_t>(goal.value), goal.nrmse_unit);
    default: {
      const auto found = search_error(goal.value, goal.kind == Target::Kind::max_error);
      if (!found) return {};
      Trial again = *found;
      again.points = 0;
      quantise(again);
      return code(again, goal.nrmse_unit);
    }
  }
}

}  // namespace

TileCode encode_context(const Matrix& matrix, const Goal& goal) { return Encoder(matrix).run(goal); }

}  // namespace effort::codec
