#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "analytics/codec/bytes.hpp"
#include "analytics/trace/coder.hpp"
#include "analytics/trace/models.hpp"
#include "analytics/trace/piece.hpp"
#include "analytics/trace/representative_coder.hpp"
#include "analytics/trace/structure.hpp"
#include "analytics/trace/times.hpp"

namespace effort::trace {

namespace {

/// A sequence of the dictionary.
struct Known {
  std::uint64_t number = 0;
  std::uint32_t depth = 0;  ///< sequences to decode before it
};

/// A sequence that others may be coded against.
struct Base {
  Known known;
  std::shared_ptr<const Sequence> sequence;
};

/// The last sequence of a rank's thread, and a similar one without a base.
struct Location {
  Base last, root;
};

/// A hash of 128 bits identifies a sequence: collisions are not to be expected.
struct Digest {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};
struct DigestHash {
  std::size_t operator()(const Digest& d) const { return d.low; }
};

Digest digest(const Sequence& s) {
  const XXH128_hash_t symbols = XXH3_128bits(s.symbols.data(), s.symbols.size() * sizeof(s.symbols[0]));
  const XXH128_hash_t both =
      XXH3_128bits_withSeed(s.values.data(), s.values.size() * sizeof(s.values[0]), symbols.low64 ^ s.symbols.size());
  return {both.low64 ^ symbols.high64, both.high64 + symbols.low64};
}

struct SymbolHash {
  std::size_t operator()(const Symbol& s) const {
    return mix(static_cast<std::uint32_t>(s.kind), s.id, static_cast<std::uint32_t>(s.peer));
  }
};

/// Numbers symbols in the order of their first occurrence.
class Symbols {
 public:
  std::uint32_t number(const Symbol& symbol) {
    // Most often the same symbol follows as the last time.
    std::uint32_t guess = successors_[last_];
    if (guess >= symbols_.size() || symbols_[guess] != symbol) {
      guess = find(symbol);
      successors_[last_] = guess;
    }
    last_ = guess + 1;
    return first_ + guess;
  }
  void begin_chunk() { last_ = 0; }
  void begin_generation() {
    first_ = end();
    *this = Symbols(first_);
  }

  std::uint32_t first() const { return first_; }
  std::uint32_t end() const { return first_ + static_cast<std::uint32_t>(symbols_.size()); }
  const Symbol& at(std::uint32_t number) const { return symbols_[number - first_]; }
  std::vector<Symbol> since(std::uint32_t number) const {
    return {symbols_.begin() + (number - first_), symbols_.end()};
  }
  std::size_t held_bytes() const { return symbols_.size() * (2 * sizeof(Symbol) + 40); }

  explicit Symbols(std::uint32_t first = 0) : first_(first), successors_(1, 0) {}

 private:
  std::uint32_t find(const Symbol& symbol) {
    const auto [at, is_new] = numbers_.try_emplace(symbol, static_cast<std::uint32_t>(symbols_.size()));
    if (is_new) {
      symbols_.push_back(symbol);
      successors_.push_back(0);
    }
    return at->second;
  }

  std::uint32_t first_;
  std::uint32_t last_ = 0;
  std::vector<std::uint32_t> successors_;  ///< by the number of the symbol before + 1
  std::vector<Symbol> symbols_;
  std::unordered_map<Symbol, std::uint32_t, SymbolHash> numbers_;
};

void check(const Place& place, std::span<const Event> events) {
  if (events.size() > most_events) {
    throw std::invalid_argument("a chunk has " + std::to_string(events.size()) + " events (at most " +
                                std::to_string(most_events) + " fit): split it");
  }
  if (place.rank < 0 || place.thread < 0)
    throw std::invalid_argument("the rank or thread of a chunk is negative: number both from 0");
}

/// Time stamps from the chunk's start on, none before its predecessor.
std::vector<std::int64_t> ascending_times(const Place& place, std::span<const Event> events, std::size_t& backwards) {
  std::vector<std::int64_t> times;
  times.reserve(events.size());
  std::int64_t last = 0;
  for (const Event& event : events) {
    std::int64_t time = 0;
    if (__builtin_sub_overflow(event.time_ns, place.start_ns, &time) || time > most_time)
      throw std::invalid_argument("a time stamp is too late (" + std::to_string(event.time_ns) +
                                  " ns): count from the window's start");
    if (time < last) ++backwards;
    last = std::max(last, time);
    times.push_back(last);
  }
  return times;
}

}  // namespace

struct Encoder::State {
  TimeBound bound;
  Symbols symbols;
  std::unordered_map<Digest, Known, DigestHash> sequences;
  std::map<std::pair<std::int32_t, std::int32_t>, Location> locations;
  Location newest;  ///< of any thread, for threads that have none
  std::uint64_t next_sequence = 0;
  RepresentativeCoder representatives;
  bool incomplete = false;  ///< an exception may have left entries that no piece contains

  /// Restarts the dictionary if it is full.
  void begin_chunk() {
    symbols.begin_chunk();
    if (!std::exchange(incomplete, true) && symbols.end() - symbols.first() < most_entries &&
        sequences.size() < most_entries)
      return;
    symbols.begin_generation();
    sequences.clear();
    locations.clear();
    newest = {};
  }

  Sequence sequence(const Place& place, std::span<const Event> events) {
    Sequence s;
    s.symbols.reserve(events.size());
    Values values(place);
    for (const Event& event : events) {
      s.symbols.push_back(symbols.number(symbol_of(place, event)));
      values.append(event, s.values);
    }
    return s;
  }

  /// Codes a sequence that the dictionary does not have.
  std::vector<std::byte> add(const Sequence& s, std::uint32_t known_symbols, const Base& base, Known& known) {
    static const Sequence& nothing = *new Sequence;  // never destroyed: the host may exit meanwhile
    Piece piece;
    piece.bound = bound;
    piece.range = {symbols.first(), known_symbols, symbols.end()};
    piece.new_symbols = symbols.since(known_symbols);
    known = {next_sequence++, base.sequence ? base.known.depth + 1 : 0};
    piece.number = known.number;
    if (base.sequence) piece.base = base.known.number;
    piece.length = s.symbols.size();
    piece.body = encode_sequence(base.sequence ? *base.sequence : nothing, s, piece.range,
                                 [this](std::uint32_t symbol) { return symbols.at(symbol).kind; });
    return write_piece(piece);
  }

  /// Finds the sequence of events, or adds it to the dictionary.
  Base sequence_of(const Place& place, std::span<const Event> events, Coded& coded) {
    begin_chunk();
    const std::uint32_t known_symbols = symbols.end();
    const auto s = std::make_shared<const Sequence>(sequence(place, events));
    const auto [location, is_new] = locations.try_emplace({place.rank, place.thread}, newest);
    const auto [entry, is_new_sequence] = sequences.try_emplace(digest(*s));
    Known& known = entry->second;
    Location& here = location->second;
    if (is_new_sequence) {
      const Base base = here.last.sequence && here.last.known.depth < most_depth ? here.last : here.root;
      coded.dictionary = add(*s, known_symbols, base, known);
    }
    here.last = {known, s};
    if (known.depth == 0) here.root = here.last;
    if (is_new_sequence) newest = here;
    return here.last;
  }
};

Encoder::Encoder(TimeBound bound) : state_(std::make_unique<State>()) {
  if (!bound.is_valid())
    throw std::invalid_argument("a bound of time stamps is too large: choose at most 50 % and 1 s");
  state_->bound = bound;
}
Encoder::~Encoder() = default;

Encoder::Coded Encoder::encode(const Place& place, std::span<const Event> events) {
  check(place, events);
  State& x = *state_;
  Coded coded;
  const std::vector<std::int64_t> times = ascending_times(place, events, coded.backwards);
  const Base sequence = x.sequence_of(place, events, coded);
  codec::put_varint(coded.events, sequence.known.number);
  const std::vector<std::byte> body = encode_times(sequence.sequence->symbols, times, x.bound);
  coded.events.insert(coded.events.end(), body.begin(), body.end());
  x.incomplete = false;
  return coded;
}

Encoder::Reduced Encoder::encode_reduced(const Place& place, std::span<const Event> events, std::int64_t end_ns,
                                         const Plan& plan) {
  check(place, events);
  State& x = *state_;
  Reduced out;
  const std::vector<std::int64_t> times = ascending_times(place, events, out.coded.backwards);
  const std::int64_t end = std::clamp(end_ns - place.start_ns, times.empty() ? 0 : times.back(), most_time);
  const Base sequence = x.sequence_of(place, events, out.coded);
  x.representatives.code({sequence.known.number, *sequence.sequence, times, end, x.bound,
                          [&x](std::uint32_t symbol) -> const Symbol& { return x.symbols.at(symbol); }},
                         plan, out);
  x.incomplete = false;
  return out;
}

std::size_t Encoder::held_bytes() const {
  const auto bytes = [](const Base& base) {
    return base.sequence ? base.sequence->symbols.capacity() * 4 + base.sequence->values.capacity() * 8 : 0;
  };
  std::size_t total = sizeof(State) + state_->symbols.held_bytes() + state_->sequences.size() * 64 +
                      state_->representatives.held_bytes();
  for (const auto& [key, location] : state_->locations)
    total += sizeof(Location) + 64 + bytes(location.last) + bytes(location.root);
  return total;
}

}  // namespace effort::trace
