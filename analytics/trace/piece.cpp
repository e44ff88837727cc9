#include "analytics/trace/piece.hpp"

#include "analytics/codec/bytes.hpp"
#include "analytics/trace/coder.hpp"

namespace effort::trace {

namespace {

[[noreturn]] void fail(const char* problem) {
  throw TraceError(std::string("a piece of the dictionary is damaged (") + problem + ")");
}

std::uint64_t number(codec::ByteReader& in, std::uint64_t most, const char* problem) {
  const std::uint64_t value = in.varint();
  if (value > most) fail(problem);
  return value;
}

Symbol read_symbol(codec::ByteReader& in) {
  Symbol symbol;
  const unsigned kind = in.byte();
  if (kind >= n_kinds) fail("unknown kind of event");
  symbol.kind = static_cast<Kind>(kind);
  symbol.id = static_cast<std::uint32_t>(number(in, ~std::uint32_t{0}, "an id is too large"));
  symbol.peer = in.signed_varint();
  if (symbol.peer > (std::int64_t{1} << 33) || symbol.peer < -(std::int64_t{1} << 33)) fail("no such peer");
  return symbol;
}

}  // namespace

std::vector<std::byte> write_piece(const Piece& piece) {
  std::vector<std::byte> out;
  codec::put_byte(out, piece.version);
  codec::put_varint(out, piece.bound.relative_ppm);
  codec::put_varint(out, piece.bound.absolute_ns);
  codec::put_varint(out, piece.range.first);
  codec::put_varint(out, piece.range.known - piece.range.first);
  codec::put_varint(out, piece.new_symbols.size());
  for (const Symbol& symbol : piece.new_symbols) {
    codec::put_byte(out, static_cast<unsigned>(symbol.kind));
    codec::put_varint(out, symbol.id);
    codec::put_signed(out, symbol.peer);
  }
  codec::put_varint(out, piece.number);
  codec::put_varint(out, piece.base == Piece::no_base ? 0 : piece.number - piece.base);
  codec::put_varint(out, piece.length);
  out.insert(out.end(), piece.body.begin(), piece.body.end());
  return out;
}

Piece read_piece(std::span<const std::byte> bytes) {
  try {
    codec::ByteReader in(bytes);
    Piece piece;
    piece.version = in.byte();
    if (piece.version != 1 && piece.version != 2) fail("it has another version");
    piece.bound.relative_ppm =
        static_cast<std::uint32_t>(number(in, TimeBound::most_relative_ppm, "the bound is too large"));
    piece.bound.absolute_ns =
        static_cast<std::uint32_t>(number(in, TimeBound::most_absolute_ns, "the bound is too large"));
    piece.range.first = static_cast<std::uint32_t>(number(in, 1u << 31, "no such symbol"));
    piece.range.known = piece.range.first + static_cast<std::uint32_t>(number(in, most_entries, "no such symbol"));
    const std::uint64_t fresh = number(in, std::min<std::uint64_t>(most_events, in.left() / 3), "too many symbols");
    piece.range.end = piece.range.known + static_cast<std::uint32_t>(fresh);
    for (std::uint64_t i = 0; i < fresh; ++i) piece.new_symbols.push_back(read_symbol(in));
    piece.number = number(in, std::uint64_t{1} << 62, "no such sequence");
    const std::uint64_t back = number(in, piece.number, "no such sequence");
    if (back > 0) piece.base = piece.number - back;
    piece.length = number(in, most_events, "too many events");
    const std::span<const std::byte> body = in.rest();
    piece.body.assign(body.begin(), body.end());
    return piece;
  } catch (const codec::CodecError&) {
    fail("it ends too early");
  }
}

}  // namespace effort::trace
