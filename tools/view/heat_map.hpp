// A matrix as a picture of characters.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/output/terminal.hpp"

namespace effort::tools {

/// Rows of cells in a line of text: two if half blocks can be coloured.
std::size_t heat_map_rows_per_line(const Terminal& terminal);

/// The range of values over which a heat map spreads its colours or shades.
struct HeatScale {
  double low = 0, high = 0;  ///< the 1st and 99th percentile: beyond them all cells look the same
  double most = 0;           ///< the largest value
};
HeatScale heat_scale(std::span<const double> values);

/// One string per line, without line ends, `cols` columns wide.  Dark is little and bright is much.  Without colour,
/// characters with more ink stand for more.
/// @param values  [rows][cols] finite
std::vector<std::string> heat_map(std::span<const double> values, std::size_t rows, std::size_t cols,
                                  const HeatScale& scale, const Terminal& terminal);

/// The scale from little to much, `width` columns.
std::string heat_legend(std::size_t width, const Terminal& terminal);

/// Values as a line of bars from zero to the largest value (digits 0 to 9 if the terminal has no bars), at most `width`
/// columns.  If there are more values, neighbours are averaged.
std::string spark_line(std::span<const double> values, std::size_t width, const Terminal& terminal);

}  // namespace effort::tools
