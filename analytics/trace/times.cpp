// Codes time stamps as the time since the decoded stamp before, in units that the bound allows.
//
// The unit is 2 * absolute + 1 ns, doubled as often as the gaps before and after allow, so that a short call next to a
// long wait keeps its length.  Because the difference is taken from the decoded stamp, errors do not add up.
#include "analytics/trace/times.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "analytics/trace/coder.hpp"
#include "analytics/trace/models.hpp"

namespace effort::trace {

namespace {

constexpr std::uint32_t most_doublings = 60;

using codec::SymbolModel;

/// No time, or the unit's doublings plus one: 40 % for none, then 42 %, and 30 % of that for each further doubling.
constexpr SymbolModel::Kind scale_kind{
    {0, 13107, 26870, 30999, 32238, 32609, 32721, 32754, 32757, 32758, 32759, 32760, 32761, 32762, 32763, 32764},
    1,
    false};
constexpr SymbolModel::Kind size_kind{SymbolModel::uniform, 1, true}, digits_kind{SymbolModel::uniform, 4, true};

/// A range of numbers: a symbol names it, and the binary digits below its first number follow.
struct Rung {
  std::uint64_t first;
  int digits;
};

/// Rungs of numbers of units: 1 to 7, then halves of octaves, and whole octaves from 64 on.
struct BoundedLadder {
  static constexpr std::uint32_t most = 65;
  static std::uint32_t of(std::uint64_t units) {
    const auto width = static_cast<std::uint32_t>(std::bit_width(units));
    if (units < 8) return static_cast<std::uint32_t>(units) - 1;
    return units < 64 ? 2 * width - 1 + (units >> (width - 2) & 1) : width + 6;
  }
  static Rung at(std::uint32_t rung) {
    if (rung < 7) return {rung + 1, 0};
    const auto octave = static_cast<int>(rung < 13 ? (rung - 1) / 2 : rung - 7);
    if (rung >= 13) return {std::uint64_t{1} << octave, octave};
    return {std::uint64_t{2 + (rung - 1) % 2} << (octave - 1), octave - 1};
  }
};

/// Zero and octaves of exact times.
struct ExactLadder {
  static constexpr std::uint32_t most = 61;
  static std::uint32_t of(std::uint64_t units) { return static_cast<std::uint32_t>(std::bit_width(units)); }
  static Rung at(std::uint32_t rung) { return {std::uint64_t{1} << (rung - 1), static_cast<int>(rung) - 1}; }
};

/// Codes the differences.
template <typename Io>
class StampCoder {
 public:
  StampCoder(Io& io, std::size_t events, TimeBound bound)
      : io_(io),
        scales_(events, scale_kind),
        sizes_(events, size_kind),
        digits_(events, digits_kind),
        bounded_(!bound.is_exact()) {}

  struct Stamp {
    std::uint64_t units = 0;      ///< since the decoded stamp before
    std::uint32_t doublings = 0;  ///< of the unit; if there are any, `units` is not 0
  };

  /// @param before, symbol  symbols of the event before and of this one
  Stamp code(std::uint32_t before, std::uint32_t symbol, Stamp stamp) {
    const std::uint32_t pair = mix(before, symbol);
    if (!bounded_) {
      stamp.units = units<ExactLadder>(stamp.units, pair);
      return stamp;
    }
    std::uint32_t scale = stamp.units == 0 ? 0 : stamp.doublings + 1;
    scale = scales_.number(io_, scale, most_doublings + 1, pair, pair);
    if (scale == 0) return {};
    stamp.doublings = scale - 1;
    stamp.units = units<BoundedLadder>(stamp.units, mix(pair, scale));
    return stamp;
  }

 private:
  template <typename Ladder>
  std::uint64_t units(std::uint64_t value, std::uint32_t x) {
    const std::uint32_t rung =
        sizes_.number(io_, Io::encoding ? Ladder::of(value) : 0, Ladder::most, x, x, mix(x, previous_));
    if (std::is_same_v<Ladder, ExactLadder> && rung == 0) return 0;
    previous_ = rung + 1;
    const auto [first, digits] = Ladder::at(rung);
    std::uint64_t rest = value - first;
    if (digits < modelled) return first + raw_bits(io_, rest, digits);
    const int left = digits - modelled;
    const std::uint64_t leading =
        digits_.code(io_, static_cast<std::uint32_t>(rest >> left) & SymbolTable::last, mix(x, rung + 1));
    rest = leading << left | raw_bits(io_, rest & ((std::uint64_t{1} << left) - 1), left);
    return first + rest;
  }
  static constexpr int modelled = 4;  ///< digits that one symbol holds

  Io& io_;
  SymbolTable scales_, sizes_, digits_;
  std::uint32_t previous_ = 0;  ///< the last rung
  bool bounded_;
};

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

std::int64_t unit_of(TimeBound bound) { return bound.is_exact() ? 1 : 2 * std::int64_t{bound.absolute_ns} + 1; }

std::int64_t stamp_after(std::int64_t stamp, std::int64_t unit, std::uint64_t units, std::uint32_t doublings) {
  std::int64_t step = 0;
  if (units > static_cast<std::uint64_t>(most_time) ||
      __builtin_mul_overflow(unit, std::int64_t{1} << doublings, &step) ||
      __builtin_mul_overflow(step, static_cast<std::int64_t>(units), &step) ||
      __builtin_add_overflow(stamp, step, &stamp) || stamp > 2 * most_time)
    throw TraceError("the time stamps of a chunk are damaged");
  return stamp;
}

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
    stamp = coder.code(i > 0 ? symbols[i - 1] : ~0u, symbols[i], stamp);
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
    const typename Coder::Stamp stamp = coder.code(i > 0 ? symbols[i - 1] : ~0u, symbols[i], {});
    decoded = stamp_after(decoded, unit, stamp.units, stamp.doublings);
    if (io.overran()) throw TraceError("the time stamps of a chunk are damaged");
    times.push_back(decoded);
  }
  return times;
}

}  // namespace effort::trace
