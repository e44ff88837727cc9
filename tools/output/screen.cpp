#include "tools/output/screen.hpp"

#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>

#include "tools/output/terminal.hpp"

namespace effort::tools {

namespace {

volatile sig_atomic_t ended = 0, size_changed = 0;

extern "C" void on_end(int) { ended = 1; }
extern "C" void on_size(int) { size_changed = 1; }

constexpr std::array<int, 3> ends = {SIGINT, SIGTERM, SIGHUP};

void put(const char* text) {
  std::fputs(text, stdout);
  std::fflush(stdout);
}

}  // namespace

struct Screen::State {
  termios before{};
  bool keys = false;  ///< whether standard input is a terminal
  std::array<struct sigaction, ends.size()> old_ends{};
  struct sigaction old_size {};
};

Screen::Screen() : state_(std::make_unique<State>()) {
  ended = 0;
  size_changed = 0;
  state_->keys = ::tcgetattr(STDIN_FILENO, &state_->before) == 0;
  if (state_->keys) {
    termios raw = state_->before;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  struct sigaction action {};
  action.sa_flags = SA_RESTART;  // a signal in the middle of drawing must not fail the output; poll() ends all the same
  action.sa_handler = on_end;
  for (std::size_t i = 0; i < ends.size(); ++i) ::sigaction(ends[i], &action, &state_->old_ends[i]);
  action.sa_handler = on_size;
  ::sigaction(SIGWINCH, &action, &state_->old_size);
  put("\033[?1049h\033[?25l");
}

Screen::~Screen() {
  put("\033[0m\033[?25h\033[?1049l");
  for (std::size_t i = 0; i < ends.size(); ++i) ::sigaction(ends[i], &state_->old_ends[i], nullptr);
  ::sigaction(SIGWINCH, &state_->old_size, nullptr);
  if (state_->keys) ::tcsetattr(STDIN_FILENO, TCSANOW, &state_->before);
}

void Screen::show(const std::string& page) {
  const std::size_t height = terminal_of(STDOUT_FILENO).height;
  std::string out = "\033[H";
  std::size_t at = 0;
  for (std::size_t line = 0; line < height && at < page.size(); ++line) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    out += (line > 0 ? "\r\n" : "") + page.substr(at, end - at) + "\033[0m\033[K";
    at = end + 1;
  }
  put((out + "\033[J").c_str());
}

char Screen::key(double seconds) {
  if (ended) return 'q';
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int ready = ::poll(&input, state_->keys ? 1 : 0, static_cast<int>(std::lround(1e3 * seconds)));
  if (ended) return 'q';
  char c = 0;
  if (ready > 0 && ::read(STDIN_FILENO, &c, 1) != 1) return 'q';
  return c;
}

bool Screen::resized() {
  const bool changed = size_changed != 0;
  size_changed = 0;
  return changed;
}

}  // namespace effort::tools
