// Writes protocol buffers: only the part that Perfetto's traces need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace effort::tools {

/// A message that is being written.  Field numbers are those of the .proto file.
class Protobuf {
 public:
  void varint(int field, std::uint64_t value) {
    raw_varint(static_cast<std::uint64_t>(field) << 3);
    raw_varint(value);
  }
  void fixed64(int field, std::uint64_t value) {
    raw_varint(static_cast<std::uint64_t>(field) << 3 | 1);
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void text(int field, std::string_view value) {
    raw_varint(static_cast<std::uint64_t>(field) << 3 | 2);
    raw_varint(value.size());
    bytes_ += value;
  }
  void message(int field, const Protobuf& inner) { text(field, inner.bytes_); }

  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void raw_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace effort::tools
