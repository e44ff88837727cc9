// The capabilities of an output stream.
#pragma once

#include <cstddef>
#include <string>

namespace effort::tools {

/// A terminal, or defaults for another kind of stream.
struct Terminal {
  enum class Color {
    none,     ///< not wanted (NO_COLOR) or not available
    indexed,  ///< 256 colours
    full,     ///< 24 bits
  };
  bool interactive = false;   ///< is a terminal
  bool controllable = false;  ///< interactive, and understands escape sequences
  std::size_t width = 80, height = 24;
  Color color = Color::none;
  bool utf8 = false;
};

/// The terminal behind a file descriptor, according to TERM, COLORTERM, NO_COLOR and the locale.  If it is not a
/// terminal, the defaults with COLUMNS and LINES.
Terminal terminal_of(int descriptor);

/// Every line cut at the terminal's width; uncut if the output is not a terminal.
std::string fitted(const std::string& text, const Terminal& terminal);

/// Prints the text, fitted to the terminal if standard output is one.
void print_fitted(const std::string& text);

}  // namespace effort::tools
