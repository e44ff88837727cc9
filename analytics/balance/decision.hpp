// Whether rebalancing now would pay.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace effort::balance {

/// How old a distribution can get before its age is no longer told apart, in windows.
inline constexpr int curve_depth = 8;

/// What the user chose.
struct DecisionSettings {
  double threshold = 0.1;       ///< imbalance above which to rebalance while no price is known
  double initial_price = -1;    ///< seconds, until a rebalance was measured; < 0: unknown
  double patience = 1.0;        ///< prices of loss above the reachable after which a rebalance is due at the latest
  double minimum_gain = 0.02;   ///< share of the mean load; a smaller gain never triggers
};

/// What one window says, with all loads as seconds per step.
struct WindowFacts {
  std::int64_t first_step = 0, last_step = 0;
  bool stale = false;        ///< holds steps from before the last rebalance
  double imbalance = 0;      ///< max / mean - 1 of the window's mean loads
  double steady_imbalance = 0;  ///< the same, of the loads without the steps that stand out
  double mean = 0;           ///< load of the mean rank, over the window's ordinary steps (those that don't stand out)
  double critical = 0;       ///< mean over them of the largest rank's load
  double all_mean = 0;       ///< load of the mean rank, over all the window's steps
  double all_critical = 0;   ///< mean over all its steps of the largest rank's load
  double predicted_gain = 0; ///< predicted max - mean
  /// What `critical` / mean would have been, had the work been distributed by the loads measured `a` windows ago
  /// (index a; index 0: by the first half of the window, seen in its second half); < 0: not known.
  std::array<double, curve_depth + 1> aged{};
};

/// What is made of it.
struct Verdict {
  bool rebalance = false;
  double price = -1;            ///< seconds; < 0 unknown
  double expected_saving = 0;   ///< seconds, until the next good opportunity
  double residual = 0;          ///< loss that stays after a rebalance, share of the mean load
  double lost = 0;              ///< seconds lost to imbalance since the last rebalance
  bool balanced = false;        ///< there is nothing to gain but noise
  bool too_expensive = false;   ///< imbalanced, but not worth the price
  bool no_price = false;        ///< the threshold decided
  bool trend = false;           ///< the loss grows
  bool jump = false;            ///< the loss changed abruptly
};

/// Decides window after window.  Deterministic; not thread-safe; a few hundred bytes.
class Decision {
 public:
  explicit Decision(DecisionSettings settings) : settings_(settings) {}

  /// A rebalance took place: what was lost so far no longer counts.
  /// @param price  seconds; negative, NaN or infinite: unknown, the last known one stays
  void rebalanced(double price);
  Verdict decide(const WindowFacts& facts);

  double price() const { return price_ >= 0 ? price_ : settings_.initial_price; }

 private:
  void learn(const WindowFacts& facts);
  double expected_loss(int age) const;

  DecisionSettings settings_;
  double price_ = -1;
  double lost_ = 0;        // seconds since the last rebalance
  double regret_ = 0;      // of it, what a rebalance would have avoided
  double last_loss_ = -1;  // share of the mean, in the last fresh window
  int age_ = 0;            // fresh windows since the last rebalance
  int rebalances_ = 0;
  double residual_ = 0;    // share of the mean that real rebalances leave beyond the curve
  std::array<double, curve_depth + 1> curve_{};  // learned: loss, as a share of the mean, at an age in windows
  std::array<int, curve_depth + 1> seen_{};
};

}  // namespace effort::balance
