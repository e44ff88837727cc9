// Adaptive probabilities of one of sixteen symbols: one step of the range coder, where bit by bit it would be four.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace effort::codec {

/// How probable each of 16 symbols is, learned from earlier ones, quickly at first and then more and more slowly.
class SymbolModel {
 public:
  static constexpr std::uint32_t n_symbols = 16;
  static constexpr int bits = 15;
  static constexpr std::uint32_t whole = 1u << bits;

  /// How models of one use start, and how they learn.
  struct Kind {
    std::array<std::uint16_t, n_symbols> initial;  ///< probability of lower symbols, ascending by at least one
    int quickest;     ///< the first symbol moves the probabilities by 2^-quickest of the way, at most `slowest`
    bool neighbours;  ///< whether the first few symbols make their neighbours more probable, too
  };
  static constexpr int slowest = 5;

  /// All symbols are equally probable.
  static constexpr std::array<std::uint16_t, n_symbols> uniform = [] {
    std::array<std::uint16_t, n_symbols> below{};
    for (std::uint32_t s = 0; s < n_symbols; ++s) below[s] = static_cast<std::uint16_t>(s * whole / n_symbols);
    return below;
  }();

  explicit SymbolModel(const Kind& kind) : below_(kind.initial) {}

  /// The probability of all lower symbols, in units of 1 / whole.
  std::uint32_t below(std::uint32_t symbol) const { return symbol == 0 ? 0 : below_[symbol]; }
  std::uint32_t up_to(std::uint32_t symbol) const { return symbol + 1 == n_symbols ? whole : below_[symbol + 1]; }
  std::uint32_t share(std::uint32_t symbol) const { return up_to(symbol) - below(symbol); }

  /// How many symbols it learned from, in classes.
  std::size_t experience() const { return classes_[seen()]; }
  static constexpr std::size_t n_experiences = 8;

  void update(std::uint32_t symbol, const Kind& kind) {
    // Two vectors of eight: this is most of the cost of a symbol.
    using Row = std::int16_t __attribute__((vector_size(16)));
    const std::uint16_t n = seen();
    const std::uint16_t* target = (kind.neighbours && n < few ? targets_<true> : targets_<false>)[symbol].data();
    const auto rate = static_cast<std::int16_t>(std::max<int>(rates_[n], kind.quickest));
    for (std::size_t i = 0; i < n_symbols; i += 8) {
      Row to, at;
      std::memcpy(&to, target + i, sizeof to);
      std::memcpy(&at, &below_[i], sizeof at);
      at += (to - at) >> rate;
      std::memcpy(&below_[i], &at, sizeof at);
    }
    below_[0] = std::min<std::uint16_t>(n + 1, most_seen);
  }

 private:
  using Row16 = std::array<std::uint16_t, n_symbols>;
  static constexpr std::uint16_t most_seen = 31, few = 4;
  static constexpr std::uint32_t least = 8;  ///< a symbol's probability stays above this, in units of 1 / whole

  /// Nothing is below symbol 0, so its place counts.
  std::uint16_t seen() const { return below_[0]; }

  static constexpr std::array<std::uint8_t, most_seen + 1> rates_ = [] {
    std::array<std::uint8_t, most_seen + 1> rates{};
    for (std::uint32_t n = 0; n <= most_seen; ++n)
      rates[n] = static_cast<std::uint8_t>(n < 1 ? 1 : n < 3 ? 2 : n < 9 ? 3 : n < 28 ? 4 : slowest);
    return rates;
  }();
  static constexpr std::array<std::uint8_t, most_seen + 1> classes_ = [] {
    std::array<std::uint8_t, most_seen + 1> classes{};
    for (std::uint32_t n = 0; n <= most_seen; ++n)
      classes[n] = static_cast<std::uint8_t>(n < 3 ? n : n < 5 ? 3 : n < 8 ? 4 : n < 14 ? 5 : n < 30 ? 6 : 7);
    return classes;
  }();

  /// The probabilities below each symbol if one is certain, or if it has 24 times the probability of its neighbours'
  /// neighbours and 8 times that of its neighbours.
  template <bool Spread>
  static constexpr std::array<Row16, n_symbols> targets_ = [] {
    std::array<Row16, n_symbols> rows{};
    for (std::uint32_t s = 0; s < n_symbols; ++s) {
      std::array<std::uint32_t, n_symbols> weight{};
      std::uint32_t sum = 0;
      for (std::uint32_t i = 0; i < n_symbols; ++i) {
        const std::uint32_t distance = i < s ? s - i : i - s;
        weight[i] = distance == 0 ? 24 : !Spread ? 0 : distance == 1 ? 3 : distance == 2 ? 1 : 0;
        sum += weight[i];
      }
      std::uint32_t lower = 0;
      for (std::uint32_t i = 0; i < n_symbols; ++i) {
        rows[s][i] = static_cast<std::uint16_t>(i * least + (whole - n_symbols * least) * lower / sum);
        lower += weight[i];
      }
    }
    return rows;
  }();

  Row16 below_;
};
static_assert(sizeof(SymbolModel) == 32);

/// Weights two models' predictions by which of them gave the better ones lately, given their experience.
class SymbolMixer {
 public:
  /// Weight of the first model in units of 1/65536.
  std::uint16_t& weight(const SymbolModel& a, const SymbolModel& b) {
    return weights_[a.experience() * SymbolModel::n_experiences + b.experience()];
  }
  static void learn(std::uint16_t& weight, bool first_was_better) {
    constexpr int most = 64000, least = 1500, rate = 5;
    weight = static_cast<std::uint16_t>(weight + (((first_was_better ? most : least) - int{weight}) >> rate));
  }

 private:
  std::array<std::uint16_t, SymbolModel::n_experiences* SymbolModel::n_experiences> weights_ = [] {
    std::array<std::uint16_t, SymbolModel::n_experiences * SymbolModel::n_experiences> weights{};
    for (std::uint32_t a = 0; a < SymbolModel::n_experiences; ++a)
      for (std::uint32_t b = 0; b < SymbolModel::n_experiences; ++b)
        weights[a * SymbolModel::n_experiences + b] =
            static_cast<std::uint16_t>(65536 * (2 * a + 1) / (2 * (a + b + 1)));
    return weights;
  }();
};

/// Codes a symbol by `io`: encodes `symbol`, or finds it.
template <typename Io>
[[gnu::always_inline]] inline std::uint32_t code_symbol(Io& io, std::uint32_t symbol, SymbolModel& model,
                                                        const SymbolModel::Kind& kind) {
  if constexpr (!Io::encoding) {
    const std::uint32_t at = io.look(SymbolModel::bits);
    symbol = 0;
    while (model.up_to(symbol) <= at) ++symbol;
  }
  io.code_part(model.below(symbol), model.share(symbol), SymbolModel::bits);
  model.update(symbol, kind);
  return symbol;
}

/// The same with the mixed prediction of two models of the same kind.
template <typename Io>
[[gnu::always_inline]] inline std::uint32_t code_symbol(Io& io, std::uint32_t symbol, SymbolModel& a, SymbolModel& b,
                                                        SymbolMixer& mixer, const SymbolModel::Kind& kind) {
  std::uint16_t& weight = mixer.weight(a, b);
  const std::uint32_t first = weight, second = 65536 - first;
  const auto mixed = [&](std::uint32_t x, std::uint32_t y) { return (first * x + second * y) >> 16; };
  if constexpr (!Io::encoding) {
    const std::uint32_t at = io.look(SymbolModel::bits);
    symbol = 0;
    while (mixed(a.up_to(symbol), b.up_to(symbol)) <= at) ++symbol;
  }
  const std::uint32_t below = mixed(a.below(symbol), b.below(symbol));
  io.code_part(below, mixed(a.up_to(symbol), b.up_to(symbol)) - below, SymbolModel::bits);
  SymbolMixer::learn(weight, a.share(symbol) > b.share(symbol));
  a.update(symbol, kind);
  if (&a != &b) b.update(symbol, kind);
  return symbol;
}

}  // namespace effort::codec
