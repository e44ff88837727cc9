#include "tools/calls/names.hpp"

#include <array>
#include <charconv>

#include "tools/symbols/symbols.hpp"

namespace effort::tools {

FunctionNames function_names(const CallInput& input, const std::vector<std::filesystem::path>& search) {
  FunctionNames names;
  const record::calls::Names& from = input.names();
  Symbols symbols(from.modules, search);
  names.of.emplace_back();
  for (const record::calls::Function& f : from.functions) {
    const std::string& module = from.modules[f.module].name;
    // A frame is a return address, one behind the call.  The last location is the function itself, those before it are
    // inlined there.
    const std::vector<Location>& places = symbols.resolve({module, f.offset + 1});
    if (!places.empty() && !places.back().function.empty()) {
      names.of.push_back(places.back().function);
      continue;
    }
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), f.offset, 16).ptr;
    names.of.push_back(module + "+0x" + std::string(digits.data(), end));
  }
  if (input.has_names()) names.of.emplace_back("(other functions)");
  names.notes = input.notes();
  for (const std::string& note : symbols.notes()) names.notes.push_back(note);
  return names;
}

}  // namespace effort::tools
