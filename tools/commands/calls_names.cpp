// effort calls names PROGRAM... --file PATTERNS
#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>

#include "tools/commands/commands.hpp"
#include "tools/output/output.hpp"
#include "tools/symbols/debug_info.hpp"

namespace effort::tools {

namespace {

/// libeffort_functions takes patterns of at most 255 characters, and Linux variables of less than 128 KiB.
constexpr std::size_t most_pattern = 250, most_bytes = 120'000;

bool matches(const std::vector<std::string>& patterns, const std::string& file) {
  const std::string base = std::filesystem::path(file).filename().string();
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), base.c_str(), 0) == 0 || ::fnmatch(pattern.c_str(), file.c_str(), 0) == 0;
  });
}

}  // namespace

void run_calls_names(const CallsNamesArguments& a) {
  std::set<std::string> names;
  nlohmann::ordered_json functions = nlohmann::ordered_json::array();
  for (const std::string& program : a.programs) {
    if (!std::filesystem::is_regular_file(program))
      throw std::runtime_error("the program '" + program + "' does not exist: name another one");
    const DebugInfo info{std::filesystem::path(program)};
    if (!info.has_lines()) throw std::runtime_error("'" + program + "' has no debug information: compile with -g");
    for (const FunctionSymbol& f : info.functions())
      if (matches(a.files, f.file) && names.insert(f.name).second)
        functions.push_back({{"name", f.name}, {"file", f.file}});
  }
  if (names.empty()) throw std::runtime_error("no source file with functions matches --file: give other patterns");
  if (a.json) {
    print_json({{"functions", std::move(functions)}});
    return;
  }
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ',';
    if (a.leave_out) text += '-';
    text += name.size() > most_pattern ? name.substr(0, most_pattern) + '*' : name;
  }
  if (text.size() > most_bytes)
    throw std::runtime_error("these are " + std::to_string(names.size()) +
                             " functions, too many for an environment variable: give narrower patterns");
  std::printf("%s\n", text.c_str());
}

}  // namespace effort::tools
