// The analysis of a run, look by look and window by window, which the engine calls on every node.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/window/cadence.hpp"
#include "analytics/window/report.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace effort::window {

/// Parts of the analysis, for timing.
enum class Stage : int { loads = 0, strata = 1, prediction = 2, cost_model = 3, decision = 4 };
inline constexpr int n_stages = 5;
/// A stage's name, in lower case, static.
const char* stage_name(Stage stage);

/// Settings of the user; identical on all nodes.
struct Settings {
  int window = 0;                    ///< steps per window, at least 1; 0: looks come as often as is worthwhile
  int hint_lag = -1;                 ///< steps from a look to its hint; < 0: chosen (needs window 0)
  double rebalance_threshold = 0.1;  ///< max / mean - 1 above which to rebalance while the price is unknown
  double initial_price = -1;         ///< seconds, used until a rebalance has been measured; < 0: unknown
  int strata = 0;                    ///< groups of ranks; 0: chosen from the data
  int strata_level = 0;              ///< > 0: CLARA on the wavelet approximation of that level
  bool strata_check = false;         ///< with strata_level > 0: also make exact strata and report the agreement
  std::uint64_t seed = 1;
  double confidence = 0.90;      ///< of the sample sizes
  double relative_error = 0.08;  ///< of the sample sizes
  double patience = 5.0;         ///< avoidable loss, in prices, after which a rebalance is recommended regardless
  double minimum_gain = 0;       ///< share of the coming time that a rebalance must save on top of its price
  bool trials = true;            ///< a rebalance below the threshold may be recommended to learn its price
};

/// A rebalance that took place.
struct Rebalance {
  std::int64_t step = 0;  ///< last step of the old distribution
  double price = -1;      ///< seconds, combined over the ranks (docs/adr/0018); negative, NaN or infinite: unknown
};

/// Loads of a node's ranks in consecutive steps.  Spans need to live only during the call.
struct Steps {
  std::int64_t first_step = 0, last_step = 0;  ///< inclusive, identical on all nodes
  int n_ranks = 0;                             ///< of the whole run, identical on all nodes
  std::span<const int> ranks;                  ///< global ids of this node's ranks, ascending; may be empty
  std::span<const double> load;                ///< [n_local][steps] seconds, finite
  int n_units = 0;                             ///< kinds of units of work, identical on all nodes
  std::span<const double> work;                ///< [n_units][n_local][steps]
  std::span<const Rebalance> rebalances;       ///< those reported since the last steps, identical on all nodes
  bool failed = false;  ///< this node has failed and only takes part in the exchange; the rest is ignored
};

/// One node's part of one window.  Spans need to live only during the call.  Arrays are row-major, steps fastest;
/// steps = last_step - first_step + 1.
struct Input {
  std::int64_t first_step = 0, last_step = 0;  ///< inclusive, identical on all nodes
  int n_ranks = 0;                             ///< of the whole run, identical on all nodes
  std::span<const int> ranks;                  ///< global ids of this node's ranks, ascending; may be empty
  int n_regions = 0;                           ///< in the region table of the run, identical on all nodes
  std::span<const double> region_load;         ///< [n_regions][n_local][steps] seconds; zero unless COMPUTE
  std::span<const double> rank_load;           ///< [n_local][steps] seconds
  int n_units = 0;                             ///< kinds of units of work, identical on all nodes
  std::span<const double> work;                ///< [n_units][n_local][steps]
  std::span<const double> rank_wait;           ///< [n_local][steps] seconds in COMM, WAIT and IO; may be empty
  std::span<const double> step_wall;           ///< [n_local][steps] seconds; may be empty
  /// [n_local][steps] seconds that other ranks waited for the rank at collectives, and that it spent there without
  /// waiting; both may be empty
  std::span<const double> delay, transfer;
  bool synchronized_steps = false;  ///< each step has a collective that no rank leaves before all have arrived
  bool failed = false;              ///< this node has failed and only takes part in the exchange; arrays are ignored
};

template <typename T>
using ResultArray = std::vector<T>;

/// The result of the analysis.  Identical on all nodes, bit for bit, except for `region_load` and fields marked local.
/// A look fills `next`, `load`, `predicted`, and the report's steps, loads, price and decision.  A description fills
/// the rest, which stays until the next one.
struct Result : Report, HintArrays<ResultArray> {
  bool failed = false;  ///< a node failed or had bad input: every other field is empty
  NextLook next;
  int n_regions = 0;
  std::array<double, n_stages> stage_seconds{};  ///< local: this thread's CPU time
  std::size_t bytes = 0;                         ///< local: memory kept between windows
  std::array<std::size_t, n_stages>
      stage_bytes{};  ///< local: memory of each stage's arrays, including those of this window only
};

/// Loads of a window of steps, identical on all nodes.
struct WindowLoads {
  std::int64_t first = 0, last = 0;
  double imbalance = 0;  ///< max / mean - 1 of the ranks' loads over the window
  int worst_rank = 0;    ///< the rank of largest load

  /// Turns the report of the last look in the window into one of the window.
  void describe(Report& report) const {
    report.first = first;
    report.last = last;
    report.imbalance = imbalance;
    report.worst_rank = worst_rank;
  }
};

/// Analyses one run: decides at looks and describes windows.  Every node holds one, with equal settings.  Its memory is
/// O(local ranks x window x regions) and O(n_ranks) for the hint's arrays.
class Analyzer {
 public:
  /// @throws std::invalid_argument naming the setting, its value and what is allowed
  explicit Analyzer(Settings settings);
  ~Analyzer();

  /// Learns from the loads of steps.  Collective over `nodes` (all nodes, steps in ascending order, one thread per
  /// node); blocks.
  /// @return false on all nodes, also in all later calls, if one of them failed or passed different dimensions;
  ///         failure() gives the reason
  /// @throws CommunicatorError when a collective could not be completed
  bool follow(Communicator& nodes, const Steps& steps);
  /// Decides from the steps followed.  Collective; blocks.
  /// @return present load and decision; the rest is of the last description
  const Result& look(Communicator& nodes, const LookCost& cost = {});
  /// Ends the window of the steps followed since the last call, at least one.  Windows do not depend on how often looks
  /// come.  Collective; blocks.
  WindowLoads close_window(Communicator& nodes);
  /// First step of the present distribution.  Earlier steps of a window say nothing about the present ranks.
  std::int64_t since() const noexcept;
  /// Describes a window: strata, costs of units, efficiencies, sample sizes.  Collective; blocks.
  ///
  /// Bad input on any node (wrong lengths, NaN, a rank outside the run) or Input::failed gives a result with `failed`
  /// set on all nodes, in this and all later calls; nothing is thrown.  A node with Input::failed need not set n_ranks,
  /// n_regions and n_units.
  /// @throws CommunicatorError when a collective could not be completed
  const Result& describe(Communicator& nodes, const Input& input);

  /// The reason why the last result was `failed`, as far as this node knows; empty otherwise.  Never throws.
  const char* failure() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace effort::window
