// The input of a window's analysis, taken from the collector's data.
#pragma once

#include "analytics/window/window.hpp"
#include "runtime/config/settings.hpp"
#include "runtime/engine/collector.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::engine {

/// The results point into this object, until the next call of the same function.
class WindowInput {
 public:
  /// @param ranks  global ids of the node's ranks, ascending; all references must outlive it
  WindowInput(const config::Settings& settings, int n_ranks, const std::vector<int>& ranks, const NameUnion& names)
      : settings_(settings), n_ranks_(n_ranks), ranks_(ranks), names_(names) {}

  /// The loads and the work of the steps [from, last], which the block holds.
  window::Steps steps(const WindowBlock& block, std::int64_t from, std::int64_t last,
                      std::span<const window::Rebalance> rebalances);
  /// The block's steps from `since` to `last`: those under the present distribution.
  window::Input window(const WindowBlock& block, std::int64_t since, std::int64_t last);

 private:
  const config::Settings& settings_;
  int n_ranks_;
  const std::vector<int>& ranks_;
  const NameUnion& names_;
  std::vector<double> step_load_, step_work_;
  std::vector<double> region_load_, rank_load_, work_, rank_wait_, step_wall_;
};

}  // namespace effort::engine
