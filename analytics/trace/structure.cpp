// Codes the sequence of symbols and values against a similar one.
//
// A pointer into the earlier sequence and the coded part of this one follows the program; the symbol there is the
// guess.  As long as a program repeats itself, an event costs a small fraction of a bit.
#include "analytics/trace/structure.hpp"

#include <algorithm>
#include <bit>

#include "analytics/trace/coder.hpp"
#include "analytics/trace/models.hpp"

namespace effort::trace {

namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

/// The past of the next event: the base, followed by the events coded so far.
class Past {
 public:
  Past(const Sequence& base, std::size_t events, SymbolRange range, const KindOf& kind)
      : kind_(kind),
        first_(range.first),
        latest_(range.end - range.first, none),
        kinds_(latest_.size(), unknown),
        successors_(std::bit_ceil(2 * (base.symbols.size() + events) + 2), none) {
    symbols_.reserve(base.symbols.size() + events);
    offsets_.reserve(base.symbols.size() + events);
    values_.reserve(base.values.size() + 2 * events);
    const std::uint64_t* values = base.values.data();
    for (const std::uint32_t symbol : base.symbols) {
      const std::size_t n = values_of(symbol).size();
      append(symbol, values, n);
      values += n;
    }
    follow(0);
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

  /// Symbols before the present one, the last first; 0 before the beginning.
  std::uint32_t before(std::size_t i) const { return i < symbols_.size() ? symbols_[symbols_.size() - 1 - i] : 0; }
  /// For how many events the pointer's guesses have been right.
  std::uint32_t length() const { return length_; }
  std::uint32_t guess() const { return at_ < symbols_.size() ? symbols_[at_] : none; }
  /// Values of the event that the pointer guesses, or of the symbol's latest occurrence; nullptr if there is none.
  const std::uint64_t* pointed_values(std::uint32_t symbol) const {
    return guess() == symbol ? values_.data() + offsets_[at_] : latest_values(symbol);
  }
  const std::uint64_t* latest_values(std::uint32_t symbol) const {
    const std::uint32_t at = latest(symbol);
    return at == none ? nullptr : values_.data() + offsets_[at];
  }

  /// Appends an event with its values and moves the pointer.
  void advance(std::uint32_t symbol, std::span<const std::uint64_t> values) {
    const bool right = guess() == symbol;
    const std::size_t next = at_ + 1;
    append(symbol, values.data(), values.size());
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

  std::uint32_t latest(std::uint32_t symbol) const { return latest_[symbol - first_]; }
  std::uint32_t& successor() {
    return successors_[mix(before(0), before(1), before(2)) & static_cast<std::uint32_t>(successors_.size() - 1)];
  }

  void append(std::uint32_t symbol, const std::uint64_t* values, std::size_t n) {
    latest_[symbol - first_] = static_cast<std::uint32_t>(symbols_.size());
    symbols_.push_back(symbol);
    offsets_.push_back(values_.size());
    for (std::size_t i = 0; i < n; ++i) values_.push_back(values[i]);
    if (!started_) remember();
  }

  void remember() {
    if (symbols_.size() >= 3) successor() = static_cast<std::uint32_t>(symbols_.size());
  }

  /// Points after the latest occurrence of the last three symbols, or else to `next`.
  void follow(std::size_t next) {
    const std::uint32_t found = started_ && symbols_.size() >= 3 ? successor() : none;
    started_ = true;
    at_ = found == none ? next : found;
    length_ = 0;
    if (found == none || found >= symbols_.size()) return;
    while (length_ < longest && length_ < at_ && symbols_[at_ - 1 - length_] == before(length_)) ++length_;
  }

  const KindOf& kind_;
  std::uint32_t first_;
  std::vector<std::uint32_t> latest_;  ///< place of each symbol's latest occurrence
  std::vector<Kind> kinds_;            ///< of each symbol that was needed
  std::vector<std::uint32_t> successors_, symbols_;
  std::vector<std::size_t> offsets_;
  std::vector<std::uint64_t> values_;
  std::size_t at_ = 0;
  std::uint32_t length_ = 0;
  bool started_ = false;
};

/// Codes events one by one.  Mixers: 0 to 15 guess, 17 new, 18 to 21 values as pointed, 22 as lately, 23 to 30 other
/// symbols, 32 to 95 sizes of other values.
template <typename Io>
class EventCoder {
 public:
  EventCoder(Io& io, std::size_t events, SymbolRange range)
      : io_(io), models_(events), range_(range), next_(range.known) {}

  std::uint32_t symbol(const Past& past, std::uint32_t symbol) {
    const std::uint32_t guess = past.guess(), last = past.before(0);
    if (guess != none) {
      const Contexts x{mix(1, past.length(), misses_ & 15), mix(2, guess, last),
                       mix(mix(3, guess, last), past.before(1), past.before(2))};
      const bool right = models_.decision(io_, symbol == guess, x, past.length());
      misses_ = misses_ << 1 | (right ? 0u : 1u);
      if (right) return guess;
    }
    if (next_ < range_.end) {
      const Contexts x{7, 8, mix(9, last)};
      if (models_.decision(io_, symbol == next_, x, 17)) return next_++;
    }
    return range_.first + other(symbol, last, past.before(1));
  }

  void values(const Past& past, std::uint32_t symbol, std::span<const Value> kinds, std::uint64_t* values) {
    static constexpr std::array<std::uint64_t, 4> zeros{};
    const std::uint64_t* pointed = past.pointed_values(symbol);
    const std::uint64_t* latest = past.latest_values(symbol);
    if (pointed == nullptr) pointed = latest = zeros.data();
    for (std::size_t i = 0; i < kinds.size(); ++i)
      values[i] = value(symbol, kinds[i], values[i], pointed[i], latest[i]);
  }

 private:
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
    // The difference, never 0, its sign in the lowest bit: the size with a model, the bits below the highest as they
    // are.
    const std::uint64_t difference = value - latest;
    const std::uint64_t coded = difference << 1 ^ -(difference >> 63);
    const Contexts size{mix(16, kind), mix(17, kind, symbol), mix(18, last_size_[kind])};
    const std::uint32_t bits =
        models_.small_number(io_, static_cast<std::uint32_t>(std::bit_width(coded | 1)) - 1, 6, size, 32);
    last_size_[kind] = bits;
    const std::uint64_t read =
        std::uint64_t{1} << bits | raw_bits(io_, coded & ((std::uint64_t{1} << bits) - 1), static_cast<int>(bits));
    return latest + (read >> 1 ^ -(read & 1));
  }

  Io& io_;
  Models models_;
  SymbolRange range_;
  std::uint32_t next_;  ///< the first symbol that did not occur yet
  std::uint32_t misses_ = 0, changes_ = 0;
  std::array<std::uint32_t, 4> last_size_{};
};

}  // namespace

std::vector<std::byte> encode_sequence(const Sequence& base, const Sequence& sequence, SymbolRange range,
                                       const KindOf& kind) {
  codec::RangeEncoder io;
  Past past(base, sequence.symbols.size(), range, kind);
  EventCoder coder(io, sequence.symbols.size(), range);
  std::size_t at = 0;
  std::array<std::uint64_t, 4> values{};
  for (const std::uint32_t symbol : sequence.symbols) {
    io.reserve(1024);
    coder.symbol(past, symbol);
    const std::span<const Value> kinds = past.values_of(symbol);
    std::copy_n(sequence.values.data() + at, kinds.size(), values.data());
    at += kinds.size();
    coder.values(past, symbol, kinds, values.data());
    past.advance(symbol, std::span(values).first(kinds.size()));
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
  std::array<std::uint64_t, 4> values{};
  for (std::size_t i = 0; i < length; ++i) {
    const std::uint32_t symbol = coder.symbol(past, 0);
    const std::span<const Value> kinds = past.values_of(symbol);
    values.fill(0);
    coder.values(past, symbol, kinds, values.data());
    past.advance(symbol, std::span(values).first(kinds.size()));
    sequence.symbols.push_back(symbol);
    sequence.values.insert(sequence.values.end(), values.begin(),
                           values.begin() + static_cast<std::ptrdiff_t>(kinds.size()));
    if (io.overran()) throw TraceError("an entry of the dictionary is damaged (it ends too early)");
  }
  return sequence;
}

}  // namespace effort::trace
