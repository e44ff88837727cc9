// The compressed history and the exact sums of all series of a node.
#pragma once

#include "analytics/codec/history.hpp"
#include "analytics/comm/communicator.hpp"
#include "record/run.hpp"
#include "record/series_history.hpp"
#include "runtime/collect/collector.hpp"
#include "runtime/config/settings.hpp"

#include <map>
#include <span>
#include <utility>
#include <vector>

namespace effort::engine {

/// Grows by one window at a time.  Memory: O(compressed history + series x local ranks).
class HistoryStore {
 public:
  /// @param n_nodes  if more than 1, the histories will be coded together with those of the other nodes
  HistoryStore(int n_local, const config::Settings& settings, int n_nodes = 1);

  /// Appends the first `steps` columns of the block.
  void append(const WindowBlock& block, int steps, const NameUnion& names);
  /// Codes a part of one series that is due; false if nothing is due.  Called while no rank waits; results do not
  /// depend on when it is called.
  bool work();

  /// Totals of each series on this node.
  /// @param ranks  global ids of this node's ranks, ascending
  std::vector<std::pair<RunSeries, record::Totals>> totals(std::span<const int> ranks) const;
  /// Positions of the run's series in the snapshot, which are the same on all nodes.
  using Places = std::map<RunSeries, std::uint32_t>;
  /// This node's tiles.
  std::vector<record::Tile> tiles(const Places& places, bool final) const;
  /// This node's contribution in addition to its tiles.
  record::NodePart part(int node, const Places& places) const;
  /// Whether the histories of all nodes can be coded as one.
  bool united() const { return united_; }
  /// Collective; requires united().  Returns the combined tiles of all nodes on node 0 and nothing elsewhere.
  std::vector<record::Tile> united_tiles(Communicator& nodes, const Places& places) const;
  std::size_t held_bytes() const;
  std::int64_t steps() const { return steps_; }

 private:
  record::SeriesHistory& series(const RunSeries& key);
  void keep_traffic(const WindowBlock& block, const NameUnion& names);

  const int n_local_;
  const codec::Target target_;
  const bool exact_, united_;
  std::int64_t steps_ = 0;
  std::map<RunSeries, record::SeriesHistory> series_;
  std::map<RunSeries, record::SeriesHistory>::iterator worked_ = series_.end();  ///< the series that had the last turn
  bool may_have_work_ = false;
  struct ExactWindow {
    std::int64_t first_step;
    int steps;
    std::map<RunSeries, std::vector<double>> values;
  };
  std::vector<ExactWindow> exact_windows_;
  std::int64_t windows_ = 0;
  record::Traffic traffic_;
  std::map<std::string, std::int32_t> traffic_regions_;  ///< places in traffic_.regions
};

}  // namespace effort::engine
