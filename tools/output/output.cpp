#include "tools/output/output.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "record/text.hpp"

namespace effort::tools {

namespace {

std::string format(const char* pattern, double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), pattern, value);
  return buffer.data();
}

/// Columns a terminal needs for UTF-8 text of narrow characters: bytes that start a character.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& object, int indent) {
  const std::string text = object.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const record::Character c = record::character_at(text, at);
    // Those of ASCII are escaped already, or blanks between values.
    out += c.code >= 0x80 && record::is_control(c.code) ? record::visible(text.substr(at, c.bytes))
                                                        : text.substr(at, c.bytes);
    at += c.bytes;
  }
  return out;
}

void print_json(const nlohmann::ordered_json& object) {
  const std::string text = json_text(object);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
}

std::string valid_utf8(const std::string& text) {
  const std::string mended =
      nlohmann::ordered_json(text).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return nlohmann::ordered_json::parse(mended).get<std::string>();
}

nlohmann::ordered_json known(double value) {
  if (std::isnan(value) || value < 0) return nullptr;
  return value;
}

std::string nanoseconds_text(double ns) { return seconds_text(1e-9 * ns); }

std::string rows_left_out(std::size_t shown, std::size_t all) {
  return shown < all ? ", the first " + std::to_string(shown) + " of " + std::to_string(all) + " (--all shows the rest)"
                     : "";
}

std::string seconds_text(double seconds) {
  if (!(seconds >= 0)) return "-";
  if (seconds == 0) return "0 s";
  if (seconds < 1e-6) return format("%.3g ns", seconds * 1e9);
  if (seconds < 1e-3) return format("%.3g us", seconds * 1e6);
  if (seconds < 1) return format("%.3g ms", seconds * 1e3);
  if (seconds < 1000) return format("%.3g s", seconds);
  return format("%.0f s", seconds);
}

std::string bytes_text(double bytes) {
  if (bytes < 1024) return format("%.0f B", bytes);
  const std::array<const char*, 4> units = {"%.1f KiB", "%.1f MiB", "%.1f GiB", "%.1f TiB"};
  std::size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return format(units[unit], bytes);
}

std::string percent_text(double share) {
  if (!(share >= 0)) return "-";
  return format(share != 0 && share < 0.001 ? "%.2g %%" : "%.1f %%", 100 * share);
}

std::string amount_text(double value, const std::string& unit) {
  if (unit == "s") return seconds_text(value);
  return format("%.4g", value) + (unit.empty() || unit == "1" ? "" : " " + record::visible(unit));
}

namespace {

/// The part [from, to) of a text, less those of its characters at the ends that would be cut.
std::string part(const std::string& text, std::size_t from, std::size_t to) {
  const auto continues = [&](std::size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
  };
  while (from < to && continues(from)) ++from;
  while (to > from && continues(to)) --to;
  return text.substr(from, to - from);
}

/// The text cut to `width` bytes such that those at `place` can be seen.
std::string cut_around(const std::string& text, std::size_t place, std::size_t width) {
  const std::size_t third = (width - 4) / 3;
  if (text.size() <= width) return text;
  const std::size_t from = std::clamp(place, third + third / 2, text.size() - third - (third + 1) / 2) - third / 2;
  return part(text, 0, third) + ".." + part(text, from, from + third) + ".." +
         part(text, text.size() - third, text.size());
}

}  // namespace

std::string name_text(const std::string& name, std::size_t width) {
  const std::string out = record::visible(name);
  if (out.size() <= width) return out;
  const std::size_t head = (width - 2) / 2, tail = width - 2 - head;
  return part(out, 0, head) + ".." + part(out, out.size() - tail, out.size());
}

std::vector<std::string> name_texts(const std::vector<std::string>& names, std::size_t width) {
  constexpr std::size_t step = 10, widest = 400;
  using Rows = std::vector<std::size_t>;
  std::vector<std::string> out;
  std::map<std::string, Rows> alike;  // by text
  for (const std::string& name : names) {
    out.push_back(name_text(name, width));
    alike[out.back()].push_back(out.size() - 1);
  }
  for (; !alike.empty() && width <= widest; width += step) {
    std::map<std::string, Rows> next;
    for (const auto& [text, rows] : alike) {
      const std::string first = record::visible(names[rows[0]]);
      std::size_t place = std::string::npos;  // where they differ first
      for (const std::size_t i : rows) {
        const std::string other = record::visible(names[i]);
        const auto at = std::mismatch(first.begin(), first.end(), other.begin(), other.end()).first;
        if (other != first) place = std::min(place, static_cast<std::size_t>(at - first.begin()));
      }
      if (place == std::string::npos) continue;
      for (const std::size_t i : rows) next[out[i] = cut_around(record::visible(names[i]), place, width)].push_back(i);
    }
    alike = std::move(next);
  }
  return out;
}

void number_equal(std::vector<std::string>& texts) {
  std::map<std::string, int> seen;
  for (std::string& text : texts)
    if (const int n = ++seen[text]; n > 1) text += " #" + std::to_string(n);
}

Table::Table(std::vector<Heading> headings) : headings_(std::move(headings)) {}

void Table::add(std::vector<std::string> cells) {
  cells.resize(headings_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < headings_.size(); ++c) {
    std::size_t width = columns(headings_[c].title);
    for (const auto& row : rows_) width = std::max(width, columns(row[c]));
    widths.push_back(width);
  }
  const auto line = [&](const auto& cell_of) {
    std::string out = "  ";
    for (std::size_t c = 0; c < headings_.size(); ++c) {
      const std::string& cell = cell_of(c);
      const std::string padding(widths[c] - columns(cell), ' ');
      if (c > 0) out += "  ";
      out += headings_[c].align == Align::left ? cell + padding : padding + cell;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  };
  std::string out = line([&](std::size_t c) -> const std::string& { return headings_[c].title; });
  for (const auto& row : rows_) out += line([&](std::size_t c) -> const std::string& { return row[c]; });
  return out;
}

}  // namespace effort::tools
