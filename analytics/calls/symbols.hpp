// Codes the next symbol of a list of calls: the end of the list, an earlier call, or a new one.  Encoder and
// decoder run the same code, with a RangeEncoder or a RangeDecoder.
//
// Several contexts guess it: the last list of the same function, along which this one is aligned, and the preceding
// symbols, each of which remembers the symbol that followed it last time.  Their guesses are tried in turn, each with
// one decision whose probability is mixed from how often each context has been right recently (logistic mixing).  If no
// guess is right, the function is coded, and then which of its calls.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "analytics/codec/bit_model.hpp"
#include "analytics/codec/range_coder.hpp"

namespace effort::calls {

/// The end of a list, a call that is known by its node, or a new call of a function.
struct Symbol {
  enum class Kind : std::uint8_t { end, known, fresh };
  Kind kind = Kind::end;
  std::uint32_t value = 0;  ///< node, or function
};

constexpr std::uint32_t hashed(std::uint32_t a, std::uint32_t b) {
  std::uint64_t h = (std::uint64_t{a} << 32 | b) * 0x9E3779B97F4A7C15ull;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9ull;
  return static_cast<std::uint32_t>(h >> 32);
}

inline constexpr std::size_t n_contexts = 5;

/// The memory of a context: the symbols that came in it.
struct Slot {
  std::uint16_t check = 0;
  std::uint8_t hits = 0, misses = 0;
  std::uint32_t symbol = 0;  ///< 0: none yet
  std::uint32_t second = 0;  ///< the previous guess
};

/// A list that is being coded, with the history from which its contexts are formed.
struct ListState {
  std::uint32_t function = 0;           ///< + 1; 0: outside of calls
  std::uint32_t prefix = 0;             ///< hash of the list so far
  std::vector<std::uint32_t> symbols;   ///< so far
  std::size_t place = 0;                ///< of the next symbol, in the last list of the function
  std::uint32_t unsure = 0;             ///< symbols for which the place is still searched for
  Slot aligned;                         ///< the guess of that list
  std::array<std::uint32_t, 3> last{};  ///< the last symbols: 0: none, or node + 2
  std::array<std::uint32_t, 3> last_functions{};
  std::array<Slot*, n_contexts> slots{};  ///< where the current symbol's contexts keep their guesses; 0: aligned
};

class SymbolCoder {
 public:
  SymbolCoder();

  /// @param functions  of the nodes known so far
  /// @param n_functions  known so far; a symbol may be a new call of function n_functions, which is then new itself
  template <typename Io>
  Symbol code(Io& io, Symbol symbol, ListState& list, const std::vector<std::uint32_t>& functions,
              std::uint32_t n_functions);

  /// The symbol was a known node, or has become node `node`: contexts learn it, and the list moves on.
  void learn(ListState& list, std::uint32_t node, std::uint32_t function, bool fresh);
  void learn_end(ListState& list);
  /// The list will not be continued.  Later lists of the function are expected to be like it.
  void keep(ListState& list);
  /// A return outside of calls.
  void learn_stray(ListState& list);

  template <typename Io>
  std::uint32_t code_count(Io& io, std::uint32_t count, const ListState& list);

  /// Codes an unsigned number; `context` identifies numbers that resemble each other.
  template <typename Io>
  std::uint64_t number(Io& io, std::uint64_t value, std::uint32_t context);

 private:
  static constexpr std::uint32_t end_symbol = 1, first_node = 2;
  static constexpr int table_bits = 15, models_bits = 16;

  template <typename Io>
  bool decision(Io& io, bool bit, std::uint32_t context);
  /// A decision of a count.
  template <typename Io>
  bool mixed(Io& io, bool bit, const std::array<std::uint32_t, 3>& contexts, std::uint32_t node);
  template <typename Io>
  std::uint32_t code_other_count(Io& io, std::uint32_t count, const std::array<std::uint32_t, 3>& contexts);
  template <typename Io>
  bool guess(Io& io, bool right, std::uint32_t symbol, int attempt, ListState& list);
  void find_slots(ListState& list);
  void learn_symbol(ListState& list, std::uint32_t symbol);
  /// Finds the list's place in the last one of its function.
  void align(ListState& list) const;
  const std::vector<std::uint32_t>& last_list(const ListState& list) const {
    static const std::vector<std::uint32_t> none;
    return list.function < last_lists_.size() ? last_lists_[list.function] : none;
  }
  static Slot& slot(ListState& list, std::size_t i) { return i == 0 ? list.aligned : *list.slots[i]; }

  std::vector<std::vector<std::uint32_t>> last_lists_;  ///< by function + 1
  std::vector<Slot> slots_;                             ///< [contexts but the first][hash]
  std::vector<codec::BitModel> models_;                 ///< by hashed context
  std::vector<codec::BitModel> guess_models_;           ///< by context, its record and whether it agrees
  std::vector<codec::Mixer> mixers_, count_mixers_;
  std::vector<std::vector<std::uint32_t>> nodes_of_;  ///< by function, oldest first
  std::vector<std::uint32_t> last_counts_;
};

template <typename Io>
bool SymbolCoder::decision(Io& io, bool bit, std::uint32_t context) {
  codec::BitModel& model = models_[(context * 0x9E3779B1u) >> (32 - models_bits)];
  bit = io.code(bit, model.probability());
  model.update(bit);
  return bit;
}

template <typename Io>
std::uint64_t SymbolCoder::number(Io& io, std::uint64_t value, std::uint32_t context) {
  // The number of bits in unary, the two bits after the first in context, the rest with even odds.
  const int bits = static_cast<int>(std::bit_width(value));
  int n = 0;
  while (n < 64 && decision(io, n < bits, hashed(context, 1000 + static_cast<std::uint32_t>(n)))) ++n;
  if (n <= 1) return static_cast<std::uint64_t>(n);
  std::uint64_t out = 1;
  for (int i = n - 2; i >= 0; --i) {
    const bool bit = (value >> i & 1) != 0;
    const bool found =
        out < 64
            ? decision(io, bit, hashed(context, static_cast<std::uint32_t>(n << 8) | static_cast<std::uint32_t>(out)))
            : io.code_raw(bit);
    out = out << 1 | static_cast<std::uint64_t>(found);
  }
  return out;
}

template <typename Io>
bool SymbolCoder::guess(Io& io, bool right, std::uint32_t symbol, int attempt, ListState& list) {
  std::array<codec::BitModel*, n_contexts> inputs;
  std::uint32_t agreement = 0;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < n_contexts; ++i) {
    const Slot& s = slot(list, i);
    const std::uint32_t view = s.symbol == 0 ? 0 : s.symbol == symbol ? 1 : s.second == symbol ? 2 : 3;
    agreement = agreement * 2 + (view == 1);
    const std::uint32_t record = std::min<std::uint32_t>(s.hits, 15) * 4 + s.misses;
    inputs[i] = &guess_models_[((static_cast<std::uint32_t>(attempt) * n_contexts + i) * 4 + view) * 64 + record];
  }
  // How often the symbol has recently come in place of others: for loops of random length.
  inputs[n_contexts - 1] =
      &models_[(hashed(hashed(list.function, symbol), static_cast<std::uint32_t>(attempt) << 8 | 8) * 0x9E3779B1u) >>
               (32 - models_bits)];
  io.reserve(4);
  return mixers_[static_cast<std::size_t>(attempt) << n_contexts | agreement].code(io, right, inputs);
}

template <typename Io>
Symbol SymbolCoder::code(Io& io, Symbol symbol, ListState& list, const std::vector<std::uint32_t>& functions,
                         std::uint32_t n_functions) {
  find_slots(list);
  io.reserve(512);
  // The guesses, without repetition; a list has no node twice in a row.  The first one is usually right.
  constexpr std::size_t most = 4;
  std::array<std::uint32_t, most> guesses;
  std::size_t proposed = 0;
  const auto next_guess = [&](std::size_t n) -> std::uint32_t {
    while (proposed < 2 * n_contexts) {
      const Slot& s = slot(list, proposed < n_contexts ? proposed : proposed - n_contexts);
      const std::uint32_t guess = proposed++ < n_contexts ? s.symbol : s.second;
      if (guess == 0 || guess == list.last[0] ||
          std::find(guesses.begin(), guesses.begin() + n, guess) != guesses.begin() + n)
        continue;
      return guess;
    }
    return 0;
  };

  const auto function_of = [&](std::uint32_t guess) {
    return guess == end_symbol ? ~0u : functions[guess - first_node];
  };
  const std::uint32_t wanted = symbol.kind == Symbol::Kind::end     ? end_symbol
                               : symbol.kind == Symbol::Kind::known ? symbol.value + first_node
                                                                    : 0;
  const std::uint32_t wanted_function = symbol.kind == Symbol::Kind::end     ? ~0u
                                        : symbol.kind == Symbol::Kind::known ? functions[symbol.value]
                                                                             : symbol.value;
  std::uint32_t function = ~0u;
  bool function_known = false;
  for (std::size_t j = 0; j < most; ++j) {
    guesses[j] = next_guess(j);
    if (guesses[j] == 0) break;
    const std::uint32_t f = function_of(guesses[j]);
    if (function_known && f != function) continue;
    if (guess(io, guesses[j] == wanted, guesses[j], static_cast<int>(j), list))
      return guesses[j] == end_symbol ? Symbol{Symbol::Kind::end, 0}
                                      : Symbol{Symbol::Kind::known, guesses[j] - first_node};
    if (function_known || f == ~0u) continue;
    // Another call of the same function?
    bool tried = false;
    for (std::size_t k = 0; k < j; ++k) tried = tried || function_of(guesses[k]) == f;
    if (tried) continue;
    if (decision(io, wanted_function == f, hashed(hashed(list.function, f), 7 + static_cast<std::uint32_t>(j)))) {
      function = f;
      function_known = true;
    }
  }
  if (!function_known) {
    // The end, or a function by its number, bit by bit; n_functions stands for one that is new.
    if (decision(io, symbol.kind == Symbol::Kind::end, hashed(list.function, 3))) return {Symbol::Kind::end, 0};
    const int bits = static_cast<int>(std::bit_width(n_functions));
    std::uint32_t code = 1;
    if (decision(io, wanted_function == n_functions, hashed(list.function, 4))) {
      function = n_functions;
    } else {
      for (int i = bits - 1; i >= 0; --i)
        code = code << 1 |
               static_cast<std::uint32_t>(decision(io, (wanted_function >> i & 1) != 0,
                                                   hashed(hashed(list.function, list.last_functions[0]), code + 100)));
      function = code - (1u << bits);
    }
  }
  if (function >= n_functions) return {Symbol::Kind::fresh, function};
  if (nodes_of_.size() <= function) nodes_of_.resize(function + 1);
  const std::vector<std::uint32_t>& nodes = nodes_of_[function];
  const bool fresh =
      nodes.empty() || decision(io, symbol.kind == Symbol::Kind::fresh, hashed(hashed(list.function, function), 5));
  if (fresh) return {Symbol::Kind::fresh, function};
  // The node by its age among those of the function.
  std::uint64_t age = 0;
  if constexpr (Io::encoding)
    age = static_cast<std::uint64_t>(nodes.end() - std::ranges::lower_bound(nodes, symbol.value)) - 1;
  age = number(io, age, hashed(function, 6));
  return {Symbol::Kind::known, age < nodes.size() ? nodes[nodes.size() - 1 - age] : ~0u};
}

template <typename Io>
bool SymbolCoder::mixed(Io& io, bool bit, const std::array<std::uint32_t, 3>& contexts, std::uint32_t node) {
  std::array<codec::BitModel*, 3> inputs;
  for (std::size_t i = 0; i < 3; ++i)
    inputs[i] = &models_[(hashed(contexts[i], node) * 0x9E3779B1u) >> (32 - models_bits)];
  return count_mixers_[std::min<std::uint32_t>(node, 127)].code(io, bit, inputs);
}

template <typename Io>
std::uint32_t SymbolCoder::code_other_count(Io& io, std::uint32_t count, const std::array<std::uint32_t, 3>& contexts) {
  const std::uint32_t value = count - 1;
  const int bits = static_cast<int>(std::bit_width(value));
  int n = 0;
  while (n < 32 && mixed(io, n < bits, contexts, 1 + static_cast<std::uint32_t>(n))) ++n;
  std::uint32_t out = n > 0 ? 1 : 0;
  for (int i = n - 2; i >= 0; --i) {
    const bool bit = (value >> i & 1) != 0;
    const bool found = out < 64 ? mixed(io, bit, contexts, static_cast<std::uint32_t>(n) << 6 | out) : io.code_raw(bit);
    out = out << 1 | static_cast<std::uint32_t>(found);
  }
  return out + 1;
}

template <typename Io>
std::uint32_t SymbolCoder::code_count(Io& io, std::uint32_t count, const ListState& list) {
  const std::uint32_t place = hashed(hashed(list.last[0], list.last[1]), list.function);
  std::uint32_t& last = last_counts_[place >> (32 - models_bits)];
  const std::uint32_t functions = hashed(list.function, list.last_functions[0]);
  const std::array<std::uint32_t, 3> contexts{hashed(place, 10), hashed(functions, 11),
                                              hashed(functions, std::min(last, 255u) + 12)};
  io.reserve(256);
  // As often as at the same place last time?
  std::array<codec::BitModel*, 3> inputs;
  for (std::size_t k = 0; k < 3; ++k)
    inputs[k] = &models_[(hashed(contexts[k], 0) * 0x9E3779B1u) >> (32 - models_bits)];
  if (count_mixers_[0].code(io, count == last, inputs)) return last;
  return last = code_other_count(io, count, contexts);
}

}  // namespace effort::calls
