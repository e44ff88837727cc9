// What a node makes of its own ranks' window before anything is exchanged.
#pragma once

#include "analytics/window/exchange.hpp"
#include "analytics/window/window.hpp"

#include <deque>
#include <span>
#include <string>
#include <vector>

namespace effort::window {

/// Says what is wrong with a node's input; empty: nothing (NaN is found later, in the sums).
std::string input_error(const Input& input);

/// Steps of a window.
inline int n_steps(const Input& input) { return static_cast<int>(input.last_step - input.first_step + 1); }

/// A window shortened to its last steps, with arrays of its own.
class ShortenedInput {
 public:
  /// @param from  the first step that is kept, within the window; the input's lengths must be right
  ShortenedInput(const Input& input, std::int64_t from);
  ShortenedInput(const ShortenedInput&) = delete;
  ShortenedInput& operator=(const ShortenedInput&) = delete;
  const Input& input() const { return input_; }

 private:
  std::vector<double> region_load_, rank_load_, work_, rank_wait_, step_wall_;
  Input input_;
};

/// Means over the steps of each row of `values` ([rows][steps]), into out[rows].  Returns false when one is not finite.
bool row_means(std::span<const double> values, int steps, std::span<double> out);

/// Means over the steps whose flag equals `which` (which must occur), into out[rows].
void flagged_means(std::span<const double> values, std::span<const char> flags, char which, std::span<double> out);

/// Largest value of each step over the rows of `values`, into out[steps]; 0 without rows.
void step_maxima(std::span<const double> values, std::span<double> out);

/// Per step, the largest and the sum over ranks of load x weight.
struct WeightedSteps {
  std::vector<double> largest;      // [steps]
  std::vector<std::int64_t> local;  // [steps] sum over the node's ranks, rounded rank by rank
  std::vector<double> sum;          // [steps] over all ranks, once exchanged
};

/// @param load   [n_local][steps]
/// @param past   [n_local] mean loads of an earlier window
/// @param mean   their mean over all ranks of the run, > 0
/// @param scale  of the sums
/// The weight of a rank is mean / max(past, mean / 20).  Time O(n_local x steps).
WeightedSteps weigh_steps(std::span<const double> load, int steps, std::span<const double> past, double mean,
                          const ExactSum& scale);

/// Mean loads of the node's ranks in the last windows of one distribution of the work.
class RankHistory {
 public:
  static constexpr int depth = 8;
  void clear() { windows_.clear(); }
  /// @param load  [n_local] mean load per step; @param mean  over all ranks of the run
  void push(std::vector<double> load, double mean);
  /// How many windows ago are known: 1 .. size().
  int size() const { return static_cast<int>(windows_.size()); }
  std::span<const double> load(int windows_ago) const { return windows_[static_cast<std::size_t>(windows_ago) - 1].load; }
  double mean(int windows_ago) const { return windows_[static_cast<std::size_t>(windows_ago) - 1].mean; }
  std::size_t bytes() const;

 private:
  struct Past {
    std::vector<double> load;
    double mean;
  };
  std::deque<Past> windows_;  // newest first
};

}  // namespace effort::window
