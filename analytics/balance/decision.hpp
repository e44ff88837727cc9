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
  double threshold = 0.1;      ///< imbalance above which to rebalance while no price is known
  double initial_price = -1;   ///< seconds, until a rebalance was measured; < 0: unknown
  double patience = 5.0;       ///< prices of avoidable loss after which a rebalance is due at the latest, > 0
  double minimum_gain = 0.06;  ///< share of the coming time that a rebalance must save beside its price, >= 0; cheap ones less
  int window = 10;             ///< steps per window, >= 1
  int spacing = 2;             ///< windows from one rebalance to the next possible one: 2 where stale windows decide nothing
};

/// What one window says, with all loads as seconds per step.
struct WindowFacts {
  std::int64_t first_step = 0, last_step = 0;
  bool stale = false;        ///< holds steps from before the last rebalance
  double imbalance = 0;      ///< max / mean - 1 of the window's mean loads
  double steady_imbalance = 0;  ///< the same, each rank's load without its own largest step
  double mean = 0;           ///< load of the mean rank, over the window's ordinary steps (those that don't stand out)
  double critical = 0;       ///< mean over them of the largest rank's load
  double all_mean = 0;       ///< load of the mean rank, over all the window's steps
  double all_critical = 0;   ///< mean over all its steps of the largest rank's load
  double predicted_gain = 0; ///< predicted max - mean
  double foretold_ageing = 0;  ///< by how much the imbalance will have grown in the next window, as the work's trend
                               ///< says, >= 0; 0: not known
  double after_rebalance = 0;  ///< seconds that the first steps after a rebalance took longer, where this window shows them
  /// What `critical` / mean would have been, had the work been distributed by the loads measured `a` windows ago
  /// (index a; index 0: by the first half of the window, seen in its second half); < 0: not known.
  std::array<double, curve_depth + 1> aged{};
};

/// What is made of it.
struct Verdict {
  bool rebalance = false;
  double price = -1;            ///< seconds; < 0 unknown
  double expected_saving = 0;   ///< seconds, until the next good opportunity
  double residual = 0;          ///< loss in the first window after a rebalance, learned, share of the mean load
  double lost = 0;              ///< seconds lost to imbalance since the last rebalance
  bool balanced = false;        ///< there is nothing to gain but noise
  bool too_expensive = false;   ///< imbalanced, but not worth the price
  bool no_price = false;        ///< the threshold decided
  bool trend = false;           ///< the loss grows
  bool jump = false;            ///< the loss changed abruptly
};

/// What is known of the loss (largest / mean load - 1) of a distribution of given age in windows.  It is fed with the
/// losses seen after real rebalances, and with those that the weights of earlier windows would have led to; both fade.
/// Ages not seen are extrapolated: proportionally from the first half window, then by a power of the age.
class LossByAge {
 public:
  void forget();
  /// @param age  0 (half a window) to curve_depth; others are ignored
  void observe(int age, double loss);
  double at(int age) const;
  /// The largest age that was seen, at least 1.
  int oldest() const;

 private:
  std::array<double, curve_depth + 1> sum_{}, weight_{};
};

/// Decides window after window whether the expected saving until the next good opportunity exceeds the price.
///
/// The next windows' losses with and without a rebalance now are laid out by LossByAge, and the cheapest schedule of
/// rebalances over the next 8 windows, or 80 steps if these are more, is found by dynamic programming.  A rebalance is recommended when every
/// best schedule begins with one, and it saves its price, a quarter more, and a minimum share of the time (or three more
/// prices, if that is less).  (Nicol &
/// Saltz 1988 rebalance when the average loss begins to rise; this is the same balance of price and ageing, with the
/// ageing learned in advance.)  Where a rebalance costs less than 2 % of a window, LossByAge
/// is scaled down to a present window that lost less than usual (docs/adr/0024).  Whoever has lost `patience` prices that a rebalance would have avoided is told to.  After three
/// rebalances that left the loss where it was, nothing is recommended for 2 windows, then 4, at most 16.
/// Deterministic; not thread-safe; a few hundred bytes, a few thousand operations per window.
class Decision {
 public:
  explicit Decision(DecisionSettings settings);

  /// A rebalance took place: what was lost so far no longer counts.
  /// @param price  seconds; negative, NaN or infinite: unknown, the last known ones stay
  void rebalanced(double price);
  /// The verdict on one window; windows in ascending order.
  Verdict decide(const WindowFacts& facts);

  /// Seconds: the middle of the last three prices (of two the smaller one), so that one that something else on the
  /// machine has blown up is not believed alone; < 0: unknown.
  double price() const;

 private:
  /// Costs of the coming windows, prices included, in loads of the mean rank over a window.
  struct Outlook {
    double now;    ///< rebalance now, and later as needed
    double later;  ///< not now, but possibly later
    double never;  ///< not within the horizon
  };
  double measured_loss(const WindowFacts& facts) const;
  void learn(const WindowFacts& facts, double loss);
  void judge_last(double loss);
  Outlook look_ahead(double loss, double foretold_ageing, double price) const;
  double sustainable(double price) const;
  void describe(double loss, Verdict& verdict);

  DecisionSettings settings_;
  int horizon_;  // windows that are looked ahead
  LossByAge loss_;
  std::vector<double> prices_;  // seconds, the last few, newest last
  bool price_is_fresh_ = false; // the newest is that of the last rebalance
  double lost_ = 0;        // seconds since the last rebalance
  double avoidable_ = 0;   // of it, what a rebalance would have avoided
  double last_loss_ = -1;  // share of the mean, in the last fresh window
  int rising_ = 0;         // windows in a row in which the loss rose
  int age_ = 0;            // fresh windows since the last rebalance
  int rebalances_ = 0;
  double before_ = 0;      // loss that the last rebalance was to avoid, share of the mean
  int pause_ = 0;          // windows that recommend nothing, since rebalancing did not help
  int next_pause_ = 2;
  int futile_ = 0;         // rebalances in a row that did not help
};

}  // namespace effort::balance
