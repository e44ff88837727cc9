#include <charconv>
#include <stdexcept>

#include "tools/place/switches.hpp"

namespace effort::tools {
namespace {

constexpr std::size_t most_names = std::size_t{1} << 20;

void add(std::vector<std::string>& names, std::string name) {
  if (names.size() == most_names) throw std::invalid_argument("stands for more than 1,048,576 names");
  names.push_back(std::move(name));
}

std::uint64_t number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    throw std::invalid_argument("has '" + std::string(digits) + "' in brackets, where a number is expected");
  return value;
}

/// Adds PREFIX, each number of the range with the width of its first, SUFFIX.
void add_range(std::vector<std::string>& names, const std::string& prefix, std::string_view range,
               const std::string& suffix) {
  const std::size_t dash = range.find('-');
  const std::string_view low = range.substr(0, dash);
  const std::uint64_t first = number(low), last = dash == range.npos ? first : number(range.substr(dash + 1));
  if (last < first) throw std::invalid_argument("has the range '" + std::string(range) + "', which runs backwards");
  for (std::uint64_t i = first; i <= last; ++i) {
    std::string digits = std::to_string(i);
    if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
    add(names, prefix + digits + suffix);
    if (i == last) break;  // the largest number has no successor
  }
}

/// Adds the names of one item, which may have one pair of brackets.
void add_item(std::vector<std::string>& names, std::string_view item) {
  const std::size_t open = item.find('[');
  if (open == item.npos) {
    if (item.empty() || item.find(']') != item.npos) throw std::invalid_argument("has an empty name or a stray ']'");
    return add(names, std::string(item));
  }
  const std::size_t close = item.find(']', open);
  if (close == item.npos) throw std::invalid_argument("lacks a ']'");
  const std::string prefix(item.substr(0, open)), suffix(item.substr(close + 1));
  if (suffix.find('[') != suffix.npos) throw std::invalid_argument("has two pairs of brackets in one name");
  std::string_view ranges = item.substr(open + 1, close - open - 1);
  while (true) {
    const std::size_t comma = ranges.find(',');
    add_range(names, prefix, ranges.substr(0, comma), suffix);
    if (comma == ranges.npos) return;
    ranges.remove_prefix(comma + 1);
  }
}

}  // namespace

std::vector<std::string> expand_host_list(std::string_view list) {
  std::vector<std::string> names;
  bool inside = false;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') inside = true;
    if (i < list.size() && list[i] == ']') inside = false;
    if (i < list.size() && (inside || list[i] != ',')) continue;
    add_item(names, list.substr(first, i - first));
    first = i + 1;
  }
  return names;
}

}  // namespace effort::tools
