#include "record/text.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace effort::record {

namespace {

/// Length of the UTF-8 sequence that starts with `lead`, or 0.  `least` is the smallest code point that it may encode.
std::size_t sequence_length(unsigned char lead, std::uint32_t& least) {
  if (lead < 0x80) return least = 0, 1;
  if (lead >> 5 == 0x6) return least = 0x80, 2;
  if (lead >> 4 == 0xe) return least = 0x800, 3;
  if (lead >> 3 == 0x1e) return least = 0x10000, 4;
  return 0;
}

std::string hexadecimal(std::uint32_t value, int digits) {
  std::string out;
  for (int i = digits - 1; i >= 0; --i) out += "0123456789abcdef"[value >> (4 * i) & 15];
  return out;
}

}  // namespace

Character character_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  std::uint32_t least = 0;
  const std::size_t length = sequence_length(lead, least);
  if (length == 0 || length > text.size() - at) return {};
  std::uint32_t code = length == 1 ? lead : lead & (0x7fu >> length);
  for (std::size_t k = 1; k < length; ++k) {
    const auto next = static_cast<unsigned char>(text[at + k]);
    if (next >> 6 != 0x2) return {};
    code = code << 6 | (next & 0x3f);
  }
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, length};
}

bool is_control(std::uint32_t code) {
  // Unicode 15: the categories Cc, Zl, Zp and Cf, except for the Arabic and Kaithi number signs, which are visible; and
  // the property Default_Ignorable_Code_Point.
  static constexpr std::pair<std::uint32_t, std::uint32_t> ranges[] = {
      {0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},      {0x34f, 0x34f},   {0x61c, 0x61c},   {0x70f, 0x70f},
      {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},  {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
      {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},  {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x13430, 0x1343f},
      {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](const auto& range) { return code >= range.first && code <= range.second; });
}

std::string visible(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.bytes == 0)
      out += "\\x" + hexadecimal(static_cast<unsigned char>(text[at]), 2);
    else if (c.code == '\n')
      out += "\\n";
    else if (!is_control(c.code))
      out += text.substr(at, c.bytes);
    else
      out += c.code < 0x80      ? "\\x" + hexadecimal(c.code, 2)
             : c.code < 0x10000 ? "\\u" + hexadecimal(c.code, 4)
                                : "\\U" + hexadecimal(c.code, 8);
    at += std::max<std::size_t>(c.bytes, 1);
  }
  return out;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace effort::record
