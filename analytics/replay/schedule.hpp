// What a schedule of rebalances would have cost on a recording, and the best such schedule known afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace effort::replay {

/// Loads of a recorded run under other distributions of the work.
///
/// The model: a rebalance may take effect at step t = end + lag, where `end` is one past the last step of any
/// window.  Its weights come from the recorded loads of that window: m(r) = mean of L(r, s) for s in [t - lag - W,
/// t - lag), floored at 5 % of the mean over ranks; from t on rank r's load is L(r, s) w(r) with w(r) = mean(m) / m(r),
/// rescaled per step to the recorded total; a later rebalance replaces w.  A schedule costs the sum over steps of the
/// largest rank's load, and the price of each rebalance.
///
/// Ranks may stand for several equal ones (`copies`), which is how a tiled recording is evaluated without expanding it.
class LoadModel {
 public:
  /// @param load    [ranks][steps] seconds, finite, >= 0
  /// @param copies  [ranks] how many equal ranks each stands for, >= 0 (at least one > 0); empty: one each
  /// @param window  steps per window, >= 1
  /// @param lag     steps from a window's end to the first step after a rebalance, >= 0
  /// @throws std::invalid_argument naming what is wrong
  LoadModel(std::span<const double> load, int ranks, std::int64_t steps, int window, int lag,
            std::span<const std::int64_t> copies = {});

  int ranks() const { return ranks_; }
  std::int64_t steps() const { return steps_; }
  /// How many windows end early enough for a rebalance to take effect within the recording.
  int opportunities() const { return opportunities_; }
  /// The first step after a rebalance on window `k`'s hint.
  std::int64_t effective_step(int k) const { return static_cast<std::int64_t>(k + 1) * window_ + lag_; }
  double recorded(int rank, std::int64_t step) const { return load_[static_cast<std::size_t>(rank) * steps_ + step]; }
  /// Total load of a step over all ranks, copies counted, seconds.
  double total(std::int64_t step) const { return total_[step]; }
  /// Mean over ranks and over steps from `first` on of the recorded load, seconds: the unit of prices.
  double mean_step(std::int64_t first = 0) const;

  /// Weights after a rebalance on window `k`, [ranks]; k = -1: the recorded distribution, all ones.
  std::vector<double> weights(int k) const;
  /// Factor that brings a step's weighted loads back to its recorded total.
  double rescale(std::span<const double> weights, std::int64_t step) const;
  /// Largest rank's load of each step in [first, last) under the weights, seconds.
  std::vector<double> largest(std::span<const double> weights, std::int64_t first, std::int64_t last) const;

 private:
  int ranks_;
  std::int64_t steps_;
  int window_;
  int lag_;
  int opportunities_;
  std::vector<double> load_;
  std::vector<double> copies_;
  std::vector<double> total_;
};

/// Windows on whose hints a rebalance took place, ascending, and what that costs.
struct Schedule {
  std::vector<int> windows;
  double cost = 0;  ///< seconds
};

/// Cost of rebalancing on the given windows (ascending, each in [0, opportunities)), seconds.
/// Time O(ranks x steps).
/// @throws std::invalid_argument when they are not
double schedule_cost(const LoadModel& model, std::span<const int> windows, double price);

/// The cheapest of all schedules, by dynamic programming over the window of the last rebalance:
/// best(k) = price + min over j < k of best(j) + loss of j's weights between the two.
/// Time O(opportunities x ranks x steps), memory O(opportunities x steps).
///
/// @param minimum_distance  windows between two rebalances, >= 1 (2: as one who must not decide on stale windows)
Schedule best_schedule(const LoadModel& model, double price, int minimum_distance = 1);

}  // namespace effort::replay
