#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "analytics/codec/bytes.hpp"
#include "analytics/trace/coder.hpp"
#include "analytics/trace/piece.hpp"
#include "analytics/trace/segments.hpp"
#include "analytics/trace/structure.hpp"
#include "analytics/trace/times.hpp"
#include "analytics/trace/version1.hpp"

namespace effort::trace {

namespace {

/// What was decoded lately, by number.  Any thread may call it.
template <typename T>
class Latest {
 public:
  /// @param most_events  that it keeps at a time
  explicit Latest(std::size_t most_events) : most_events_(most_events) {}

  std::shared_ptr<const T> find(std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(number);
    return found == kept_.end() ? nullptr : found->second;
  }
  void keep(std::uint64_t number, std::shared_ptr<const T> decoded, std::size_t events) {
    const std::lock_guard lock(mutex_);
    if (events_ + events > most_events_) {
      kept_.clear();
      events_ = 0;
    }
    if (kept_.emplace(number, std::move(decoded)).second) events_ += events;
  }

 private:
  mutable std::mutex mutex_;
  std::size_t most_events_, events_ = 0;
  std::unordered_map<std::uint64_t, std::shared_ptr<const T>> kept_;
};

}  // namespace

/// Sequences stay coded until a chunk needs them, so the memory is that of the pieces and of the latest sequences.
struct Decoder::State {
  std::unordered_map<std::uint32_t, Symbol> symbols;
  std::unordered_map<std::uint64_t, Piece> pieces;

  const Symbol& symbol(std::uint32_t number) const {
    const auto found = symbols.find(number);
    if (found == symbols.end())
      throw TraceError("symbol " + std::to_string(number) + " of the dictionary is missing (its piece is lost)");
    return found->second;
  }
  const Piece& piece(std::uint64_t number) const {
    const auto found = pieces.find(number);
    if (found == pieces.end())
      throw TraceError("sequence " + std::to_string(number) + " of the dictionary is missing (its piece is lost)");
    return found->second;
  }

  /// The times of the representatives of a piece, since the begin of each, one after the other.
  using Times = std::shared_ptr<const std::vector<std::int64_t>>;

  std::map<std::uint64_t, RepresentativePiece> representatives;                  ///< by the number of the first one
  mutable Latest<std::vector<std::int64_t>> latest_times{std::size_t{1} << 22};  ///< of pieces of representatives
  mutable Latest<Sequence> latest_sequences{std::size_t{1} << 19};  ///< chunks of the same rank follow one another

  const RepresentativePiece& piece_of(std::int64_t representative) const {
    const auto number = static_cast<std::uint64_t>(representative);
    auto at = representatives.upper_bound(number);
    if (at == representatives.begin() || number - (--at)->first >= at->second.parts.size())
      throw TraceError("representative " + std::to_string(number) + " is missing (its piece is lost)");
    return at->second;
  }

  Times times_of(const RepresentativePiece& piece) const {
    Times times = latest_times.find(piece.first);
    if (!times) {
      times = std::make_shared<const std::vector<std::int64_t>>(decode_representatives(piece));
      latest_times.keep(piece.first, times, times->size());
    }
    return times;
  }

  std::vector<std::int64_t> decode_representatives(const RepresentativePiece& piece) const {
    const std::shared_ptr<const Sequence> whole = sequence(piece.sequence);
    std::vector<std::uint32_t> parts;
    for (const RepresentativePiece::Part& part : piece.parts) {
      if (part.begin + part.length > whole->symbols.size())
        throw TraceError("a representative is not part of its sequence");
      const auto first = whole->symbols.begin() + static_cast<std::ptrdiff_t>(part.begin);
      parts.insert(parts.end(), first, first + static_cast<std::ptrdiff_t>(part.length));
    }
    std::vector<std::int64_t> times = this->times(piece.sequence, parts, piece.body);
    std::size_t at = 0;
    for (const RepresentativePiece::Part& part : piece.parts) {
      const std::int64_t begin = times[at];
      for (const std::size_t end = at + part.length; at < end; ++at) times[at] -= begin;
    }
    return times;
  }

  /// The representatives of a chunk's segments.
  struct Offsets {
    std::vector<Times> held;
    std::vector<std::span<const std::int64_t>> of_segment;
  };
  Offsets offsets_of(const ReducedChunk& chunk, std::span<const std::size_t> begins, std::size_t events) const {
    Offsets out;
    std::map<std::uint64_t, Times> used;
    for (std::size_t s = 0; s < begins.size(); ++s) {
      out.of_segment.emplace_back();
      if (chunk.representatives[s] == Encoder::in_full) continue;
      const RepresentativePiece& piece = piece_of(chunk.representatives[s]);
      const std::size_t length = (s + 1 < begins.size() ? begins[s + 1] : events) - begins[s];
      const std::size_t part = static_cast<std::uint64_t>(chunk.representatives[s]) - piece.first;
      if (piece.parts[part].length != length)
        throw TraceError("a representative and its segment differ in the number of events");
      Times& times = used[piece.first];
      if (used.size() > most_pieces_of_chunk) throw TraceError("a chunk needs too many representatives");
      if (!times) times = times_of(piece);
      std::size_t at = 0;
      for (std::size_t p = 0; p < part; ++p) at += piece.parts[p].length;
      out.of_segment.back() = std::span(*times).subspan(at, length);
    }
    for (const auto& [first, times] : used) out.held.push_back(times);
    return out;
  }

  std::vector<Event> events_of(const Place& place, const Sequence& sequence,
                               const std::vector<std::int64_t>& times) const {
    std::vector<Event> decoded;
    decoded.reserve(times.size());
    Values values(place);
    const std::uint64_t* at = sequence.values.data();
    for (std::size_t i = 0; i < times.size(); ++i) {
      const Symbol& symbol = this->symbol(sequence.symbols[i]);
      decoded.push_back(values.event(symbol, at));
      at += values_of(symbol.kind).size();
      if (__builtin_add_overflow(place.start_ns, times[i], &decoded.back().time_ns))
        throw TraceError("the time stamps of a chunk are damaged");
    }
    return decoded;
  }

  /// The times of the events of a sequence, or of others with its coding and bound.
  std::vector<std::int64_t> times(std::uint64_t sequence, std::span<const std::uint32_t> symbols,
                                  std::span<const std::byte> body) const {
    const Piece& p = piece(sequence);
    return (p.version == 1 ? version1::decode_times : decode_times)(symbols, p.bound, body);
  }

  /// Decodes a sequence, and before it those that it is coded against, unless they were decoded lately.
  std::shared_ptr<const Sequence> sequence(std::uint64_t number) const {
    std::vector<const Piece*> chain;
    for (std::uint64_t next = number; next != Piece::no_base; next = chain.back()->base) {
      if (chain.size() > most_depth) throw TraceError("the dictionary is damaged (a chain is too long)");
      chain.push_back(&piece(next));
    }
    std::shared_ptr<const Sequence> decoded;
    std::size_t missing = 0;
    while (missing < chain.size() && !(decoded = latest_sequences.find(chain[missing]->number))) ++missing;
    if (!decoded) decoded = std::make_shared<const Sequence>();
    while (missing-- > 0) {
      const Piece& p = *chain[missing];
      const auto decode = p.version == 1 ? version1::decode_sequence : decode_sequence;
      decoded = std::make_shared<const Sequence>(decode(
          *decoded, p.length, p.range, [this](std::uint32_t s) { return symbol(s).kind; }, p.body));
      latest_sequences.keep(p.number, decoded, p.length);
    }
    return decoded;
  }
};

Decoder::Decoder() : state_(std::make_unique<State>()) {}
Decoder::~Decoder() = default;

void Decoder::add(std::span<const std::byte> dictionary) {
  Piece piece = read_piece(dictionary);
  if (state_->pieces.contains(piece.number))
    throw TraceError("a piece of the dictionary occurs twice (sequence " + std::to_string(piece.number) + ")");
  for (std::size_t i = 0; i < piece.new_symbols.size(); ++i)
    state_->symbols.emplace(piece.range.known + static_cast<std::uint32_t>(i), piece.new_symbols[i]);
  piece.new_symbols = {};
  const std::uint64_t number = piece.number;
  state_->pieces.emplace(number, std::move(piece));
}

std::vector<Event> Decoder::decode(const Place& place, std::span<const std::byte> events) const {
  std::uint64_t number = 0;
  std::span<const std::byte> body;
  try {
    codec::ByteReader in(events);
    number = in.varint();
    body = in.rest();
  } catch (const codec::CodecError&) {
    throw TraceError("a chunk is damaged (it ends too early)");
  }
  const std::shared_ptr<const Sequence> sequence = state_->sequence(number);
  const std::vector<std::int64_t> times = state_->times(number, sequence->symbols, body);

  return state_->events_of(place, *sequence, times);
}

void Decoder::add_representatives(std::span<const std::byte> representatives) {
  RepresentativePiece piece = read_representatives(representatives);
  auto& all = state_->representatives;
  const auto next = all.lower_bound(piece.first);
  const bool meets_next = next != all.end() && next->first < piece.first + piece.parts.size();
  const bool meets_last =
      next != all.begin() && std::prev(next)->first + std::prev(next)->second.parts.size() > piece.first;
  if (meets_next || meets_last) throw TraceError("a piece of representatives occurs twice");
  const std::uint64_t first = piece.first;
  all.emplace(first, std::move(piece));
}

Rebuilt Decoder::decode_reduced(const Place& place, std::span<const std::byte> bytes) const {
  const ReducedChunk chunk = read_reduced(bytes);
  const std::shared_ptr<const Sequence> shared = state_->sequence(chunk.sequence);
  const Sequence& sequence = *shared;
  const SymbolOf symbol = [this](std::uint32_t number) -> const Symbol& { return state_->symbol(number); };
  const std::size_t n = sequence.symbols.size();
  const std::vector<std::size_t> begins = segment_begins(sequence.symbols, symbol);
  if (begins.size() != chunk.representatives.size() || n > most_reduced_events)
    throw TraceError("a chunk and its sequence differ in the number of segments");
  const State::Offsets offsets = state_->offsets_of(chunk, begins, n);
  const std::vector<std::int64_t> stamps =
      state_->times(chunk.sequence, stamp_symbols(sequence.symbols, begins, chunk.representatives), chunk.body);
  const std::vector<std::int64_t> times = rebuild(n, begins, offsets.of_segment, stamps);

  Rebuilt out;
  out.events = state_->events_of(place, sequence, times);
  out.segments = begins.size();
  for (const std::int64_t r : chunk.representatives) out.rebuilt += r == Encoder::in_full ? 0 : 1;
  out.largest_error_ns = chunk.largest_error_ns;
  out.error90_ns = chunk.error90_ns;
  const std::vector<RegionTime> regions = region_times(sequence.symbols, symbol, times, stamps.back());
  if (regions.size() != chunk.corrections.size())
    throw TraceError("a chunk and its sequence differ in the number of regions");
  for (std::size_t r = 0; r < regions.size(); ++r) {
    std::int64_t ns = 0;
    if (__builtin_mul_overflow(chunk.corrections[r], correction_unit(regions[r].ns), &ns) || ns > 2 * most_time ||
        ns < -2 * most_time)
      throw TraceError("a correction of a chunk is out of range");
    if (ns != 0) out.corrections.push_back({regions[r].region, ns});
  }
  return out;
}

}  // namespace effort::trace
