// Numbers as text with a decimal point, whatever the locale of the host.  printf, streams and std::to_string would
// follow the locale.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace effort {

namespace detail {
template <typename... Format>
std::string number_text(double value, Format... format) {
  std::array<char, 400> text;  // the largest number has 309 digits before the point
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, format...).ptr};
}
}  // namespace detail

/// The shortest text that reads back as the same number.
inline std::string number_text(double value) { return detail::number_text(value); }

/// As "%.<digits>g" in the C locale.
inline std::string general_text(double value, int digits) {
  return detail::number_text(value, std::chars_format::general, digits);
}

/// As "%.<decimals>f" in the C locale.
inline std::string fixed_text(double value, int decimals) {
  return detail::number_text(value, std::chars_format::fixed, decimals);
}

}  // namespace effort
