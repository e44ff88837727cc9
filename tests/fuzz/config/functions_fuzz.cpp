// Gives the recorder of function calls any values of its variables: numbers stay within their limits, and lists of
// patterns choose what their documentation says.
//
// The input is six values and a name or path, separated by zero bytes.
#include "adapters/functions/settings.hpp"
#include "analytics/calls/stamps.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace functions = effort::functions;

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::array names{"EFFORT_FUNCTIONS",       "EFFORT_FUNCTIONS_MODULES", "EFFORT_FUNCTIONS_FILTER",
                           "EFFORT_FUNCTIONS_DEPTH", "EFFORT_FUNCTIONS_STAMPS",  "EFFORT_FUNCTIONS_OVERHEAD"};

/// The patterns of a list; those that are empty or too long do not count.
std::vector<std::string> patterns_of(std::string_view list) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    const std::string pattern(list.substr(at, comma - at));
    const std::size_t length = pattern.size() - (pattern.starts_with('-') ? 1 : 0);
    if (length > 0 && length < 256) out.push_back(pattern);
    at = comma + 1;
  }
  return out;
}

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str() + (pattern.starts_with('-') ? 1 : 0), name.c_str(), 0) == 0;
}

void check_patterns(const std::string& list, const std::string& name) {
  bool any = false, refused = false, chosen = false, choices = false;
  const std::string base = name.substr(name.rfind('/') + 1);
  for (const std::string& pattern : patterns_of(list)) {
    any = any || matches(pattern, base);
    if (pattern.starts_with('-'))
      refused = refused || matches(pattern, name);
    else
      choices = true, chosen = chosen || matches(pattern, name);
  }
  require(functions::matches_any(list.c_str(), name.c_str()) == any);
  require(functions::passes_filter(list.c_str(), name.c_str()) == (!refused && (chosen || !choices)));
}

void check_settings() {
  const functions::Settings s = functions::read_settings();
  require(s.depth <= 1'000'000'000 && s.stamp_every <= effort::calls::most_stamp_every);
  require(s.least_ns <= 1'000'000'000'000'000'000);  // 30 years, after which no function has been called that often
  require(!s.modules || *s.modules != '\0');
  require(!s.names || *s.names != '\0');
  require(s.on || !s.all_modules);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> values(names.size() + 1);
  std::size_t field = 0;
  for (std::size_t i = 0; i < size && field < values.size(); ++i)
    if (data[i] == 0)
      ++field;
    else
      values[field] += static_cast<char>(data[i]);
  for (std::size_t i = 0; i < names.size(); ++i) setenv(names[i], values[i].c_str(), 1);
  check_settings();
  for (const std::string& list : {values[1], values[2]}) check_patterns(list, values.back());
  return 0;
}
