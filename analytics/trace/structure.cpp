// Codes the sequence of symbols and values against a similar one.
//
// As long as a program repeats itself, an event is one decision: it is the guess.
#include "analytics/trace/structure.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "analytics/trace/coder.hpp"
#include "analytics/trace/models.hpp"
#include "analytics/trace/past.hpp"

namespace effort::trace {

namespace {

/// The sizes of values' differences, in bits.
constexpr codec::SymbolModel::Kind width_kind{codec::SymbolModel::uniform, 1, true};

/// Codes events one by one.  Mixers: 0 to 15 whole events, 16 guess, 17 new, 18 to 21 values as pointed, 22 as lately,
/// 23 to 30 other symbols, 31 divisible differences.
template <typename Io>
class EventCoder {
 public:
  EventCoder(Io& io, std::size_t events, SymbolRange range)
      : io_(io), models_(events), widths_(events, width_kind), range_(range), next_(range.known) {}

  struct Coded {
    std::uint32_t symbol;
    std::size_t n_values;
  };
  /// @param symbol, values  the event; a decoder ignores the symbol, and sets the values
  Coded event(Past& past, std::uint32_t symbol, EventValues& values) {
    const std::uint32_t guess = past.guess();
    if (guess == no_symbol) {
      symbol = unguessed(past, symbol);
    } else {
      const std::size_t n = past.values_of(guess).size();
      const std::uint64_t* const guessed = past.guessed_values();
      const bool as_guessed = symbol == guess && std::equal(guessed, guessed + n, values.data());
      if (models_.decision(io_, as_guessed, whole_event(past, guess, n > 0), past.length())) {
        misses_ <<= 1;
        if (n > 0) changes_ <<= 1;
        std::copy_n(guessed, n, values.data());
        return {guess, n};
      }
      misses_ = misses_ << 1 | 1;
      const Contexts x{mix(3, past.length()), mix(4, guess, past.before(0)), mix(5, guess)};
      const bool other_values = n > 0 && models_.decision(io_, symbol == guess, x, 16);
      symbol = other_values ? guess : unguessed(past, symbol);
    }
    const std::span<const Value> kinds = past.values_of(symbol);
    this->values(past, symbol, kinds, values.data());
    return {symbol, kinds.size()};
  }

 private:
  Contexts whole_event(const Past& past, std::uint32_t guess, bool has_values) const {
    const std::uint32_t hits = misses_ & 15, third = at_node(past.recent(), guess);
    if (!has_values) return {mix(1, past.length() * 4, hits), mix(2, guess, past.before(0)), third};
    return {mix(1, past.length() * 4 + (changes_ & 3), hits), mix(2, guess, changes_ & 15), third};
  }

  std::uint32_t unguessed(const Past& past, std::uint32_t symbol) {
    if (next_ < range_.end) {
      const Contexts x{7, 8, mix(9, past.before(0))};
      if (models_.decision(io_, symbol == next_, x, 17)) return next_++;
    }
    return range_.first + other(symbol, past.before(0), past.before(1));
  }

  void values(const Past& past, std::uint32_t symbol, std::span<const Value> kinds, std::uint64_t* values) {
    static constexpr EventValues zeros{};
    const std::uint64_t* latest = past.latest_values(symbol);
    if (latest == nullptr) latest = zeros.data();
    const std::uint64_t* pointed = past.guess() == symbol ? past.guessed_values() : latest;
    for (std::size_t i = 0; i < kinds.size(); ++i)
      values[i] = value(symbol, kinds[i], values[i], pointed[i], latest[i]);
  }

  /// A symbol that was not guessed, as its number from the first one on.
  std::uint32_t other(std::uint32_t symbol, std::uint32_t last, std::uint32_t before_last) {
    const Contexts x{mix(19, last), mix(20, last, before_last), 21};
    std::uint32_t number = 1;
    for (int i = std::bit_width(next_ - range_.first) - 1; i >= 0; --i) {
      const bool bit = ((symbol - range_.first) >> i & 1) != 0;
      number = number << 1 | static_cast<std::uint32_t>(models_.decision(io_, bit, x.at(number), 23u + std::min(i, 7)));
    }
    number -= std::bit_floor(number);
    if (number >= range_.end - range_.first)
      throw TraceError("an entry of the dictionary is damaged (it uses an unknown symbol)");
    return number;
  }

  std::uint64_t value(std::uint32_t symbol, Value kind, std::uint64_t value, std::uint64_t pointed,
                      std::uint64_t latest) {
    const Contexts x{mix(10, kind, changes_ & 7), mix(11, kind, symbol), mix(mix(12, kind, symbol), changes_ & 63)};
    const bool same = models_.decision(io_, value == pointed, x, 18u + kind);
    changes_ = changes_ << 1 | (same ? 0u : 1u);
    if (same) return pointed;
    if (latest != pointed) {
      const Contexts y{mix(13, kind), mix(14, kind, symbol), mix(15, changes_ & 63)};
      if (models_.decision(io_, value == latest, y, 22)) return latest;
    }
    return latest + static_cast<std::uint64_t>(difference(symbol, kind, static_cast<std::int64_t>(value - latest)));
  }

  /// A difference, never 0, in units of the common divisor of earlier ones: sizes of messages are often multiples of a
  /// record's size.
  std::int64_t difference(std::uint32_t symbol, Value kind, std::int64_t difference) {
    std::uint64_t& unit = units_[mix(20, symbol, kind) >> 22];
    std::int64_t divisor = 1;
    if (unit > 1) {
      const auto likely = static_cast<std::int64_t>(unit);
      const Contexts x{mix(6, kind), mix(16, kind, symbol), mix(7, kind)};
      if (models_.decision(io_, difference % likely == 0, x, 31)) divisor = likely;
    }
    const auto quotient = static_cast<std::uint64_t>(signed_size(difference / divisor, symbol, kind));
    difference = static_cast<std::int64_t>(quotient * static_cast<std::uint64_t>(divisor));
    if (divisor == 1) {
      const std::uint64_t size = difference < 0 ? -static_cast<std::uint64_t>(difference) : quotient;
      unit = std::gcd(unit, size) & ~(std::uint64_t{1} << 63);
    }
    return difference;
  }

  /// A number other than 0: the sign is the lowest bit, and the bits below the highest are as they are.
  std::int64_t signed_size(std::int64_t value, std::uint32_t symbol, Value kind) {
    const std::uint64_t coded = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
    const std::uint32_t width = this->width(static_cast<std::uint32_t>(std::bit_width(coded | 1)) - 1, symbol, kind);
    const std::uint64_t top = std::uint64_t{1} << width;
    const std::uint64_t read = top | raw_bits(io_, coded & (top - 1), static_cast<int>(width));
    return static_cast<std::int64_t>(read >> 1 ^ -(read & 1));
  }

  std::uint32_t width(std::uint32_t value, std::uint32_t symbol, Value kind) {
    const std::uint32_t x = mix(17, kind, symbol), y = mix(18, last_width_[kind], kind);
    return last_width_[kind] = widths_.number(io_, value, 63, mix(19, kind), x, y);
  }

  Io& io_;
  Models models_;
  SymbolTable widths_;
  SymbolRange range_;
  std::uint32_t next_;  ///< the first symbol that did not occur yet
  std::uint32_t misses_ = 0, changes_ = 0;
  std::array<std::uint32_t, 4> last_width_{};
  std::array<std::uint64_t, 1024> units_{};  ///< by a hash of symbol and kind of value
};

}  // namespace

std::vector<std::byte> encode_sequence(const Sequence& base, const Sequence& sequence, SymbolRange range,
                                       const KindOf& kind) {
  codec::RangeEncoder io;
  Past past(base, sequence.symbols.size(), range, kind);
  EventCoder coder(io, sequence.symbols.size(), range);
  std::size_t at = 0;
  EventValues values{};
  for (const std::uint32_t symbol : sequence.symbols) {
    io.reserve(1024);
    std::copy_n(sequence.values.data() + at, std::min(most_values, sequence.values.size() - at), values.data());
    const std::size_t n = coder.event(past, symbol, values).n_values;
    past.advance(symbol, std::span(values).first(n));
    at += n;
  }
  return io.finish();
}

Sequence decode_sequence(const Sequence& base, std::size_t length, SymbolRange range, const KindOf& kind,
                         std::span<const std::byte> bytes) {
  codec::RangeDecoder io(bytes);
  Past past(base, length, range, kind);
  EventCoder coder(io, length, range);
  Sequence sequence;
  sequence.symbols.reserve(length);
  for (std::size_t i = 0; i < length; ++i) {
    EventValues values{};
    const auto [symbol, n] = coder.event(past, no_symbol, values);
    const auto coded = std::span(values).first(n);
    past.advance(symbol, coded);
    sequence.symbols.push_back(symbol);
    sequence.values.insert(sequence.values.end(), coded.begin(), coded.end());
    if (io.overran()) throw TraceError("an entry of the dictionary is damaged (it ends too early)");
  }
  return sequence;
}

}  // namespace effort::trace
