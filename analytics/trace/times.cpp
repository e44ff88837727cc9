// Codes time stamps as the time since the decoded stamp before, in units that the bound allows.
//
// The unit is 2 * absolute + 1 ns, doubled as often as the gaps before and after allow, so that a short call next to a
// long wait keeps its length.  Because the difference is taken from the decoded stamp, errors do not add up.
#include "analytics/trace/times.hpp"

#include <algorithm>
#include <bit>

#include "analytics/trace/coder.hpp"
#include "analytics/trace/models.hpp"

namespace effort::trace {

namespace {

constexpr std::uint32_t most_doublings = 60;

/// Codes the differences.  Mixers: 32 to 95, the size.
template <typename Io>
class StampCoder {
 public:
  StampCoder(Io& io, std::size_t events, TimeBound bound)
      : io_(io),
        models_(events),
        latest_(std::bit_ceil(std::min(events, most_places) + 1) * 4),
        bounded_(!bound.is_exact()) {}

  struct Stamp {
    std::uint64_t units = 0;      ///< since the decoded stamp before
    std::uint32_t doublings = 0;  ///< of the unit; if there are any, `units` is not 0
  };

  /// @param symbols  the event's, and those before and behind it
  Stamp code(std::uint32_t before, std::uint32_t symbol, std::uint32_t behind, Stamp stamp) {
    const std::uint32_t pair = mix(before, symbol);
    std::uint8_t& latest = latest_[pair & static_cast<std::uint32_t>(latest_.size() - 1)];
    if (models_.plain_decision(io_, stamp.units == 0, mix(pair, 1))) return {};
    if (bounded_) stamp.doublings = doublings(stamp.doublings, pair, behind);
    stamp.units = units(stamp, pair, latest);
    remember(stamp, latest);
    return stamp;
  }

 private:
  static constexpr std::size_t most_places = 1 << 12;
  static constexpr int modelled_digits = 3;

  std::uint32_t doublings(std::uint32_t value, std::uint32_t pair, std::uint32_t behind) {
    const std::uint32_t x = mix(pair, 4, behind);
    std::uint32_t n = 0;
    while (n < most_doublings && !models_.plain_decision(io_, value == n, at_node(x, n))) ++n;
    return n;
  }

  /// Codes the size and the leading binary digits with models, and the other digits unmodelled.
  std::uint64_t units(Stamp stamp, std::uint32_t pair, std::uint32_t latest) {
    const std::uint32_t scale = mix(stamp.doublings, 7);
    const Contexts size{mix(pair, scale), mix(pair, scale, latest + 1), mix(pair, scale + 1, previous_)};
    const auto width =
        static_cast<int>(this->width(static_cast<std::uint32_t>(std::bit_width(stamp.units | 1)) - 1, size));
    const std::uint32_t there = mix(scale, static_cast<std::uint32_t>(width));
    const std::uint32_t digit = mix(pair, there);
    std::uint64_t value = 1;
    int left = width;
    for (int i = 0; i < modelled_digits && left > 0; ++i) {
      --left;
      const auto node = static_cast<std::uint32_t>(value);
      const bool one = (stamp.units >> left & 1) != 0;
      value = value << 1 | static_cast<std::uint64_t>(models_.plain_decision(io_, one, at_node(digit, node)));
    }
    return value << left | raw_bits(io_, stamp.units & ((std::uint64_t{1} << left) - 1), left);
  }

  /// Few decisions for ordinary sizes, more for the others.
  std::uint32_t width(std::uint32_t value, Contexts x) {
    const int levels = bounded_ ? 4 : 5;
    const std::uint32_t most = (1u << levels) - 1;
    const std::uint32_t ordinary = models_.small_number(io_, std::min(value, most), levels, x, 32);
    return ordinary < most ? ordinary : models_.small_number(io_, value, 6, x.at(most), 32);
  }

  /// Keeps the logarithm of the difference, in quarters.
  void remember(Stamp stamp, std::uint8_t& latest) {
    const auto width = static_cast<std::uint32_t>(std::bit_width(stamp.units));
    const auto next = static_cast<std::uint32_t>(width > 2 ? stamp.units >> (width - 3) & 3 : 0);
    latest = static_cast<std::uint8_t>(std::min(4 * (width + stamp.doublings) + next, 255u));
    previous_ = latest / 2;
  }

  Io& io_;
  Models models_;
  std::vector<std::uint8_t> latest_;  ///< by pair of symbols
  std::uint32_t previous_ = 0;
  bool bounded_;
};

std::int64_t unit_of(TimeBound bound) { return bound.is_exact() ? 1 : 2 * std::int64_t{bound.absolute_ns} + 1; }

/// The gap after each event: the time to the next later one.
std::vector<std::int64_t> gaps_behind(std::span<const std::int64_t> times) {
  std::vector<std::int64_t> gaps(times.size());
  std::int64_t gap = most_time;
  for (std::size_t i = times.size(); i-- > 0;) {
    if (i + 1 < times.size() && times[i + 1] != times[i]) gap = times[i + 1] - times[i];
    gaps[i] = gap;
  }
  return gaps;
}

/// How often the unit may double: half of it is the largest error.
std::uint32_t doublings(std::int64_t unit, std::int64_t allowed) {
  return std::min(static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(allowed / unit))),
                  most_doublings);
}

}  // namespace

std::vector<std::byte> encode_times(std::span<const std::uint32_t> symbols, std::span<const std::int64_t> times,
                                    TimeBound bound, std::vector<std::int64_t>* decoded_times) {
  using Coder = StampCoder<codec::RangeEncoder>;
  codec::RangeEncoder io;
  Coder coder(io, symbols.size(), bound);
  if (decoded_times != nullptr) {
    decoded_times->clear();
    decoded_times->reserve(times.size());
  }
  const std::vector<std::int64_t> behind = bound.is_exact() ? std::vector<std::int64_t>{} : gaps_behind(times);
  const std::int64_t unit = unit_of(bound);
  std::int64_t decoded = 0, last = 0;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    io.reserve(1024);
    typename Coder::Stamp stamp;
    const std::int64_t gap = times[i] - last;
    last = times[i];
    if (gap > 0 && times[i] > decoded) {
      if (!bound.is_exact()) stamp.doublings = doublings(unit, bound.allowed(std::min(gap, behind[i])));
      const std::int64_t large = unit << stamp.doublings;
      stamp.units = static_cast<std::uint64_t>((times[i] - decoded + large / 2) / large);
    }
    stamp = coder.code(i > 0 ? symbols[i - 1] : ~0u, symbols[i], i + 1 < symbols.size() ? symbols[i + 1] : ~0u, stamp);
    decoded += static_cast<std::int64_t>(stamp.units) * (unit << stamp.doublings);
    if (decoded_times != nullptr) decoded_times->push_back(decoded);
  }
  return io.finish();
}

std::vector<std::int64_t> decode_times(std::span<const std::uint32_t> symbols, TimeBound bound,
                                       std::span<const std::byte> bytes) {
  using Coder = StampCoder<codec::RangeDecoder>;
  codec::RangeDecoder io(bytes);
  Coder coder(io, symbols.size(), bound);
  const std::int64_t unit = unit_of(bound);
  std::vector<std::int64_t> times;
  times.reserve(symbols.size());
  std::int64_t decoded = 0;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const typename Coder::Stamp stamp =
        coder.code(i > 0 ? symbols[i - 1] : ~0u, symbols[i], i + 1 < symbols.size() ? symbols[i + 1] : ~0u, {});
    std::int64_t step = 0;
    if (stamp.units > static_cast<std::uint64_t>(most_time) ||
        __builtin_mul_overflow(unit, std::int64_t{1} << stamp.doublings, &step) ||
        __builtin_mul_overflow(step, static_cast<std::int64_t>(stamp.units), &step) ||
        __builtin_add_overflow(decoded, step, &decoded) || decoded > 2 * most_time || io.overran())
      throw TraceError("the time stamps of a chunk are damaged");
    times.push_back(decoded);
  }
  return times;
}

}  // namespace effort::trace
