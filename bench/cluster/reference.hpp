// R's cluster package, if it is installed.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace effort::bench {

/// Lines "word value value ..." of the script's output: word -> values in order, over all lines.
using Figures = std::map<std::string, std::vector<std::string>>;

/// Runs reference.R on a table; empty when Rscript or the package is missing.
Figures reference(std::span<const double> values, std::size_t n, std::size_t d, int k, const std::string& what);

std::vector<double> numbers(const Figures& figures, const std::string& word);

}  // namespace effort::bench
