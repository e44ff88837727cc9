// The quantities that the sample of a trace estimates, and for which ranks.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/sampling/planned_sample.hpp"
#include "runtime/collect/collector.hpp"
#include "runtime/collect/names.hpp"
#include "runtime/config/settings.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace effort::engine {

/// The guiding metric, regions with an accuracy of their own, and groups of ranks, from the settings TRACE_GUIDE,
/// trace_policy and trace_group.  Used by the engine's thread only.
class SampleRules {
 public:
  /// @param ranks  global ids of the node's ranks; all references must outlive it
  SampleRules(const config::Settings& settings, int n_ranks, const std::vector<int>& ranks, const NameUnion& names);

  /// Measures a window on all ranks of the run.  Collective and O(ranks) if anything but the load is estimated.
  void measure(Communicator& nodes, const WindowBlock& block, std::int64_t first, std::int64_t last);
  /// The guiding metric comes first; while it is zero everywhere, the load takes its place.  Valid until measure().
  std::vector<sampling::Target> targets(std::span<const double> load) const;
  const std::vector<sampling::Group>& groups() const { return groups_; }
  /// Ranks that are kept in every window.
  const std::vector<std::int32_t>& pinned() const { return pinned_; }
  /// The guiding metric was not zero in the last window.
  bool guide_is_measured() const { return !guided_ || measured_; }

 private:
  /// A sum over the series of a metric, in one region or in all.
  struct Column {
    std::string metric, region;
    sampling::Accuracy accuracy;
  };

  void add_series(const Column& column, const WindowBlock& block, std::size_t first, std::size_t end, std::size_t at,
                  std::vector<double>& rows) const;

  const int n_ranks_;
  const std::vector<int>& ranks_;
  const NameUnion& names_;
  const sampling::Accuracy accuracy_;
  bool guided_ = false;  ///< the first column is the guiding metric
  bool measured_ = false;
  std::vector<Column> columns_;
  std::vector<std::vector<double>> values_;  ///< [columns][n_ranks]
  std::vector<sampling::Group> groups_;
  std::vector<std::int32_t> pinned_;
};

/// A note on ranks that the settings name but the run does not have; empty if there are none.
std::string absent_ranks(const config::Trace& settings, int n_ranks);

}  // namespace effort::engine
