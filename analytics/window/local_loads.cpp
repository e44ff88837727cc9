#include "analytics/window/local_loads.hpp"

#include "analytics/window/layout.hpp"

#include <algorithm>
#include <cmath>

namespace effort::window {
namespace {

std::string wrong_length(const char* what, std::size_t have, std::size_t want) {
  return std::string(what) + " holds " + std::to_string(have) + " values (expected " + std::to_string(want) +
         "): pass one per step";
}

}  // namespace

std::string input_error(const Input& input) {
  if (input.n_ranks < 1 || input.n_regions < 0 || input.n_units < 0)
    return "a number of ranks, regions or units is out of range: pass at least one rank";
  if (input.last_step < input.first_step || input.last_step - input.first_step > 1'000'000)
    return "the window's steps are out of range (" + std::to_string(input.first_step) + " to " +
           std::to_string(input.last_step) + "): pass first <= last";
  if (std::string error = ranks_error(input.ranks, input.n_ranks); !error.empty()) return error;
  const std::size_t n = input.ranks.size() * static_cast<std::size_t>(n_steps(input));
  const auto regions = static_cast<std::size_t>(input.n_regions), units = static_cast<std::size_t>(input.n_units);
  if (input.region_load.size() != n * regions)
    return wrong_length("region_load", input.region_load.size(), n * regions);
  if (input.rank_load.size() != n) return wrong_length("rank_load", input.rank_load.size(), n);
  if (input.work.size() != n * units) return wrong_length("work", input.work.size(), n * units);
  if (!input.rank_wait.empty() && input.rank_wait.size() != n)
    return wrong_length("rank_wait", input.rank_wait.size(), n);
  if (!input.step_wall.empty() && input.step_wall.size() != n)
    return wrong_length("step_wall", input.step_wall.size(), n);
  if (!input.delay.empty() && input.delay.size() != n) return wrong_length("delay", input.delay.size(), n);
  if (input.transfer.size() != input.delay.size())
    return wrong_length("transfer", input.transfer.size(), input.delay.size());
  return {};
}

bool row_means(std::span<const double> values, int steps, std::span<double> out) {
  const double* row = values.data();
  const double scale = 1.0 / steps;
  bool finite = true;
  for (double& mean : out) {
    double sum = 0;
    for (int s = 0; s < steps; ++s) sum += row[s];
    mean = sum * scale;
    finite = finite && std::isfinite(mean);
    row += steps;
  }
  return finite;
}

void step_maxima(std::span<const double> values, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  const std::size_t steps = out.size();
  for (std::size_t i = 0; i + steps <= values.size(); i += steps)
    for (std::size_t s = 0; s < steps; ++s) out[s] = std::max(out[s], values[i + s]);
}

}  // namespace effort::window
