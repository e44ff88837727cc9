// The state of an Analyzer between windows, and the stages of one analysis.
#pragma once

#include "analytics/balance/cost_model.hpp"
#include "analytics/balance/spikes.hpp"
#include "analytics/cluster/stable_strata.hpp"
#include "analytics/window/exchange.hpp"
#include "analytics/window/local_loads.hpp"
#include "analytics/window/watch.hpp"
#include "analytics/window/window.hpp"

#include <deque>
#include <string>
#include <vector>

namespace effort::window {

/// Facts about all nodes' input, known on all nodes after the first exchange.
struct Agreed {
  bool failed = false;
  bool layout_changed = false;  ///< the ranks of some node have changed
  bool wall = false;            ///< step_wall is given
  double largest_load = 0;      ///< largest absolute load of any rank or region in any step
  double largest_wait = 0;
  double largest_wall = 0;
};

/// One window during its analysis.
struct Pass {
  Pass(const Input& window_input, Result& window_result) : input(window_input), result(window_result) {}

  const Input& input;
  Result& result;
  int steps = 0;
  int rows = 0;  ///< regions, and one row for the rest of the rank's load
  Agreed agreed;
  std::vector<double> rank_mean;     ///< [n_local]
  std::vector<double> row_mean;      ///< [rows][n_local]
  std::vector<double> step_largest;  ///< [steps] over all ranks
  std::vector<double> step_total;    ///< [steps] over all ranks
  std::vector<double> wall_largest;  ///< [steps]
  std::vector<double> region_peak;   ///< [n_regions] largest rank's load of each step, median over the steps
  double wait_share = 0;             ///< share of the ranks' wall time in COMM, WAIT and IO; 0 if unknown
  double largest_mean = 0;           ///< largest mean load of a rank
  std::vector<double> predicting;    ///< [n_units] seconds per unit for predictions; < 0: not known
  std::vector<double> row_total;     ///< [rows] mean load per step, summed over all ranks
};

/// Fills the last row of row_mean: the part of a rank's load that no region accounts for, such as work outside regions.
void fill_rest(Pass& pass);

struct Analyzer::State {
  explicit State(Settings s);

  Settings settings;
  bool failed = false;
  std::string why;

  std::vector<int> ranks;  // this node's
  Gathered<int> layout;    // all nodes' ranks
  int n_ranks = 0, rows = 0;
  std::vector<balance::SpikeFinder> row_spikes;  // [rows]
  std::deque<balance::WorkLog> work_logs;        // of recent windows, newest first
  std::vector<char> unlike;  // [n_local] ranks whose speed differs from their node's; empty: none yet
  bool collinear_units = false, slow_node = false;
  std::vector<double> stated_cost;        // [n_units] published with the last window, seconds per unit
  double cost_change = -1;                // mean square relative error of stated_cost in the next window; < 0: unknown
  std::vector<std::int32_t> last_labels;  // [n_local] strata of the previous window
  int last_k = 0;                         // strata of the previous window; 0: there was none
  Watch watch;
  std::uint32_t decided = 0, described = 0;  // advice of the last look and the last description
  Result known;                              // of the last look and the last description

  bool follow(Communicator& nodes, const Steps& steps);
  const Result& look(Communicator& nodes, const LookCost& cost);
  const Result& describe(Communicator& nodes, const Input& input);
  Result give_up(const std::string& reason);

 private:
  Agreed agree(Communicator& nodes, Pass& pass, const std::string& error);
  bool learn_layout(Communicator& nodes, const Input& input, bool changed);
  void reshape(const Input& input);
  void measure(Communicator& nodes, Pass& pass);
  void exchange_maxima(Communicator& nodes, Pass& pass);
  void find_row_peaks(Pass& pass, std::span<const double> region_maxima);
  void exchange_sums(Communicator& nodes, Pass& pass);
  void fit_costs(Communicator& nodes, Pass& pass);
  void follow_costs(Communicator& nodes, Pass& pass, double noise);
  balance::WorkLog log_work(const Pass& pass);
  void rate_ranks(Communicator& nodes, const balance::WorkLog& recent, std::span<const double> cost,
                  std::span<const double> node_speed, double noise, Result& result);
  void stratify(Communicator& nodes, Pass& pass);
  std::vector<std::int32_t> exact_strata(Communicator& nodes, const std::vector<double>& signatures, std::size_t d,
                                         int k, std::vector<std::int32_t>& medoids);
  std::vector<std::int32_t> coarse_strata(Communicator& nodes, const std::vector<double>& signatures, std::size_t d,
                                          std::vector<std::int32_t>& medoids);
  cluster::StrataMatch match_strata(Communicator& nodes, const std::vector<std::int32_t>& before, int k_before,
                                    const std::vector<std::int32_t>& now, int k_now) const;
  void keep_numbers(Communicator& nodes, std::vector<std::int32_t>& labels, std::vector<std::int32_t>& medoids) const;
  void summarize_strata(Communicator& nodes, Pass& pass, const std::vector<std::int32_t>& labels, int k);
  void plan_sample(Communicator& nodes, Pass& pass, const std::vector<std::int64_t>& sizes,
                   const std::vector<double>& variance) const;
  void find_worst_region(Pass& pass, const ExactSum& sum, std::size_t worst_at) const;
  void judge(Communicator& nodes, Pass& pass);
  std::size_t bytes() const;
  std::array<std::size_t, n_stages> stage_bytes(const Pass& pass) const;
};

}  // namespace effort::window
