// Checks and statistics of one node's ranks, before anything is exchanged.
#pragma once

#include "analytics/window/exchange.hpp"
#include "analytics/window/window.hpp"

#include <span>
#include <string>
#include <vector>

namespace effort::window {

/// The problem with a node's input; empty if there is none.  NaN is found later, in the sums.
std::string input_error(const Input& input);

/// Steps of a window.
inline int n_steps(const Input& input) { return static_cast<int>(input.last_step - input.first_step + 1); }

/// Means over the steps of each row of `values` ([rows][steps]), into out[rows].  Returns false when one is not finite.
bool row_means(std::span<const double> values, int steps, std::span<double> out);

/// Largest value of each step over the rows of `values`, into out[steps]; 0 without rows.
void step_maxima(std::span<const double> values, std::span<double> out);

}  // namespace effort::window
