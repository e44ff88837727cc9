#include "tools/output/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "record/text.hpp"

namespace effort::tools {

namespace {
constexpr double silence = 1.0;   ///< seconds: shorter work shows no progress
constexpr double interval = 0.1;  ///< seconds between two lines
}  // namespace

Progress::Progress(const std::string& what, double total)
    : what_(record::visible(what)), total_(total), terminal_(terminal_of(STDERR_FILENO)) {}

Progress::~Progress() {
  if (shown_at_ > 0) std::fputs("\r\033[K", stderr);
}

void Progress::advance(double amount) {
  done_ += amount;
  if (!terminal_.controllable) return;
  const double seconds = watch_.seconds();
  if (seconds < silence || seconds < shown_at_ + interval) return;
  shown_at_ = seconds;
  show(seconds);
}

void Progress::show(double seconds) {
  const double share = total_ > 0 ? std::clamp(done_ / total_, 0.0, 1.0) : 0;
  std::string tail = " " + percent_text(share);
  if (share > 0) tail += ", " + seconds_text(std::ceil(seconds / share - seconds)) + " left";
  std::string line = what_;
  const std::size_t used = line.size() + tail.size() + 4;
  if (terminal_.width > used + 8) {
    const std::size_t width = std::min<std::size_t>(terminal_.width - used, 40);
    const auto full = static_cast<std::size_t>(std::lround(share * static_cast<double>(width)));
    line += " [" + std::string(full, '=') + std::string(width - full, ' ') + "]";
  }
  std::fprintf(stderr, "\r%s%s\033[K", line.c_str(), tail.c_str());
  std::fflush(stderr);
}

}  // namespace effort::tools
