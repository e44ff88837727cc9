// The part of CBOR (RFC 8949) that snapshots use: definite lengths, no tags.  Internal.
//
// A general library would build a tree of any depth and size from untrusted bytes.  This one reads directly into the
// caller's types, so memory and stack are bounded by the input.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "record/format.hpp"

namespace effort::record::cbor {

/// Appends values to bytes.
class Encoder {
 public:
  explicit Encoder(format::Bytes& out) : out_(out) {}
  void integer(std::int64_t value);
  void boolean(bool value);
  /// In 4 bytes if that is exact, else in 8.
  void real(double value);
  /// A text string; invalid UTF-8 becomes a byte string.
  void text(std::string_view value);
  void bytes(format::View value);
  /// `count` values follow.
  void array(std::uint64_t count);
  /// `count` pairs of key and value follow.
  void map(std::uint64_t count);

 private:
  void head(unsigned major, std::uint64_t value);
  format::Bytes& out_;
};

/// Reads values.  Errors of every member: std::runtime_error that describes the problem.
class Decoder {
 public:
  explicit Decoder(format::View bytes) : in_(bytes) {}
  std::int64_t integer();
  /// An integer within [least, most].
  std::int64_t integer(std::int64_t least, std::int64_t most);
  bool boolean();
  /// A floating-point number or an integer.
  double real();
  std::string text();
  format::View bytes();
  /// Number of values that follow; never more than there are bytes left.
  std::uint64_t array();
  /// Number of pairs that follow; never more than half the bytes left.
  std::uint64_t map();
  /// Skips one value of any kind, at most 8 levels deep.
  void skip();
  std::size_t left() const { return in_.left(); }
  void finish() const { in_.finish(); }

 private:
  struct Head {
    unsigned major;
    unsigned info;
    std::uint64_t value;
  };
  Head head();
  void skip(int depth);
  format::Cursor in_;
};

/// Whether the bytes are valid UTF-8.
bool is_utf8(std::string_view text);

}  // namespace effort::record::cbor
