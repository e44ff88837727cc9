// What a sequence's next event is guessed from.  Internal.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analytics/trace/coder.hpp"
#include "analytics/trace/models.hpp"
#include "analytics/trace/structure.hpp"

namespace effort::trace {

inline constexpr std::uint32_t no_symbol = ~std::uint32_t{0};
inline constexpr std::size_t most_values = 4;  ///< of an event
using EventValues = std::array<std::uint64_t, most_values>;

/// The past of the next event: the base, followed by the events coded so far.
///
/// A pointer into it follows the program, and the event there is the guess.
class Past {
 public:
  Past(const Sequence& base, std::size_t events, SymbolRange range, const KindOf& kind)
      : kind_(kind),
        first_(range.first),
        latest_(range.end - range.first, no_symbol),
        kinds_(latest_.size(), unknown),
        successors_(std::bit_ceil(2 * (base.symbols.size() + events) + 2), no_symbol),
        symbols_(base.symbols.size() + events),
        offsets_(symbols_.size()),
        values_(std::make_unique_for_overwrite<std::uint64_t[]>(base.values.size() + most_values * events)) {
    std::copy(base.values.begin(), base.values.end(), values_.get());
    for (const std::uint32_t symbol : base.symbols) {
      append(symbol, values_of(symbol).size());
      remember();
    }
    length_ = longest;
  }

  /// The values of a symbol.  Errors: TraceError if the symbol is not known.
  std::span<const Value> values_of(std::uint32_t symbol) {
    // A symbol of an earlier generation occurs in no base, but a damaged dictionary may claim that it does.
    if (symbol < first_ || symbol - first_ >= kinds_.size())
      throw TraceError("an entry of the dictionary is damaged (it uses an unknown symbol)");
    Kind& kind = kinds_[symbol - first_];
    if (kind == unknown) kind = kind_(symbol);
    return trace::values_of(kind);
  }

  /// The symbol before the present one, the one before that, and so on up to 2; 0 before the beginning.
  std::uint32_t before(std::size_t i) const { return before_[i]; }
  /// A hash of the last three.
  std::uint32_t recent() const { return recent_; }

  /// For how many events the pointer's guesses have been right.
  std::uint32_t length() const { return length_; }
  std::uint32_t guess() const { return at_ < end_ ? symbols_[at_] : no_symbol; }
  /// The values of the event that the pointer guesses.
  const std::uint64_t* guessed_values() const { return values_.get() + offsets_[at_]; }
  /// Values of the symbol's latest occurrence; nullptr if there is no_symbol.
  const std::uint64_t* latest_values(std::uint32_t symbol) const {
    const std::uint32_t at = latest_[symbol - first_];
    return at == no_symbol ? nullptr : values_.get() + offsets_[at];
  }

  /// Appends an event with its values and moves the pointer.
  void advance(std::uint32_t symbol, std::span<const std::uint64_t> values) {
    const bool right = guess() == symbol;
    const std::uint32_t next = at_ + 1;
    std::copy(values.begin(), values.end(), values_.get() + end_of_values_);
    append(symbol, values.size());
    if (right) {
      at_ = next;
      length_ = std::min(length_ + 1, longest);
    } else {
      follow(next);
    }
    remember();
  }

 private:
  static constexpr std::uint32_t longest = 15;
  static constexpr auto unknown = static_cast<Kind>(255);

  void remember() {
    if (end_ >= 3) successors_[successor_] = end_;
  }

  void append(std::uint32_t symbol, std::size_t n_values) {
    latest_[symbol - first_] = end_;
    symbols_[end_] = symbol;
    offsets_[end_] = end_of_values_;
    ++end_;
    end_of_values_ += static_cast<std::uint32_t>(n_values);
    before_ = {symbol, before_[0], before_[1]};
    recent_ = mix(before_[0], before_[1], before_[2]);
    successor_ = recent_ & static_cast<std::uint32_t>(successors_.size() - 1);
  }

  /// Points after the latest earlier occurrence of the last three symbols, or else to `next`.
  void follow(std::uint32_t next) {
    const std::uint32_t found = end_ < 3 ? no_symbol : successors_[successor_];
    at_ = found == no_symbol ? next : found;
    length_ = 0;
    if (found == no_symbol || found >= end_) return;
    while (length_ < longest && length_ < at_ && symbols_[at_ - 1 - length_] == symbols_[end_ - 1 - length_]) ++length_;
  }

  const KindOf& kind_;
  std::uint32_t first_;
  std::vector<std::uint32_t> latest_;      ///< place of each symbol's latest occurrence
  std::vector<Kind> kinds_;                ///< of each symbol that was needed
  std::vector<std::uint32_t> successors_;  ///< by a hash of three symbols: the place after their latest occurrence
  std::vector<std::uint32_t> symbols_, offsets_;
  std::unique_ptr<std::uint64_t[]> values_;
  std::uint32_t end_ = 0, end_of_values_ = 0;
  std::uint32_t at_ = 0, length_ = 0;
  std::array<std::uint32_t, 3> before_{};
  std::uint32_t recent_ = 0, successor_ = 0;
};

}  // namespace effort::trace
