// Symbols and lines of a program or library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace effort::tools {

/// A place in the source.
struct Location {
  std::string function;  ///< as in the source, C++ with its namespaces and without arguments; empty: not known
  std::string file;      ///< path as the compiler was given it, made absolute; empty: not known
  int line = 0;          ///< from 1; 0: not known
};

/// A function of the symbol table.
struct FunctionSymbol {
  std::string name;  ///< the linker's
  std::string file;  ///< as in Location
};

/// Symbols and debug information of one file (ELF, DWARF; separate debug files are found as debuggers do).  One thread
/// at a time.  Errors: std::runtime_error, from the constructor only.
class DebugInfo {
 public:
  explicit DebugInfo(const std::filesystem::path& path);
  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  /// Whether this build of effort can read any.
  static bool available();
  /// In lower-case hexadecimal digits; empty if the file has none.
  const std::string& build_id() const;
  /// Whether there is any line information.
  bool has_lines() const;
  /// The functions at an address of the file: the innermost first, then those that it was inlined into.  Empty: not
  /// known.
  std::vector<Location> look_up(std::uint64_t address) const;
  /// The functions of the symbol table whose source file is known.
  std::vector<FunctionSymbol> functions() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace effort::tools
