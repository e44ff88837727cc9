#include "record/cbor.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "record/text.hpp"

namespace effort::record::cbor {

namespace {
constexpr unsigned major_unsigned = 0, major_negative = 1, major_bytes = 2, major_text = 3, major_array = 4,
                   major_map = 5, major_simple = 7;
constexpr unsigned simple_false = 20, simple_true = 21, simple_float = 26, simple_double = 27;

[[noreturn]] void wrong_type(const char* wanted) { throw std::runtime_error(std::string("a value is not ") + wanted); }

void put_big_endian(format::Bytes& out, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}
}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_at(text, at).bytes;
    if (bytes == 0) return false;
    at += bytes;
  }
  return true;
}

void Encoder::head(unsigned major, std::uint64_t value) {
  const auto type = static_cast<std::uint8_t>(major << 5);
  if (value < 24) {
    out_.push_back(static_cast<std::byte>(type | value));
    return;
  }
  const int power = value <= 0xff ? 0 : value <= 0xffff ? 1 : value <= 0xffffffff ? 2 : 3;
  out_.push_back(static_cast<std::byte>(type | (24 + power)));
  put_big_endian(out_, value, 1 << power);
}

void Encoder::integer(std::int64_t value) {
  if (value >= 0) {
    head(major_unsigned, static_cast<std::uint64_t>(value));
  } else {
    head(major_negative, static_cast<std::uint64_t>(-(value + 1)));
  }
}

void Encoder::boolean(bool value) {
  out_.push_back(static_cast<std::byte>(major_simple << 5 | (value ? simple_true : simple_false)));
}

void Encoder::real(double value) {
  const bool fits = std::isnan(value) || std::isinf(value) || std::abs(value) <= std::numeric_limits<float>::max();
  const float single = fits ? static_cast<float>(value) : 0.0f;
  if (std::isnan(value) || static_cast<double>(single) == value) {
    out_.push_back(static_cast<std::byte>(major_simple << 5 | simple_float));
    put_big_endian(out_, std::bit_cast<std::uint32_t>(single), 4);
  } else {
    out_.push_back(static_cast<std::byte>(major_simple << 5 | simple_double));
    put_big_endian(out_, std::bit_cast<std::uint64_t>(value), 8);
  }
}

void Encoder::text(std::string_view value) {
  head(is_utf8(value) ? major_text : major_bytes, value.size());
  for (char c : value) out_.push_back(static_cast<std::byte>(c));
}

void Encoder::bytes(format::View value) {
  head(major_bytes, value.size());
  out_.insert(out_.end(), value.begin(), value.end());
}

void Encoder::array(std::uint64_t count) { head(major_array, count); }

void Encoder::map(std::uint64_t count) { head(major_map, count); }

Decoder::Head Decoder::head() {
  const auto first = std::to_integer<unsigned>(in_.take(1)[0]);
  Head out{first >> 5, first & 0x1f, first & 0x1f};
  if (out.info < 24) return out;
  if (out.info > 27) throw std::runtime_error("a value has a length that snapshots do not use");
  out.value = 0;
  for (std::byte b : in_.take(std::uint64_t{1} << (out.info - 24)))
    out.value = out.value << 8 | std::to_integer<std::uint64_t>(b);
  return out;
}

std::int64_t Decoder::integer() {
  const Head h = head();
  if (h.major > major_negative || h.value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    wrong_type("a 64-bit integer");
  const auto value = static_cast<std::int64_t>(h.value);
  return h.major == major_unsigned ? value : -1 - value;
}

std::int64_t Decoder::integer(std::int64_t least, std::int64_t most) {
  const std::int64_t value = integer();
  if (value < least || value > most)
    throw std::runtime_error("the number " + std::to_string(value) + " is out of range");
  return value;
}

bool Decoder::boolean() {
  const Head h = head();
  if (h.major != major_simple || (h.info != simple_false && h.info != simple_true)) wrong_type("true or false");
  return h.info == simple_true;
}

double Decoder::real() {
  const Head h = head();
  if (h.major == major_unsigned) return static_cast<double>(h.value);
  if (h.major == major_negative) return -1.0 - static_cast<double>(h.value);
  if (h.major == major_simple && h.info == simple_float)
    return std::bit_cast<float>(static_cast<std::uint32_t>(h.value));
  if (h.major == major_simple && h.info == simple_double) return std::bit_cast<double>(h.value);
  wrong_type("a number");
}

std::string Decoder::text() {
  const Head h = head();
  if (h.major != major_text && h.major != major_bytes) wrong_type("a text");
  const format::View view = in_.take(h.value);
  return {reinterpret_cast<const char*>(view.data()), view.size()};
}

format::View Decoder::bytes() {
  const Head h = head();
  if (h.major != major_bytes) wrong_type("a string of bytes");
  return in_.take(h.value);
}

std::uint64_t Decoder::array() {
  const Head h = head();
  if (h.major != major_array) wrong_type("an array");
  if (h.value > left()) throw std::runtime_error("an array is longer than its section");
  return h.value;
}

std::uint64_t Decoder::map() {
  const Head h = head();
  if (h.major != major_map) wrong_type("a map");
  if (h.value > left() / 2) throw std::runtime_error("a map is longer than its section");
  return h.value;
}

void Decoder::skip() { skip(0); }

void Decoder::skip(int depth) {
  if (depth > 8) throw std::runtime_error("values are nested too deeply");
  const Head h = head();
  if (h.major == major_bytes || h.major == major_text) {
    in_.take(h.value);
  } else if (h.major == major_array || h.major == major_map) {
    if (h.value > left()) throw std::runtime_error("an array is longer than its section");
    const std::uint64_t count = h.major == major_map ? 2 * h.value : h.value;
    for (std::uint64_t i = 0; i < count; ++i) skip(depth + 1);
  } else if (h.major == 6) {
    throw std::runtime_error("a value has a tag, which snapshots do not use");
  }
}

}  // namespace effort::record::cbor
