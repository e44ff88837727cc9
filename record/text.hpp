// Names and messages as text that is safe to show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace effort::record {

/// A character of UTF-8.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: not valid UTF-8
};
Character character_at(std::string_view text, std::size_t at);

/// Whether a character is invisible or controls how text is shown: control characters, marks and overrides of the
/// writing direction, line and paragraph separators, soft hyphens, and characters without a width such as U+200B.
bool is_control(std::uint32_t code);

/// The text with such characters and invalid UTF-8 spelled out: \n, \x1b, \u202e, \U000e0041, \xff.  For all names
/// that are shown on a terminal or written to a file that people read.
std::string visible(std::string_view text);

/// Characters to insert, remove or replace between two words (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b);

}  // namespace effort::record
