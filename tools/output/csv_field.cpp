#include "tools/output/csv_field.hpp"

#include <string_view>

#include "record/text.hpp"

namespace effort::tools {

std::string csv_field(const std::string& name) {
  std::string text = record::visible(name);
  if (!text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace effort::tools
