#include "analytics/window/local_loads.hpp"

#include <algorithm>
#include <cmath>

namespace effort::window {
namespace {

std::string wrong_length(const char* what, std::size_t have, std::size_t want) {
  return std::string(what) + " holds " + std::to_string(have) + " values (expected " + std::to_string(want) +
         "), pass one per step";
}

}  // namespace

std::string input_error(const Input& input) {
  if (input.n_ranks < 1 || input.n_regions < 0 || input.n_units < 0)
    return "a number of ranks, regions or units is out of range, pass at least one rank";
  if (input.last_step < input.first_step || input.last_step - input.first_step > 1'000'000)
    return "the window's steps are out of range (" + std::to_string(input.first_step) + " to " +
           std::to_string(input.last_step) + "), pass first <= last";
  for (std::size_t i = 0; i < input.ranks.size(); ++i)
    if (input.ranks[i] < 0 || input.ranks[i] >= input.n_ranks || (i > 0 && input.ranks[i] <= input.ranks[i - 1]))
      return "rank " + std::to_string(input.ranks[i]) + " is out of range or order, list a node's ranks ascending";
  const std::size_t n = input.ranks.size() * static_cast<std::size_t>(n_steps(input));
  const auto regions = static_cast<std::size_t>(input.n_regions), units = static_cast<std::size_t>(input.n_units);
  if (input.region_load.size() != n * regions) return wrong_length("region_load", input.region_load.size(), n * regions);
  if (input.rank_load.size() != n) return wrong_length("rank_load", input.rank_load.size(), n);
  if (input.work.size() != n * units) return wrong_length("work", input.work.size(), n * units);
  if (!input.rank_wait.empty() && input.rank_wait.size() != n) return wrong_length("rank_wait", input.rank_wait.size(), n);
  if (!input.step_wall.empty() && input.step_wall.size() != n) return wrong_length("step_wall", input.step_wall.size(), n);
  return {};
}

ShortenedInput::ShortenedInput(const Input& input, std::int64_t from) : input_(input) {
  const auto steps = static_cast<std::size_t>(n_steps(input)), skipped = static_cast<std::size_t>(from - input.first_step);
  const auto keep = [&](std::span<const double> values, std::vector<double>& kept) {
    for (std::size_t row = 0; row + steps <= values.size(); row += steps)
      kept.insert(kept.end(), values.begin() + static_cast<std::ptrdiff_t>(row + skipped),
                  values.begin() + static_cast<std::ptrdiff_t>(row + steps));
    return std::span<const double>(kept);
  };
  input_.first_step = from;
  input_.region_load = keep(input.region_load, region_load_);
  input_.rank_load = keep(input.rank_load, rank_load_);
  input_.work = keep(input.work, work_);
  input_.rank_wait = keep(input.rank_wait, rank_wait_);
  input_.step_wall = keep(input.step_wall, step_wall_);
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

void flagged_means(std::span<const double> values, std::span<const char> flags, char which, std::span<double> out) {
  std::vector<std::size_t> chosen;
  for (std::size_t s = 0; s < flags.size(); ++s)
    if (flags[s] == which) chosen.push_back(s);
  const double scale = 1.0 / static_cast<double>(chosen.size());
  const double* row = values.data();
  for (double& mean : out) {
    double sum = 0;
    for (std::size_t s : chosen) sum += row[s];
    mean = sum * scale;
    row += flags.size();
  }
}

void step_maxima(std::span<const double> values, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  const std::size_t steps = out.size();
  for (std::size_t i = 0; i + steps <= values.size(); i += steps)
    for (std::size_t s = 0; s < steps; ++s) out[s] = std::max(out[s], values[i + s]);
}

WeightedSteps weigh_steps(std::span<const double> load, int steps, std::span<const double> past, double mean,
                          const ExactSum& scale) {
  constexpr double smallest_share = 0.05;  // of the mean: no weight above 20, as in the replay's model
  const auto n = static_cast<std::size_t>(steps);
  WeightedSteps out{std::vector<double>(n, 0.0), std::vector<std::int64_t>(n, 0), {}};
  const double* row = load.data();
  for (double m : past) {
    const double weight = mean / std::max(m, smallest_share * mean);
    for (int s = 0; s < steps; ++s) {
      const double value = row[s] * weight;
      out.largest[s] = std::max(out.largest[s], value);
      out.local[s] += scale.rounded(value);
    }
    row += steps;
  }
  return out;
}

void RankHistory::push(std::vector<double> load, double mean) {
  windows_.push_front({std::move(load), mean});
  if (windows_.size() > depth) windows_.pop_back();
}

std::size_t RankHistory::bytes() const {
  std::size_t n = 0;
  for (const Past& past : windows_) n += past.load.size() * sizeof(double);
  return n;
}

}  // namespace effort::window
