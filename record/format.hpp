// The constants of FORMAT.md, and operations on bytes that writer and reader share.  Internal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace effort::record::format {

using Bytes = std::vector<std::byte>;
using View = std::span<const std::byte>;

inline constexpr std::array<unsigned char, 8> magic = {0x89, 'E', 'F', 'T', '\r', '\n', 0x1a, '\n'};
inline constexpr std::array<unsigned char, 8> end_magic = {'E', 'F', 'T', '-', 'E', 'N', 'D', '\n'};
inline constexpr std::uint16_t major = 1;
inline constexpr std::uint16_t minor = 3;
inline constexpr std::size_t header_bytes = 24;
inline constexpr std::size_t entry_bytes = 40;
inline constexpr std::size_t footer_bytes = 40;

inline constexpr std::uint16_t flag_required = 1;
inline constexpr std::uint16_t flag_zstd = 2;
inline constexpr std::uint16_t section_version = 1;

constexpr std::uint32_t four(const char (&name)[5]) {
  return static_cast<std::uint32_t>(static_cast<unsigned char>(name[0])) |
         static_cast<std::uint32_t>(static_cast<unsigned char>(name[1])) << 8 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(name[2])) << 16 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(name[3])) << 24;
}
inline constexpr std::uint32_t type_run = four("RUN ");
inline constexpr std::uint32_t type_windows = four("WIND");
inline constexpr std::uint32_t type_strata = four("STRA");
inline constexpr std::uint32_t type_moves = four("MOVE");
inline constexpr std::uint32_t type_path = four("PATH");
inline constexpr std::uint32_t type_tiles = four("TILE");
inline constexpr std::uint32_t type_shared = four("SHAR");
inline constexpr std::uint32_t type_exact = four("EXAC");
inline constexpr std::uint32_t type_traffic = four("COMM");

/// One section as the index describes it.
struct Entry {
  std::uint32_t type = 0;
  std::uint32_t key = 0;
  std::uint16_t flags = 0;
  std::uint16_t version = section_version;
  std::uint64_t stored = 0;
  std::uint64_t raw = 0;
  std::uint64_t hash = 0;
};

/// XXH3, 64 bits, seed 0.
std::uint64_t hash(View bytes);

/// Little-endian integers of 2, 4 and 8 bytes.
template <typename T>
void put(Bytes& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
}
template <typename T>
T get(View bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
  return static_cast<T>(value);
}
void put_entry(Bytes& out, const Entry& entry);
/// `at`: first byte of an entry that lies within `bytes`.
Entry get_entry(View bytes, std::size_t at);
std::string type_text(std::uint32_t type);

/// Largest raw length of a section of `stored` bytes.  A writer that would exceed it stores the section uncompressed.
constexpr std::uint64_t most_raw(std::uint64_t stored) { return 65536 + 32 * stored; }

/// Compresses if that saves bytes, and sets entry.flags, stored, raw and hash.  Returns the stored bytes.
Bytes pack(Entry& entry, Bytes raw);
/// The inverse; the caller has checked the hash.  Errors: std::runtime_error that describes the problem.
Bytes unpack(const Entry& entry, Bytes stored);

/// Unsigned LEB128.
void put_varint(Bytes& out, std::uint64_t value);
/// The same for signed integers, whose sign becomes the lowest bit.
inline void put_signed(Bytes& out, std::int64_t value) {
  put_varint(out, static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

/// Reads untrusted bytes.  Errors of every member: std::runtime_error that describes the problem.
class Cursor {
 public:
  explicit Cursor(View bytes) : bytes_(bytes) {}
  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  std::uint64_t varint();
  /// A varint that must not exceed `most`.
  std::uint64_t varint(std::uint64_t most, const char* what);
  std::int64_t signed_varint() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  View take(std::uint64_t count);
  /// Checks that nothing is left.
  void finish() const;

 private:
  View bytes_;
  std::size_t at_ = 0;
};

}  // namespace effort::record::format
