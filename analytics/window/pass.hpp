// One window during its analysis.
#pragma once

#include "analytics/window/window.hpp"

#include <vector>

namespace effort::window {

/// Facts about all nodes' input, known on all nodes after the first exchange.
struct Agreed {
  bool failed = false;
  bool layout_changed = false;      ///< the ranks of some node have changed
  bool wall = false;                ///< step_wall is given
  bool waits = false;               ///< delay and transfer are given on all nodes
  bool synchronized_steps = false;  ///< as in Input
  double largest_load = 0;          ///< largest absolute load of any rank or region in any step
  double largest_wait = 0;
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
  double mean_wait = 0;              ///< seconds per rank and step in COMM, WAIT and IO; 0 if unknown
  double largest_mean = 0;           ///< largest mean load of a rank
  std::vector<double> predicting;    ///< [n_units] seconds per unit for predictions; < 0: not known
  std::vector<double> row_total;     ///< [rows] mean load per step, summed over all ranks
};

}  // namespace effort::window
