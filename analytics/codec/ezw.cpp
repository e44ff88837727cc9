#include "analytics/codec/ezw.hpp"

#include "analytics/codec/bands.hpp"
#include "analytics/codec/huffman.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace effort::codec {
namespace {

constexpr int most_passes = 60;
/// The symbols of a dominant pass, and the two refinement bits.
enum Symbol : unsigned { positive_value, negative_value, zerotree_root, isolated_zero, low_half, high_half };
constexpr std::size_t symbol_count = 6, run_classes = 40;

/// Coefficients in coding order (coarse bands first), each with its parent: the trees.
struct Trees {
  static constexpr std::uint32_t no_parent = 0xFFFFFFFFu;
  std::vector<std::uint32_t> place;   ///< in the transformed matrix
  std::vector<std::uint32_t> parent;  ///< in coding order; no_parent for roots

  explicit Trees(const Layout& layout) {
    std::vector<std::uint32_t> start;
    for (const Band& band : layout.bands) {
      start.push_back(static_cast<std::uint32_t>(place.size()));
      const BandParent& link = band.parents[0];
      for (std::size_t i = 0; i < band.rows; ++i)
        for (std::size_t j = 0; j < band.cols; ++j) {
          place.push_back(static_cast<std::uint32_t>((band.row0 + i) * layout.cols + band.col0 + j));
          if (link.band < 0) {
            parent.push_back(no_parent);
            continue;
          }
          const Band& above = layout.bands[static_cast<std::size_t>(link.band)];
          const std::size_t pi = std::min(i >> link.row_shift, above.rows - 1),
                            pj = std::min(j >> link.col_shift, above.cols - 1);
          parent.push_back(start[static_cast<std::size_t>(link.band)] +
                           static_cast<std::uint32_t>(pi * above.cols + pj));
        }
    }
  }
  std::size_t size() const { return place.size(); }
};

Layout plain_layout(std::size_t rows, std::size_t cols) {
  const wavelet::Levels levels{wavelet::deepest_level(rows), wavelet::deepest_level(cols)};
  return make_layout(rows, cols, levels, possible_splits(rows, cols, levels));
}

/// One dominant and one subordinate pass at threshold 2^p.  `symbol(known)` sends or receives: it takes the encoder's
/// symbol and returns the actual one.
class Passes {
 public:
  explicit Passes(const Trees& trees)
      : trees_(trees), magnitude(trees.size()), negative(trees.size()), covered_(trees.size()) {}

  /// @param descendants  for the encoder: the largest magnitude at or below each coefficient
  template <typename Exchange>
  void run(int p, const std::vector<std::uint64_t>* truth, const std::vector<std::uint64_t>* descendants,
           const std::vector<std::uint8_t>* truth_negative, const Exchange& exchange) {
    for (std::size_t k = 0; k < trees_.size(); ++k) {
      const std::uint32_t parent = trees_.parent[k];
      covered_[k] = parent != Trees::no_parent && covered_[parent];
      if (covered_[k] || magnitude[k] != 0) continue;
      unsigned symbol = 0;
      if (truth) {
        if ((*truth)[k] >> p) {
          symbol = (*truth_negative)[k] ? negative_value : positive_value;
        } else {
          symbol = (*descendants)[k] >> p ? isolated_zero : zerotree_root;
        }
      }
      symbol = exchange(symbol, false);
      if (symbol == zerotree_root) covered_[k] = 1;
      if (symbol > negative_value) continue;
      magnitude[k] = std::uint64_t{1} << p;
      negative[k] = symbol == negative_value;
      fresh_.push_back(static_cast<std::uint32_t>(k));
    }
    for (const std::uint32_t k : significant_) {
      unsigned symbol = low_half;
      if (truth && ((*truth)[k] >> p & 1)) symbol = high_half;
      if (exchange(symbol, true) == high_half) magnitude[k] |= std::uint64_t{1} << p;
    }
    significant_.insert(significant_.end(), fresh_.begin(), fresh_.end());
    fresh_.clear();
  }

 private:
  const Trees& trees_;

 public:
  std::vector<std::uint64_t> magnitude;
  std::vector<std::uint8_t> negative;

 private:
  std::vector<std::uint8_t> covered_;  ///< below a zerotree of this pass
  std::vector<std::uint32_t> significant_, fresh_;
};

/// The reconstruction from magnitudes in units of `step`, known down to plane `missing`: mid points.
std::vector<double> rebuild(const Trees& trees, const Passes& state, double step, int missing, const Layout& layout,
                            int level) {
  const std::size_t rows = wavelet::low_length(layout.rows, level), cols = wavelet::low_length(layout.cols, level);
  std::vector<double> corner(rows * cols), values(rows * cols);
  const double half = std::ldexp(0.5, missing);
  for (std::size_t k = 0; k < trees.size(); ++k) {
    const std::size_t i = trees.place[k] / layout.cols, j = trees.place[k] % layout.cols;
    if (state.magnitude[k] == 0 || i >= rows || j >= cols) continue;
    const double size = (static_cast<double>(state.magnitude[k]) + half) * step;
    corner[i * cols + j] = state.negative[k] ? -size : size;
  }
  const wavelet::Levels levels{std::max(layout.levels.rows - level, 0), std::max(layout.levels.cols - level, 0)};
  wavelet::inverse(Kokkos::Serial(), wavelet::MatrixView(corner.data(), rows, cols),
                   wavelet::MatrixView(values.data(), rows, cols), levels);
  const int halvings = std::min(level, layout.levels.rows) + std::min(level, layout.levels.cols);
  if (halvings > 0)
    for (double& v : values) v *= std::exp2(-0.5 * halvings);
  return values;
}

/// Runs of equal symbols: the class of a token is the bit width of the run, its lower bits follow.
struct Tokens {
  std::vector<std::uint32_t> token;
  std::vector<std::uint64_t> run;
  void add(unsigned symbol) {
    if (!token.empty() && last_ == symbol) {
      ++run.back();
    } else {
      token.push_back(symbol);
      run.push_back(1);
      last_ = symbol;
    }
  }

 private:
  unsigned last_ = 0xFF;
};

Bytes pack(const Tokens& tokens) {
  std::vector<std::uint64_t> frequencies(symbol_count * run_classes);
  const auto of = [&](std::size_t t) {
    return tokens.token[t] * run_classes + static_cast<std::size_t>(std::bit_width(tokens.run[t]) - 1);
  };
  for (std::size_t t = 0; t < tokens.token.size(); ++t) ++frequencies[of(t)];
  const HuffmanCode code(frequencies);
  Bytes out;
  code.write(out);
  BitWriter bits;
  for (std::size_t t = 0; t < tokens.token.size(); ++t) {
    code.put(bits, of(t));
    bits.put(tokens.run[t], static_cast<int>(std::bit_width(tokens.run[t])) - 1);
  }
  out.insert(out.end(), bits.bytes().begin(), bits.bytes().end());
  return out;
}

/// Reads one symbol after the other.
class SymbolReader {
 public:
  explicit SymbolReader(ByteReader& in) : code_(in, symbol_count * run_classes), bits_(in.rest(), in.offset()) {}
  unsigned next(bool refinement) {
    if (left_ == 0) {
      const std::size_t token = code_.take(bits_);
      symbol_ = static_cast<unsigned>(token / run_classes);
      const int width = static_cast<int>(token % run_classes);
      left_ = std::uint64_t{1} << width | bits_.bits(width);
    }
    if ((symbol_ >= low_half) != refinement) throw CodecError("a symbol occurs in the wrong pass", bits_.offset());
    --left_;
    return symbol_;
  }

 private:
  HuffmanCode code_;
  BitReader bits_;
  unsigned symbol_ = 0;
  std::uint64_t left_ = 0;
};

/// A matrix with its transform, ready to be coded with any number of passes.
class EzwEncoder {
 public:
  explicit EzwEncoder(const Matrix& matrix)
      : matrix_(matrix), layout_(plain_layout(matrix.rows, matrix.cols)), trees_(layout_) {
    std::vector<double> coefficients(matrix.values.size());
    wavelet::forward(Kokkos::Serial(), wavelet::ConstMatrixView(matrix.values.data(), matrix.rows, matrix.cols),
                     wavelet::MatrixView(coefficients.data(), matrix.rows, matrix.cols), layout_.levels);
    for (const double c : coefficients) largest_ = std::max(largest_, std::abs(c));
    top_ = std::ilogb(largest_);
    coefficients_.resize(coefficients.size());
    for (std::size_t k = 0; k < trees_.size(); ++k) coefficients_[k] = coefficients[trees_.place[k]];
  }

  TileCode code(int passes, double nrmse_unit) const {
    const int exponent = top_ - passes + 1;
    std::vector<std::uint64_t> magnitude(trees_.size());
    std::vector<std::uint8_t> negative(trees_.size());
    for (std::size_t k = 0; k < magnitude.size(); ++k) {
      magnitude[k] = static_cast<std::uint64_t>(std::ldexp(std::abs(coefficients_[k]), -exponent));
      negative[k] = coefficients_[k] < 0;
    }
    std::vector<std::uint64_t> descendants = magnitude;
    for (std::size_t k = descendants.size(); k-- > 0;)
      if (trees_.parent[k] != Trees::no_parent) descendants[trees_.parent[k]] |= descendants[k];
    Passes state(trees_);
    Tokens tokens;
    for (int p = passes; p-- > 0;)
      state.run(p, &magnitude, &descendants, &negative, [&](unsigned symbol, bool) {
        tokens.add(symbol);
        return symbol;
      });
    const double step = std::ldexp(1.0, exponent);
    TileCode out;
    out.errors = measure(matrix_, rebuild(trees_, state, step, 0, layout_, 0).data());
    put_signed(out.bytes, exponent + matrix_.exponent);
    put_byte(out.bytes, static_cast<unsigned>(passes));
    put_u16(out.bytes, error_code(out.errors.rms / nrmse_unit));
    put_u16(out.bytes, error_code(out.errors.max / step));
    const Bytes body = pack(tokens);
    out.bytes.insert(out.bytes.end(), body.begin(), body.end());
    return out;
  }

 private:
  const Matrix& matrix_;
  Layout layout_;
  Trees trees_;
  std::vector<double> coefficients_;  ///< in coding order
  double largest_ = 0;
  int top_ = 0;
};

}  // namespace

TileCode encode_ezw(const Matrix& matrix, const Goal& goal) {
  const EzwEncoder encoder(matrix);
  if (goal.kind == Target::Kind::passes)
    return encoder.code(std::min(static_cast<int>(goal.value), most_passes), goal.nrmse_unit);
  TileCode best;
  for (int passes = 1; passes <= most_passes; ++passes) {
    TileCode code = encoder.code(passes, goal.nrmse_unit);
    if (goal.kind == Target::Kind::max_bytes) {
      if (static_cast<double>(code.bytes.size()) > goal.value) break;
      best = std::move(code);
      continue;
    }
    const double error = goal.kind == Target::Kind::max_error ? code.errors.max : code.errors.rms;
    if (error <= goal.value) return code;
    if (code.bytes.size() >= 8 * matrix.present) return {};
  }
  return best;
}

EzwHeader read_ezw_header(ByteReader& in) {
  EzwHeader header;
  const std::size_t at = in.offset();
  const std::int64_t exponent = in.signed_varint();
  header.passes = static_cast<int>(in.byte());
  if (exponent < -1400 || exponent > 1100) throw CodecError("the threshold is out of range", at);
  if (header.passes < 1 || header.passes > most_passes)
    throw CodecError("the number of passes is not 1 to 60", in.offset() - 1);
  header.exponent = static_cast<int>(exponent);
  header.nrmse = error_of_code(in.u16());
  header.max_error = std::ldexp(error_of_code(in.u16()), header.exponent);
  return header;
}

std::vector<double> decode_ezw(const EzwHeader& header, ByteReader& in, std::size_t rows, std::size_t cols,
                               const TileOptions& options) {
  const Layout layout = plain_layout(rows, cols);
  const Trees trees(layout);
  Passes state(trees);
  SymbolReader symbols(in);
  const int passes = options.passes == 0 ? header.passes : std::min(options.passes, header.passes);
  for (int p = header.passes; p-- > header.passes - passes;)
    state.run(p, nullptr, nullptr, nullptr, [&](unsigned, bool refinement) { return symbols.next(refinement); });
  const int shift = std::abs(header.exponent) > 300 ? header.exponent : 0;
  std::vector<double> values =
      rebuild(trees, state, std::ldexp(1.0, header.exponent - shift), header.passes - passes, layout, options.level);
  scale_back(values, shift);
  return values;
}

}  // namespace effort::codec
