#include "tools/output/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

namespace effort::tools {

namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::size_t number(const char* name, std::size_t otherwise) {
  const std::string_view text = environment(name);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 && value < 10000 ? value : otherwise;
}

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    for (const char* word : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
      if (value.find(word) != std::string_view::npos) return true;
    }
    return false;
  }
  return false;
}

Terminal::Color colors() {
  const std::string_view term = environment("TERM"), more = environment("COLORTERM");
  if (!environment("NO_COLOR").empty() || term.empty() || term == "dumb") return Terminal::Color::none;
  if (more == "truecolor" || more == "24bit") return Terminal::Color::full;
  for (const char* family : {"xterm", "screen", "tmux", "rxvt", "konsole", "gnome", "alacritty", "foot", "kitty"}) {
    if (term.starts_with(family)) return Terminal::Color::indexed;
  }
  return term.find("256color") != std::string_view::npos ? Terminal::Color::indexed : Terminal::Color::none;
}

}  // namespace

Terminal terminal_of(int descriptor) {
  Terminal out;
  out.width = number("COLUMNS", out.width);
  out.height = number("LINES", out.height);
  out.utf8 = utf8_locale();
  if (::isatty(descriptor) == 0) return out;
  out.interactive = true;
  out.controllable = !environment("TERM").empty() && environment("TERM") != "dumb";
  out.color = colors();
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    out.width = size.ws_col;
    out.height = size.ws_row;
  }
  return out;
}

std::string fitted(const std::string& text, const Terminal& terminal) {
  if (!terminal.interactive) return text;
  std::string out;
  std::size_t column = 0;
  bool escape = false;
  for (char c : text) {
    const bool control = escape || c == '\033';
    if (control) {
      escape = c == '\033' || !((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
    } else if (c == '\n') {
      column = 0;
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      ++column;
    }
    if (control || column <= terminal.width) out += c;
  }
  return out;
}

void print_fitted(const std::string& text) {
  const std::string shown = fitted(text, terminal_of(STDOUT_FILENO));
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

}  // namespace effort::tools
