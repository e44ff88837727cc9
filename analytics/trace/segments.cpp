#include "analytics/trace/segments.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "analytics/codec/bytes.hpp"
#include "analytics/trace/piece.hpp"
#include "analytics/trace/times.hpp"

namespace effort::trace {

namespace {

constexpr unsigned segments_version = 1;

[[noreturn]] void fail(const char* what, const char* problem) {
  throw TraceError(std::string(what) + " is damaged (" + problem + ")");
}

std::uint64_t number_up_to(codec::ByteReader& in, std::uint64_t most, const char* what) {
  const std::uint64_t value = in.varint();
  if (value > most) fail(what, "a number is out of range");
  return value;
}

/// Errors are stored in one byte, rounded up by at most a quarter.
constexpr unsigned most_error_code = 4 * 60 + 4;
std::int64_t error_of(unsigned code) {
  return code == 0 ? 0 : ((std::int64_t{4} + (code - 1) % 4) << (code - 1) / 4) / 4;
}
unsigned error_code(std::int64_t ns) {
  unsigned code = 0;
  while (code < most_error_code && error_of(code) < ns) ++code;
  return code;
}

constexpr std::uint64_t most_number = std::uint64_t{1} << 48;  // of a representative

}  // namespace

std::vector<std::size_t> segment_begins(std::span<const std::uint32_t> symbols, const SymbolOf& symbol) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < symbols.size(); ++i)
    if (i == 0 || symbol(symbols[i]).kind == Kind::step) begins.push_back(i);
  return begins;
}

std::vector<std::byte> write_representatives(const RepresentativePiece& piece) {
  std::vector<std::byte> out;
  codec::put_byte(out, segments_version);
  codec::put_varint(out, piece.first);
  codec::put_varint(out, piece.sequence);
  codec::put_varint(out, piece.parts.size());
  std::size_t end = 0;
  for (const RepresentativePiece::Part& part : piece.parts) {
    codec::put_varint(out, part.begin - end);
    codec::put_varint(out, part.length);
    end = part.begin + part.length;
  }
  out.insert(out.end(), piece.body.begin(), piece.body.end());
  return out;
}

RepresentativePiece read_representatives(std::span<const std::byte> bytes) {
  constexpr const char* what = "a piece of representatives";
  try {
    codec::ByteReader in(bytes);
    if (in.byte() != segments_version) fail(what, "it has another version");
    RepresentativePiece piece;
    piece.first = number_up_to(in, most_number, what);
    piece.sequence = number_up_to(in, std::uint64_t{1} << 62, what);
    const std::uint64_t n = number_up_to(in, most_segments, what);
    std::size_t end = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      RepresentativePiece::Part part;
      part.begin = end + number_up_to(in, most_reduced_events, what);
      part.length = number_up_to(in, most_reduced_events, what);
      end = part.begin + part.length;
      if (part.length == 0 || end > most_reduced_events) fail(what, "a part is out of range");
      piece.parts.push_back(part);
    }
    if (piece.parts.empty()) fail(what, "it is empty");
    const std::span<const std::byte> body = in.rest();
    piece.body.assign(body.begin(), body.end());
    return piece;
  } catch (const codec::CodecError&) {
    fail(what, "it ends too early");
  }
}

std::vector<std::byte> write_reduced(const ReducedChunk& chunk) {
  std::vector<std::byte> out, runs;
  codec::put_varint(out, chunk.sequence);
  std::uint64_t n_runs = 0;
  std::int64_t last = 0;
  const auto& all = chunk.representatives;
  for (std::size_t i = 0; i < all.size(); ++n_runs) {
    std::size_t end = i + 1;
    while (end < all.size() && all[end] == all[i]) ++end;
    const std::int64_t step = all[i] - last;
    codec::put_varint(runs, all[i] == Encoder::in_full
                                ? 0
                                : 1 + (static_cast<std::uint64_t>(step) << 1 ^ static_cast<std::uint64_t>(step >> 63)));
    codec::put_varint(runs, end - i);
    if (all[i] != Encoder::in_full) last = all[i];
    i = end;
  }
  codec::put_varint(out, n_runs);
  out.insert(out.end(), runs.begin(), runs.end());
  codec::put_varint(out, chunk.corrections.size());
  for (const std::int64_t c : chunk.corrections) codec::put_signed(out, c);
  codec::put_byte(out, error_code(chunk.largest_error_ns));
  codec::put_byte(out, error_code(chunk.error90_ns));
  out.insert(out.end(), chunk.body.begin(), chunk.body.end());
  return out;
}

ReducedChunk read_reduced(std::span<const std::byte> bytes) {
  constexpr const char* what = "a reduced chunk";
  try {
    codec::ByteReader in(bytes);
    ReducedChunk chunk;
    chunk.sequence = in.varint();
    std::int64_t last = 0;
    for (std::uint64_t runs = number_up_to(in, most_segments, what); runs > 0; --runs) {
      const std::uint64_t code = number_up_to(in, 4 * most_number, what);
      const std::uint64_t length = number_up_to(in, most_segments - chunk.representatives.size(), what);
      const std::uint64_t step = code > 0 ? code - 1 : 0;
      last += static_cast<std::int64_t>(step >> 1 ^ (~(step & 1) + 1));
      if (last < 0 || last > static_cast<std::int64_t>(most_number)) fail(what, "no such representative");
      chunk.representatives.insert(chunk.representatives.end(), length, code == 0 ? Encoder::in_full : last);
    }
    for (std::uint64_t n = number_up_to(in, std::min<std::uint64_t>(most_reduced_events, in.left()), what); n > 0; --n)
      chunk.corrections.push_back(in.signed_varint());
    const unsigned largest = in.byte(), usual = in.byte();
    if (std::max(largest, usual) > most_error_code) fail(what, "an error is out of range");
    chunk.largest_error_ns = error_of(largest);
    chunk.error90_ns = error_of(usual);
    const std::span<const std::byte> body = in.rest();
    chunk.body.assign(body.begin(), body.end());
    return chunk;
  } catch (const codec::CodecError&) {
    fail(what, "it ends too early");
  }
}

std::vector<std::uint32_t> stamp_symbols(std::span<const std::uint32_t> symbols, std::span<const std::size_t> begins,
                                         std::span<const std::int64_t> representatives) {
  constexpr std::uint32_t end_of_chunk = 0xffffffff;
  std::vector<std::uint32_t> out;
  for (std::size_t s = 0; s < begins.size(); ++s) {
    const std::size_t end = s + 1 < begins.size() ? begins[s + 1] : symbols.size();
    const std::size_t stop = representatives[s] == Encoder::in_full ? end : begins[s] + 1;
    out.insert(out.end(), symbols.begin() + static_cast<std::ptrdiff_t>(begins[s]),
               symbols.begin() + static_cast<std::ptrdiff_t>(stop));
  }
  out.push_back(end_of_chunk);
  return out;
}

std::vector<std::int64_t> rebuild(std::size_t events, std::span<const std::size_t> begins,
                                  std::span<const std::span<const std::int64_t>> offsets,
                                  std::span<const std::int64_t> stamps) {
  std::vector<std::int64_t> times;
  times.reserve(events);
  std::size_t at = 0;
  for (std::size_t s = 0; s < begins.size(); ++s) {
    const std::size_t end = s + 1 < begins.size() ? begins[s + 1] : events;
    if (offsets[s].empty()) {
      times.insert(times.end(), stamps.begin() + static_cast<std::ptrdiff_t>(at),
                   stamps.begin() + static_cast<std::ptrdiff_t>(at + end - begins[s]));
      at += end - begins[s];
      continue;
    }
    const std::int64_t start = stamps[at++], limit = stamps[at];
    for (const std::int64_t offset : offsets[s]) times.push_back(std::min(start + offset, limit));
  }
  return times;
}

std::vector<RegionTime> region_times(std::span<const std::uint32_t> symbols, const SymbolOf& symbol,
                                     std::span<const std::int64_t> times, std::int64_t end) {
  std::vector<RegionTime> out;
  std::unordered_map<std::uint32_t, std::size_t> index;
  std::vector<std::size_t> open;
  const auto region = [&](std::uint32_t id) {
    const auto [at, fresh] = index.try_emplace(id, out.size());
    if (fresh) out.push_back({id, 0});
    return at->second;
  };
  std::int64_t last = 0, outside = 0;
  const auto pass = [&](std::int64_t to) {
    (open.empty() ? outside : out[open.back()].ns) += to - last;
    last = to;
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const Symbol& what = symbol(symbols[i]);
    if (what.kind != Kind::enter && what.kind != Kind::leave) continue;
    pass(times[i]);
    const std::size_t r = region(what.id);
    if (what.kind == Kind::enter) {
      open.push_back(r);
    } else if (!open.empty()) {
      open.pop_back();
    } else {
      out[r].ns += outside;
      outside = 0;
    }
  }
  pass(end);
  return out;
}

}  // namespace effort::trace
