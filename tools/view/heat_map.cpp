#include "tools/view/heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace effort::tools {

namespace {

struct Rgb {
  double r, g, b;
};

/// From dark to bright with rising lightness (after viridis), so the order is preserved in grey and for colour-blind
/// users.
constexpr std::array<Rgb, 6> colors = {
    {{68, 1, 84}, {65, 68, 135}, {42, 120, 142}, {34, 168, 132}, {122, 209, 81}, {253, 231, 37}}};

Rgb color_of(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (colors.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), colors.size() - 2);
  const double t = at - static_cast<double>(i);
  const Rgb &a = colors[i], &b = colors[i + 1];
  return {a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}

/// "38;2;R;G;B" or "38;5;N"; 48 for the background.
std::string code(int ground, double share, Terminal::Color depth) {
  const Rgb c = color_of(share);
  const auto whole = [](double v) { return static_cast<int>(std::lround(v)); };
  if (depth == Terminal::Color::full)
    return std::to_string(ground) + ";2;" + std::to_string(whole(c.r)) + ";" + std::to_string(whole(c.g)) + ";" +
           std::to_string(whole(c.b));
  // The cube of 6 x 6 x 6 colours: 0, 95, 135, ..., 255.
  const auto step = [&](double v) { return v < 48 ? 0 : v < 115 ? 1 : std::min(5, whole((v - 35) / 40)); };
  return std::to_string(ground) + ";5;" + std::to_string(16 + 36 * step(c.r) + 6 * step(c.g) + step(c.b));
}

const std::vector<std::string>& shades(bool utf8) {
  static const std::vector<std::string> blocks = {" ", "░", "▒", "▓", "█"},
                                        letters = {" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};
  return utf8 ? blocks : letters;
}

const std::string& shade(double share, bool utf8) {
  const std::vector<std::string>& all = shades(utf8);
  const auto i = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(all.size()));
  return all[std::min(i, all.size() - 1)];
}

/// 0 to 1; NaN, such as the ratio of two infinities, becomes 0.
double bounded(double share) { return share > 0 ? std::min(share, 1.0) : 0; }

double share_of(double value, const HeatScale& scale) {
  return scale.high > scale.low ? bounded((value - scale.low) / (scale.high - scale.low)) : 0.5;
}

}  // namespace

std::size_t heat_map_rows_per_line(const Terminal& terminal) {
  return terminal.color != Terminal::Color::none && terminal.utf8 ? 2 : 1;
}

HeatScale heat_scale(std::span<const double> values) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto quantile = [&](double q) {
    return sorted[static_cast<std::size_t>(std::lround(q * static_cast<double>(sorted.size() - 1)))];
  };
  return {quantile(0.01), quantile(0.99), sorted.back()};
}

std::vector<std::string> heat_map(std::span<const double> values, std::size_t rows, std::size_t cols,
                                  const HeatScale& scale, const Terminal& terminal) {
  const std::size_t per_line = heat_map_rows_per_line(terminal);
  const bool colored = terminal.color != Terminal::Color::none;
  std::vector<std::string> lines;
  for (std::size_t r = 0; r < rows; r += per_line) {
    std::string line, last;
    for (std::size_t c = 0; c < cols; ++c) {
      const double top = share_of(values[r * cols + c], scale);
      if (!colored) {
        line += shade(top, terminal.utf8);
        continue;
      }
      std::string style;
      if (per_line == 1) {
        style = code(48, top, terminal.color);
      } else if (r + 1 < rows) {
        style =
            code(38, top, terminal.color) + ";" + code(48, share_of(values[(r + 1) * cols + c], scale), terminal.color);
      } else {
        style = "49;" + code(38, top, terminal.color);
      }
      if (style != last) line += "\033[" + style + "m";
      line += per_line == 1 ? " " : "▀";
      last = style;
    }
    lines.push_back(colored ? line + "\033[0m" : line);
  }
  return lines;
}

std::string heat_legend(std::size_t width, const Terminal& terminal) {
  std::string out;
  for (std::size_t i = 0; i < width; ++i) {
    const double share = width > 1 ? static_cast<double>(i) / static_cast<double>(width - 1) : 0.5;
    if (terminal.color == Terminal::Color::none) {
      out += shade(share, terminal.utf8);
    } else {
      out += "\033[" + code(48, share, terminal.color) + "m ";
    }
  }
  return terminal.color == Terminal::Color::none ? out : out + "\033[0m";
}

std::string spark_line(std::span<const double> values, std::size_t width, const Terminal& terminal) {
  static const std::vector<std::string> bars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
                                        digits = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  const std::vector<std::string>& marks = terminal.utf8 ? bars : digits;
  width = std::min(width, values.size());
  std::vector<double> means(width), counts(width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t at = i * width / values.size();
    means[at] += values[i];
    ++counts[at];
  }
  for (std::size_t i = 0; i < width; ++i) means[i] /= counts[i];
  const double most = means.empty() ? 0 : *std::max_element(means.begin(), means.end());
  std::string out;
  for (double mean : means) {
    const double share = most > 0 ? bounded(mean / most) : 0;
    out += marks[std::min(marks.size() - 1, static_cast<std::size_t>(share * static_cast<double>(marks.size())))];
  }
  return out;
}

}  // namespace effort::tools
