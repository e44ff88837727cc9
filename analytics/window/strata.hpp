// Strata: groups of ranks that behave alike.
#pragma once

#include "analytics/cluster/stable_strata.hpp"
#include "analytics/comm/communicator.hpp"
#include "analytics/window/exchange.hpp"
#include "analytics/window/layout.hpp"
#include "analytics/window/pass.hpp"
#include "analytics/window/window.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace effort::window {

/// Finds the strata of each window and numbers them like those of the previous window.
class StrataFinder {
 public:
  explicit StrataFinder(const Settings& settings) : settings_(settings) {}
  /// The ranks of a node have changed.
  void restart();
  /// Sets the strata of the result with their mean loads, the sample sizes, and the worst rank and region.  Collective;
  /// blocks.
  void find(Communicator& nodes, const Layout& layout, Pass& pass);
  std::size_t bytes() const { return last_labels_.size() * sizeof(std::int32_t); }

 private:
  std::vector<std::int32_t> exact_strata(Communicator& nodes, const Layout& layout,
                                         const std::vector<double>& signatures, std::size_t d, int k,
                                         std::vector<std::int32_t>& medoids) const;
  std::vector<std::int32_t> coarse_strata(Communicator& nodes, const Layout& layout,
                                          const std::vector<double>& signatures, std::size_t d,
                                          std::vector<std::int32_t>& medoids) const;
  void keep_numbers(Communicator& nodes, std::vector<std::int32_t>& labels, std::vector<std::int32_t>& medoids) const;
  void plan_sample(Communicator& nodes, Pass& pass, const std::vector<std::int64_t>& sizes,
                   const std::vector<double>& variance) const;
  void summarize(Communicator& nodes, const Layout& layout, Pass& pass, const std::vector<std::int32_t>& labels,
                 int k) const;

  Settings settings_;
  std::vector<std::int32_t> last_labels_;  // [n_local] strata of the previous window
  int last_k_ = 0;                         // strata of the previous window; 0: there was none
};

}  // namespace effort::window
