#include "record/format.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include <stdexcept>

namespace effort::record::format {

std::uint64_t hash(View bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

void put_entry(Bytes& out, const Entry& entry) {
  put(out, entry.type);
  put(out, entry.key);
  put(out, entry.flags);
  put(out, entry.version);
  put(out, std::uint32_t{0});
  put(out, entry.stored);
  put(out, entry.raw);
  put(out, entry.hash);
}

Entry get_entry(View bytes, std::size_t at) {
  Entry entry;
  entry.type = get<std::uint32_t>(bytes, at);
  entry.key = get<std::uint32_t>(bytes, at + 4);
  entry.flags = get<std::uint16_t>(bytes, at + 8);
  entry.version = get<std::uint16_t>(bytes, at + 10);
  entry.stored = get<std::uint64_t>(bytes, at + 16);
  entry.raw = get<std::uint64_t>(bytes, at + 24);
  entry.hash = get<std::uint64_t>(bytes, at + 32);
  return entry;
}

std::string type_text(std::uint32_t type) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    const char c = static_cast<char>(type >> (8 * i) & 0xff);
    text += c >= ' ' && c <= '~' ? c : '?';
  }
  return text;
}

Bytes pack(Entry& entry, Bytes raw) {
  entry.raw = raw.size();
  Bytes packed(ZSTD_compressBound(raw.size()));
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), 3);
  const bool smaller = !ZSTD_isError(size) && size < raw.size() && raw.size() <= most_raw(size);
  if (smaller) {
    packed.resize(size);
    packed.shrink_to_fit();
    entry.flags |= flag_zstd;
  } else {
    packed = std::move(raw);
  }
  entry.stored = packed.size();
  entry.hash = hash(packed);
  return packed;
}

Bytes unpack(const Entry& entry, Bytes stored) {
  if (!(entry.flags & flag_zstd)) {
    if (entry.raw != entry.stored) throw std::runtime_error("an uncompressed section has two different sizes");
    return stored;
  }
  if (entry.raw > most_raw(entry.stored)) throw std::runtime_error("a section's size exceeds the limit of the format");
  Bytes raw(entry.raw);
  const std::size_t size = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) || size != raw.size())
    throw std::runtime_error("a compressed section does not decompress to its size");
  return raw;
}

void put_varint(Bytes& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::byte>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::byte>(value));
}

std::uint64_t Cursor::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(take(1)[0]);
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw std::runtime_error("a number is longer than 64 bits");
}

std::uint64_t Cursor::varint(std::uint64_t most, const char* what) {
  const std::uint64_t value = varint();
  if (value > most) throw std::runtime_error(std::string(what) + " " + std::to_string(value) + " is out of range");
  return value;
}

View Cursor::take(std::uint64_t count) {
  if (count > left()) throw std::runtime_error("a section ends too early");
  const View view = bytes_.subspan(at_, count);
  at_ += count;
  return view;
}

void Cursor::finish() const {
  if (left() != 0) throw std::runtime_error("a section has bytes after its content");
}

}  // namespace effort::record::format
