// Prepares the input of a window's analysis from the collector's data.
#pragma once

#include "analytics/window/window.hpp"
#include "runtime/collect/collector.hpp"
#include "runtime/config/settings.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::engine {

/// The results point into this object and are valid until the next call of the same function.
class WindowInput {
 public:
  /// @param ranks  global ids of the node's ranks, ascending; all references must outlive it
  WindowInput(const config::Settings& settings, int n_ranks, const std::vector<int>& ranks, const NameUnion& names)
      : settings_(settings), n_ranks_(n_ranks), ranks_(ranks), names_(names) {}

  /// The loads and the work of the steps [from, last], which must be in the block.
  window::Steps steps(const WindowBlock& block, std::int64_t from, std::int64_t last,
                      std::span<const window::Rebalance> rebalances);
  /// The steps of the block from `since` to `last`, which belong to the present distribution.
  window::Input window(const WindowBlock& block, std::int64_t since, std::int64_t last);

 private:
  const config::Settings& settings_;
  int n_ranks_;
  const std::vector<int>& ranks_;
  const NameUnion& names_;
  std::vector<double> step_load_, step_work_;
  std::vector<double> region_load_, rank_load_, work_, rank_wait_, step_wall_, delay_, transfer_;
};

}  // namespace effort::engine
