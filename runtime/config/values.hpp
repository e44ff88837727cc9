// From the text of a setting's value to a number, a flag or a list.
#pragma once

#include "record/text.hpp"
#include "runtime/status.hpp"

#include <charconv>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace effort::config {

/// @param allowed  description of the allowed values, for the message
[[noreturn]] inline void refuse(const std::string& key, const std::string& value, const std::string& allowed) {
  throw Error(Status::config,
              "setting " + record::visible(key) + " cannot be '" + record::visible(value) + "': allowed is " + allowed);
}

template <typename T>
T number(const std::string& key, const std::string& text, T low, T high, const std::string& allowed) {
  T value{};
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || !(value >= low && value <= high)) refuse(key, text, allowed);
  return value;
}

inline bool flag(const std::string& key, const std::string& text) {
  if (text == "1" || text == "true" || text == "on") return true;
  if (text == "0" || text == "false" || text == "off") return false;
  refuse(key, text, "0 or 1");
}

inline std::vector<std::string> names(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    const auto a = word.find_first_not_of(' '), b = word.find_last_not_of(' ');
    if (a != std::string::npos) out.push_back(word.substr(a, b - a + 1));
  }
  return out;
}

}  // namespace effort::config
