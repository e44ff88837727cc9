#include "analytics/trace/version1.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "analytics/trace/coder.hpp"
#include "analytics/trace/models.hpp"
#include "analytics/trace/past.hpp"
#include "analytics/trace/times.hpp"

namespace effort::trace::version1 {

namespace {

/// Adaptive decisions of a stream.
class Decisions {
 public:
  Decisions(std::span<const std::byte> bytes, std::size_t events) : io_(bytes), models_(events) {}

  bool mixed(Contexts x, std::uint32_t mixer) { return models_.decision(io_, false, x, mixer); }
  bool plain(std::uint32_t x) { return models_.plain_decision(io_, false, x); }
  /// A number of `bits` <= 6 bits, the highest first.  Uses the mixers from `mixer` to mixer + 2^bits - 1.
  std::uint32_t small_number(int bits, Contexts x, std::uint32_t mixer) {
    std::uint32_t node = 1;
    for (int i = 0; i < bits; ++i) node = node << 1 | static_cast<std::uint32_t>(mixed(x.at(node), mixer + node));
    return node - (1u << bits);
  }
  std::uint64_t raw(int bits) { return raw_bits(io_, 0, bits); }
  bool overran() const { return io_.overran(); }

 private:
  codec::RangeDecoder io_;
  Models models_;
};

/// Events one by one.  Mixers: 0 to 15 guess, 17 new, 18 to 21 values as pointed, 22 as lately, 23 to 30 other symbols,
/// 32 to 95 sizes of other values.
class EventDecoder {
 public:
  EventDecoder(Decisions& in, SymbolRange range) : in_(in), range_(range), next_(range.known) {}

  std::uint32_t symbol(const Past& past) {
    const std::uint32_t guess = past.guess(), last = past.before(0);
    if (guess != no_symbol) {
      const Contexts x{mix(1, past.length(), misses_ & 15), mix(2, guess, last),
                       mix(mix(3, guess, last), past.before(1), past.before(2))};
      const bool right = in_.mixed(x, past.length());
      misses_ = misses_ << 1 | (right ? 0u : 1u);
      if (right) return guess;
    }
    if (next_ < range_.end && in_.mixed({7, 8, mix(9, last)}, 17)) return next_++;
    return range_.first + other(last, past.before(1));
  }

  void values(const Past& past, std::uint32_t symbol, std::span<const Value> kinds, EventValues& values) {
    static constexpr EventValues zeros{};
    const std::uint64_t* latest = past.latest_values(symbol);
    if (latest == nullptr) latest = zeros.data();
    const std::uint64_t* pointed = past.guess() == symbol ? past.guessed_values() : latest;
    for (std::size_t i = 0; i < kinds.size(); ++i) values[i] = value(symbol, kinds[i], pointed[i], latest[i]);
  }

 private:
  /// A symbol that was not guessed, as its number from the first one on.
  std::uint32_t other(std::uint32_t last, std::uint32_t before_last) {
    const Contexts x{mix(19, last), mix(20, last, before_last), 21};
    std::uint32_t number = 1;
    for (int i = std::bit_width(next_ - range_.first) - 1; i >= 0; --i)
      number = number << 1 | static_cast<std::uint32_t>(in_.mixed(x.at(number), 23u + std::min(i, 7)));
    number -= std::bit_floor(number);
    if (number >= range_.end - range_.first)
      throw TraceError("an entry of the dictionary is damaged (it uses an unknown symbol)");
    return number;
  }

  std::uint64_t value(std::uint32_t symbol, Value kind, std::uint64_t pointed, std::uint64_t latest) {
    const Contexts x{mix(10, kind, changes_ & 7), mix(11, kind, symbol), mix(mix(12, kind, symbol), changes_ & 63)};
    const bool same = in_.mixed(x, 18u + kind);
    changes_ = changes_ << 1 | (same ? 0u : 1u);
    if (same) return pointed;
    if (latest != pointed && in_.mixed({mix(13, kind), mix(14, kind, symbol), mix(15, changes_ & 63)}, 22))
      return latest;
    const Contexts size{mix(16, kind), mix(17, kind, symbol), mix(18, last_size_[kind])};
    const std::uint32_t bits = in_.small_number(6, size, 32);
    last_size_[kind] = bits;
    const std::uint64_t read = std::uint64_t{1} << bits | in_.raw(static_cast<int>(bits));
    return latest + (read >> 1 ^ -(read & 1));
  }

  Decisions& in_;
  SymbolRange range_;
  std::uint32_t next_;  ///< the first symbol that did not occur yet
  std::uint32_t misses_ = 0, changes_ = 0;
  std::array<std::uint32_t, 4> last_size_{};
};

/// Differences of time stamps.  Mixers: 32 to 95, the size.
class StampDecoder {
 public:
  StampDecoder(Decisions& in, std::size_t events, bool bounded)
      : in_(in), latest_(std::bit_ceil(std::min(events, most_places) + 1) * 4), bounded_(bounded) {}

  /// @param before, symbol, behind  the event's symbol, and those before and behind it
  /// @param doublings               set to those of the unit
  /// @return units since the decoded stamp before
  std::uint64_t next(std::uint32_t before, std::uint32_t symbol, std::uint32_t behind, std::uint32_t& doublings) {
    const std::uint32_t pair = mix(before, symbol);
    std::uint8_t& latest = latest_[pair & static_cast<std::uint32_t>(latest_.size() - 1)];
    doublings = 0;
    if (in_.plain(mix(pair, 1))) return 0;
    if (bounded_)
      while (doublings < most_doublings && !in_.plain(at_node(mix(pair, 4, behind), doublings))) ++doublings;
    const std::uint64_t units = this->units(pair, mix(doublings, 7), latest);
    // The logarithm of the difference, in quarters.
    const auto width = static_cast<std::uint32_t>(std::bit_width(units));
    const auto quarter = static_cast<std::uint32_t>(width > 2 ? units >> (width - 3) & 3 : 0);
    latest = static_cast<std::uint8_t>(std::min(4 * (width + doublings) + quarter, 255u));
    previous_ = latest / 2;
    return units;
  }

 private:
  static constexpr std::uint32_t most_doublings = 60;
  static constexpr std::size_t most_places = 1 << 12;
  static constexpr int modelled_digits = 3;

  std::uint64_t units(std::uint32_t pair, std::uint32_t scale, std::uint32_t latest) {
    const Contexts size{mix(pair, scale), mix(pair, scale, latest + 1), mix(pair, scale + 1, previous_)};
    const int levels = bounded_ ? 4 : 5;
    const std::uint32_t most = (1u << levels) - 1;
    std::uint32_t width = in_.small_number(levels, size, 32);
    if (width == most) width = in_.small_number(6, size.at(most), 32);
    const std::uint32_t digit = mix(pair, mix(scale, width));
    std::uint64_t value = 1;
    auto left = static_cast<int>(width);
    for (int i = 0; i < modelled_digits && left > 0; ++i, --left)
      value = value << 1 | static_cast<std::uint64_t>(in_.plain(at_node(digit, static_cast<std::uint32_t>(value))));
    return value << left | in_.raw(left);
  }

  Decisions& in_;
  std::vector<std::uint8_t> latest_;  ///< by pair of symbols
  std::uint32_t previous_ = 0;
  bool bounded_;
};

}  // namespace

Sequence decode_sequence(const Sequence& base, std::size_t length, SymbolRange range, const KindOf& kind,
                         std::span<const std::byte> bytes) {
  Decisions in(bytes, length);
  Past past(base, length, range, kind);
  EventDecoder decoder(in, range);
  Sequence sequence;
  sequence.symbols.reserve(length);
  EventValues values{};
  for (std::size_t i = 0; i < length; ++i) {
    const std::uint32_t symbol = decoder.symbol(past);
    const std::span<const Value> kinds = past.values_of(symbol);
    decoder.values(past, symbol, kinds, values);
    const auto coded = std::span(values).first(kinds.size());
    past.advance(symbol, coded);
    sequence.symbols.push_back(symbol);
    sequence.values.insert(sequence.values.end(), coded.begin(), coded.end());
    if (in.overran()) throw TraceError("an entry of the dictionary is damaged (it ends too early)");
  }
  return sequence;
}

std::vector<std::int64_t> decode_times(std::span<const std::uint32_t> symbols, TimeBound bound,
                                       std::span<const std::byte> bytes) {
  Decisions in(bytes, symbols.size());
  StampDecoder decoder(in, symbols.size(), !bound.is_exact());
  const std::int64_t unit = unit_of(bound);
  std::vector<std::int64_t> times;
  times.reserve(symbols.size());
  std::int64_t decoded = 0;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const std::uint32_t before = i > 0 ? symbols[i - 1] : no_symbol;
    const std::uint32_t behind = i + 1 < symbols.size() ? symbols[i + 1] : no_symbol;
    std::uint32_t doublings = 0;
    const std::uint64_t units = decoder.next(before, symbols[i], behind, doublings);
    decoded = stamp_after(decoded, unit, units, doublings);
    if (in.overran()) throw TraceError("the time stamps of a chunk are damaged");
    times.push_back(decoded);
  }
  return times;
}

}  // namespace effort::trace::version1
