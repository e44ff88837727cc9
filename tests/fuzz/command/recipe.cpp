#include "recipe.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "record/format.hpp"

namespace effort::tools::test {

namespace {

using Bytes = std::vector<std::byte>;
using record::test::RawFile;
using record::test::RawSection;

/// Numbers at the limits of the fields. The golden run has 8 ranks, 2 nodes, 60 steps and 8 series.
constexpr std::array<std::int64_t, 28> numbers = {0,          1,          2,           3,         4,
                                                  5,          7,          8,           9,         10,
                                                  49,         50,         59,          60,        61,
                                                  127,        255,        256,         65535,     65536,
                                                  0x7fffffff, 0x80000000, 0xffffffffu, 1LL << 40, (1LL << 40) + 1,
                                                  INT64_MAX,  -1,         INT64_MIN};
/// NaN, infinities, the largest and the smallest number, as bits.
constexpr std::array<std::uint64_t, 8> reals = {0x7ff8000000000000, 0x7ff0000000000000, 0xfff0000000000000,
                                                0x7fefffffffffffff, 0xffefffffffffffff, 0x0000000000000001,
                                                0x8000000000000000, 0xbff0000000000000};
const std::array<std::string, 8> texts = {std::string(),
                                          std::string("a\0b", 3),
                                          "\x1b[2J\xc2\x9b"
                                          "31m",
                                          "\xe2\x80\xae"
                                          "txt.exe",
                                          "\xff\xfe",
                                          "=HYPERLINK(\"x\")",
                                          "MPI_Send [golden+0x10 golden+0x20] > MPI_Recv [golden+0xffffffffffffffff]",
                                          std::string(3000, 'x')};

void append(Bytes& out, const std::string& text) {
  for (char c : text) out.push_back(static_cast<std::byte>(c));
}

Bytes varint(std::uint64_t value) {
  Bytes out;
  record::format::put_varint(out, value);
  return out;
}

/// One CBOR item, or the head of an array or a map.
struct Item {
  std::size_t begin = 0, head = 0, end = 0;
  unsigned major = 0, info = 0;
};

std::vector<Item> items_of(const Bytes& payload) {
  std::vector<Item> out;
  for (std::size_t at = 0; at < payload.size();) {
    const auto first = std::to_integer<unsigned>(payload[at]);
    Item item{at, at + 1, 0, first >> 5, first & 0x1f};
    std::uint64_t value = item.info;
    if (item.info >= 24 && item.info <= 27) {
      value = 0;
      for (std::size_t i = 0; i < std::size_t{1} << (item.info - 24) && item.head < payload.size(); ++i)
        value = value << 8 | std::to_integer<std::uint64_t>(payload[item.head++]);
    }
    const bool has_content = item.major == 2 || item.major == 3;
    item.end = item.head + (has_content ? std::min<std::uint64_t>(value, payload.size() - item.head) : 0);
    out.push_back(item);
    at = item.end;
  }
  return out;
}

Bytes head(unsigned major, std::uint64_t value) {
  Bytes out{static_cast<std::byte>(major << 5 | 27)};
  for (int i = 7; i >= 0; --i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
  return out;
}

/// Replaces an item by another one of the same type, so that its neighbours keep their meaning.
Bytes substitute(const Bytes& payload, const Item& item, unsigned value) {
  const std::int64_t number = numbers[value % numbers.size()];
  const Bytes old(payload.begin() + static_cast<std::ptrdiff_t>(item.begin),
                  payload.begin() + static_cast<std::ptrdiff_t>(item.end));
  switch (item.major) {
    case 0:
    case 1:
      return number < 0 ? head(1, static_cast<std::uint64_t>(-(number + 1)))
                        : head(0, static_cast<std::uint64_t>(number));
    case 2: {  // labels: one of them
      Bytes out = old;
      const std::size_t content = item.head - item.begin;
      if (out.size() > content) out[content + value % (out.size() - content)] = static_cast<std::byte>(value / 16);
      return out;
    }
    case 3: {
      const std::string& text = texts[value % texts.size()];
      Bytes out = head(3, text.size());
      append(out, text);
      return out;
    }
    case 4:
    case 5: return head(item.major, static_cast<std::uint64_t>(number));
    default: break;
  }
  if (item.info == 26 || item.info == 27) return head(7, reals[value % reals.size()]);
  return {
      static_cast<std::byte>(item.begin < payload.size() ? std::to_integer<unsigned>(payload[item.begin]) ^ 1u : 0)};
}

void replace(Bytes& payload, std::size_t begin, std::size_t end, const Bytes& by) {
  const auto first = payload.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto at = payload.erase(first, payload.begin() + static_cast<std::ptrdiff_t>(end));
  payload.insert(at, by.begin(), by.end());
}

void change_item(Bytes& payload, std::size_t where, unsigned value) {
  const std::vector<Item> items = items_of(payload);
  if (items.empty()) return;
  const Item item = items[where % items.size()];
  replace(payload, item.begin, item.end, substitute(payload, item, value));
}

/// The varint of the given number, counted from the section's start.
void change_varint(Bytes& payload, std::size_t where, unsigned value) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < where && at < payload.size(); ++at) i += std::to_integer<unsigned>(payload[at]) < 0x80;
  std::size_t end = at;
  while (end < payload.size() && std::to_integer<unsigned>(payload[end]) >= 0x80) ++end;
  replace(payload, at, std::min(end + 1, payload.size()),
          varint(static_cast<std::uint64_t>(numbers[value % numbers.size()])));
}

void change_section(RawFile& file, std::size_t i, std::size_t where, unsigned value) {
  RawSection& section = file.sections[i];
  const std::size_t other = where % file.sections.size();
  switch (value % 5) {
    case 0: section.key = static_cast<std::uint32_t>(numbers[where % numbers.size()]); return;
    case 1: file.sections.erase(file.sections.begin() + static_cast<std::ptrdiff_t>(i)); return;
    case 2: file.sections.push_back(file.sections[i]); return;
    case 3: std::swap(file.sections[i], file.sections[other]); return;
    default: section.payload = file.sections[other].payload;
  }
}

/// For any payload.
void change_bytes(Bytes& payload, unsigned how, std::size_t where, unsigned value) {
  switch (how) {
    case 4:
      if (!payload.empty()) payload[where % payload.size()] = static_cast<std::byte>(value);
      break;
    case 5: payload.resize(where % (payload.size() + 1)); break;
    default:
      payload.insert(payload.begin() + static_cast<std::ptrdiff_t>(where % (payload.size() + 1)),
                     static_cast<std::byte>(value));
  }
}

/// A text of a trace, with its length before it, or the eight bytes of a real number.
void change_text_or_real(Bytes& payload, std::size_t where, unsigned value) {
  const std::size_t at = where % (payload.size() + 1);
  Bytes by;
  std::size_t old = 8;
  if (value % 2 == 0 && at < payload.size()) {
    const std::string& text = texts[value / 2 % texts.size()];
    by = varint(text.size());
    append(by, text);
    old = 1 + std::to_integer<std::size_t>(payload[at]);
  } else {
    for (int i = 0; i < 8; ++i) by.push_back(static_cast<std::byte>(reals[value / 2 % reals.size()] >> (8 * i)));
  }
  replace(payload, at, std::min(payload.size(), at + old), by);
}

void change_chunk(std::vector<TraceChunk>& chunks, std::size_t i, std::size_t where, unsigned value) {
  const std::size_t other = where % chunks.size();
  const auto at = [&](std::size_t index) { return chunks.begin() + static_cast<std::ptrdiff_t>(index); };
  switch (value % 6) {
    case 0: chunks[i].type = chunks[other].type; return;
    case 1: chunks.erase(at(i)); return;
    case 2: chunks.insert(at(other), TraceChunk(chunks[i])); return;
    case 3: std::swap(chunks[i], chunks[other]); return;
    case 4: chunks[i].type = record::format::four("XXXX"); return;
    default: chunks[i].payload = chunks[other].payload;
  }
}

}  // namespace

RawFile decompressed(const std::vector<std::byte>& file) {
  RawFile out = RawFile::parse(file);
  for (RawSection& section : out.sections) {
    record::format::Entry entry;
    entry.flags = section.flags;
    entry.stored = section.payload.size();
    entry.raw = section.raw;
    section.payload = record::format::unpack(entry, std::move(section.payload));
    section.flags &= record::format::flag_required;
  }
  return out;
}

void apply(std::span<const unsigned char> recipe, RawFile& file) {
  for (; recipe.size() >= 5 && !file.sections.empty(); recipe = recipe.subspan(5)) {
    const std::size_t i = recipe[0] % file.sections.size(), where = recipe[2] | std::size_t{recipe[3]} << 8;
    const unsigned value = recipe[4];
    Bytes& payload = file.sections[i].payload;
    const bool cbor = file.sections[i].type == "RUN " || file.sections[i].type == "WIND" ||
                      file.sections[i].type == "STRA" || file.sections[i].type == "COMM";
    switch (recipe[1] % 8) {
      case 0:
      case 1:
      case 2:
      case 3: cbor ? change_item(payload, where, value) : change_varint(payload, where % 64, value); break;
      case 4:
      case 5:
      case 6: change_bytes(payload, recipe[1] % 8, where, value); break;
      default: change_section(file, i, where, value);
    }
  }
  for (RawSection& section : file.sections) section.raw = section.payload.size();
}

void apply(std::span<const unsigned char> recipe, std::vector<TraceChunk>& chunks) {
  for (; recipe.size() >= 5 && !chunks.empty(); recipe = recipe.subspan(5)) {
    const std::size_t i = recipe[0] % chunks.size(), where = recipe[2] | std::size_t{recipe[3]} << 8;
    Bytes& payload = chunks[i].payload;
    switch (recipe[1] % 8) {
      case 0:
      case 1:
      case 2: change_varint(payload, where % (payload.size() + 1), recipe[4]); break;
      case 3: change_text_or_real(payload, where, recipe[4]); break;
      case 4:
      case 5:
      case 6: change_bytes(payload, recipe[1] % 8, where, recipe[4]); break;
      default: change_chunk(chunks, i, where, recipe[4]);
    }
  }
}

}  // namespace effort::tools::test
