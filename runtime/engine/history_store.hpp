// The compressed history of all series of a node, and their exact sums.
#pragma once

#include "analytics/codec/history.hpp"
#include "analytics/comm/communicator.hpp"
#include "record/run.hpp"
#include "runtime/config/settings.hpp"
#include "runtime/engine/collector.hpp"

#include <map>
#include <vector>

namespace effort::engine {

/// Grows by one window at a time.  Memory: O(compressed history + series x local ranks).
class HistoryStore {
 public:
  /// @param n_nodes  more than 1: the histories are going to be coded as one with those of the others
  HistoryStore(int n_local, const config::Settings& settings, int n_nodes = 1);

  /// Appends the first `steps` columns of the block.
  void append(const WindowBlock& block, int steps, const NameUnion& names);
  /// Does a piece of the coding that is due, of one series; false where nothing is.  For when nobody waits: results do
  /// not depend on it.
  bool work();

  /// What a series came to on this node.
  struct Sums {
    double total = 0;      ///< over local ranks and steps
    double largest = 0;    ///< of one rank over the steps
    int largest_rank = 0;  ///< local
  };
  std::vector<SeriesKey> keys() const;
  Sums sums(const SeriesKey& key) const;
  /// Places of the run's series in the snapshot, the same on all nodes.
  using Places = std::map<SeriesKey, std::uint32_t>;
  /// This node's tiles.
  std::vector<record::Tile> tiles(const Places& places, bool final) const;
  /// What a node contributes beside them.
  record::NodePart part(int node, const Places& places) const;
  /// Whether the histories of all nodes can be coded as one.
  bool shared() const { return shared_; }
  /// Collective, where shared(): the tiles of all nodes as one, on node 0; nothing elsewhere.
  std::vector<record::Tile> shared_tiles(Communicator& nodes, const Places& places) const;
  std::size_t held_bytes() const;
  std::int64_t steps() const { return steps_; }

 private:
  struct Series {
    codec::History history;
    std::int64_t first_step;
    std::vector<double> rank_sums;
  };

  Series& series(const SeriesKey& key);
  void keep_traffic(const WindowBlock& block, const NameUnion& names);

  const int n_local_;
  const codec::Target target_;
  const bool exact_, shared_;
  std::int64_t steps_ = 0;
  std::map<SeriesKey, Series> series_;
  std::map<SeriesKey, Series>::iterator worked_ = series_.end();  ///< the series that had the last turn
  bool may_have_work_ = false;
  struct ExactWindow {
    std::int64_t first_step;
    int steps;
    std::map<SeriesKey, std::vector<double>> values;
  };
  std::vector<ExactWindow> exact_windows_;
  std::int64_t windows_ = 0;
  record::Traffic traffic_;
  std::map<std::string, std::int32_t> traffic_regions_;  ///< places in traffic_.regions
};

}  // namespace effort::engine
