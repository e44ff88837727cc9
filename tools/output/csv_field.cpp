#include "tools/output/csv_field.hpp"

#include <algorithm>
#include <iterator>

#include "record/text.hpp"

namespace effort::tools {

namespace {

/// The signs = + - @, also as full-width and small characters, and the minus sign.
bool begins_like_formula(const std::string& text) {
  static constexpr std::uint32_t signs[] = {'=',    '+',    '-',    '@',    0xff1d, 0xff0b, 0xff0d,
                                            0xff20, 0xfe66, 0xfe62, 0xfe63, 0xfe6b, 0x2212};
  return !text.empty() &&
         std::find(std::begin(signs), std::end(signs), record::character_at(text, 0).code) != std::end(signs);
}

}  // namespace

std::string csv_field(const std::string& name) {
  std::string text = record::visible(name);
  if (begins_like_formula(text)) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace effort::tools
