// What a stream can show.
#pragma once

#include <cstddef>
#include <string>

namespace effort::tools {

/// A terminal, or what stands in for one.
struct Terminal {
  enum class Color {
    none,     ///< not wanted (NO_COLOR) or not there
    indexed,  ///< 256 colours
    full,     ///< 24 bits
  };
  bool interactive = false;  ///< a person looks at it
  bool controllable = false; ///< interactive, and understands escape sequences
  std::size_t width = 80, height = 24;
  Color color = Color::none;
  bool utf8 = false;
};

/// The terminal behind a file descriptor, after TERM, COLORTERM, NO_COLOR and the locale; for what is none, the defaults
/// with COLUMNS and LINES.
Terminal terminal_of(int descriptor);

}  // namespace effort::tools
