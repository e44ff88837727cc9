// A matrix as a picture of characters.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/terminal.hpp"

namespace effort::tools {

/// Rows of cells that a line of text holds: two where half blocks can be coloured.
std::size_t heat_map_rows_per_line(const Terminal& terminal);

/// What a heat map spreads its colours or shades over.
struct HeatScale {
  double low = 0, high = 0;  ///< the 1st and 99th percentile: beyond them all cells look the same
  double least = 0, most = 0;
};
HeatScale heat_scale(std::span<const double> values);

/// One string per line, without line ends, `cols` columns wide: dark is little and bright is much, and shades stand in where
/// there is no colour, more ink for more.
/// @param values  [rows][cols] finite
std::vector<std::string> heat_map(std::span<const double> values, std::size_t rows, std::size_t cols, const HeatScale& scale, const Terminal& terminal);

/// The scale from little to much, `width` columns.
std::string heat_legend(std::size_t width, const Terminal& terminal);

/// Values as a line of bars (or digits 0 to 9 where the terminal has no bars), at most `width` columns, means of neighbours
/// where there are more.  From zero to the largest.
std::string spark_line(std::span<const double> values, std::size_t width, const Terminal& terminal);

}  // namespace effort::tools
