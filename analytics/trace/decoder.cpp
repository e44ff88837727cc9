#include <string>
#include <unordered_map>
#include <utility>

#include "analytics/codec/bytes.hpp"
#include "analytics/trace/coder.hpp"
#include "analytics/trace/piece.hpp"
#include "analytics/trace/structure.hpp"
#include "analytics/trace/times.hpp"

namespace effort::trace {

/// Sequences stay coded until a chunk needs one, so memory is that of the pieces.
struct Decoder::State {
  std::unordered_map<std::uint32_t, Symbol> symbols;
  std::unordered_map<std::uint64_t, Piece> pieces;

  const Symbol& symbol(std::uint32_t number) const {
    const auto found = symbols.find(number);
    if (found == symbols.end())
      throw TraceError("symbol " + std::to_string(number) +
                       " of the dictionary is missing (its piece is lost), skip "
                       "the chunk");
    return found->second;
  }
  const Piece& piece(std::uint64_t number) const {
    const auto found = pieces.find(number);
    if (found == pieces.end())
      throw TraceError("sequence " + std::to_string(number) +
                       " of the dictionary is missing (its piece is lost), skip "
                       "the chunk");
    return found->second;
  }

  /// Decodes a sequence, and before it those that it is coded against.
  Sequence sequence(std::uint64_t number) const {
    std::vector<const Piece*> chain;
    for (std::uint64_t next = number; next != Piece::no_base; next = chain.back()->base) {
      if (chain.size() > most_depth)
        throw TraceError("the dictionary is damaged (a chain is too long), skip the chunk");
      chain.push_back(&piece(next));
    }
    Sequence decoded;
    for (; !chain.empty(); chain.pop_back()) {
      const Piece& p = *chain.back();
      decoded = decode_sequence(
          decoded, p.length, p.range, [this](std::uint32_t s) { return symbol(s).kind; }, p.body);
    }
    return decoded;
  }
};

Decoder::Decoder() : state_(std::make_unique<State>()) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

void Decoder::add(std::span<const std::byte> dictionary) {
  Piece piece = read_piece(dictionary);
  if (state_->pieces.contains(piece.number))
    throw TraceError("a piece of the dictionary came twice (sequence " + std::to_string(piece.number) + "), skip it");
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
    throw TraceError("a chunk is damaged (it ends too early), skip it");
  }
  const Sequence sequence = state_->sequence(number);
  const std::vector<std::int64_t> times = decode_times(sequence.symbols, state_->piece(number).bound, body);

  std::vector<Event> decoded;
  decoded.reserve(times.size());
  Values values(place);
  const std::uint64_t* at = sequence.values.data();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Symbol& symbol = state_->symbol(sequence.symbols[i]);
    decoded.push_back(values.event(symbol, at));
    at += values_of(symbol.kind).size();
    if (__builtin_add_overflow(place.start_ns, times[i], &decoded.back().time_ns))
      throw TraceError("the time stamps of a chunk are damaged, skip it");
  }
  return decoded;
}

}  // namespace effort::trace
