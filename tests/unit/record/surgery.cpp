#include "surgery.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdexcept>

namespace effort::record::test {

namespace {

void put(std::vector<std::byte>& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

std::uint64_t get(const std::vector<std::byte>& in, std::size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i)
    value = value << 8 | std::to_integer<std::uint64_t>(in.at(at + static_cast<std::size_t>(i)));
  return value;
}

std::uint64_t hash(const std::vector<std::byte>& bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace

RawFile RawFile::parse(const std::vector<std::byte>& file) {
  RawFile out;
  out.major = static_cast<std::uint16_t>(get(file, 8, 2));
  out.minor = static_cast<std::uint16_t>(get(file, 10, 2));
  out.features = static_cast<std::uint32_t>(get(file, 12, 4));
  std::size_t entry = get(file, file.size() - 40, 8);
  std::size_t offset = 24;
  for (std::uint64_t count = get(file, file.size() - 32, 8); count > 0; --count, entry += 40) {
    RawSection s;
    for (std::size_t i = 0; i < 4; ++i) s.type += static_cast<char>(file.at(entry + i));
    s.key = static_cast<std::uint32_t>(get(file, entry + 4, 4));
    s.flags = static_cast<std::uint16_t>(get(file, entry + 8, 2));
    s.version = static_cast<std::uint16_t>(get(file, entry + 10, 2));
    s.raw = get(file, entry + 24, 8);
    const std::size_t stored = get(file, entry + 16, 8);
    const auto first = file.begin() + static_cast<std::ptrdiff_t>(offset);
    s.payload.assign(first, first + static_cast<std::ptrdiff_t>(stored));
    offset += stored;
    out.sections.push_back(s);
  }
  return out;
}

std::vector<std::byte> RawFile::assemble() const {
  std::vector<std::byte> out;
  for (unsigned char c : {0x89, 0x45, 0x46, 0x54, 0x0d, 0x0a, 0x1a, 0x0a}) out.push_back(static_cast<std::byte>(c));
  put(out, major, 2);
  put(out, minor, 2);
  put(out, features, 4);
  put(out, hash(out), 8);
  std::vector<std::byte> index;
  for (const RawSection& s : sections) {
    for (char c : s.type) index.push_back(static_cast<std::byte>(c));
    put(index, s.key, 4);
    put(index, s.flags, 2);
    put(index, s.version, 2);
    put(index, 0, 4);
    put(index, s.payload.size(), 8);
    put(index, s.raw, 8);
    put(index, hash(s.payload), 8);
    out.insert(out.end(), s.payload.begin(), s.payload.end());
  }
  std::vector<std::byte> footer;
  put(footer, out.size(), 8);
  put(footer, sections.size(), 8);
  put(footer, hash(index), 8);
  put(footer, hash(footer), 8);
  for (char c : {'E', 'F', 'T', '-', 'E', 'N', 'D', '\n'}) footer.push_back(static_cast<std::byte>(c));
  out.insert(out.end(), index.begin(), index.end());
  out.insert(out.end(), footer.begin(), footer.end());
  return out;
}

RawSection& RawFile::section(const std::string& type) {
  for (RawSection& s : sections) {
    if (s.type == type) return s;
  }
  throw std::invalid_argument("no section " + type);
}

}  // namespace effort::record::test
