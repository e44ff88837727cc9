// The compressed history of all series of a node, and their exact sums.
#pragma once

#include "analytics/codec/history.hpp"
#include "runtime/config/settings.hpp"
#include "runtime/engine/collector.hpp"
#include "runtime/snapshot/run.hpp"

#include <map>
#include <vector>

namespace effort::engine {

/// Grows by one window at a time.  Memory: O(compressed history + series x local ranks).
class HistoryStore {
 public:
  HistoryStore(int n_local, const config::Settings& settings);

  /// Appends the first `steps` columns of the block.
  void append(const WindowBlock& block, int steps, const NameUnion& names);

  /// What a series came to on this node.
  struct Sums {
    double total = 0;      ///< over local ranks and steps
    double largest = 0;    ///< of one rank over the steps
    int largest_rank = 0;  ///< local
  };
  std::vector<SeriesKey> keys() const;
  Sums sums(const SeriesKey& key) const;
  /// The tiles and exact blocks; `index` gives each series its place in the snapshot.
  snapshot::NodePart part(int node, const std::map<SeriesKey, std::uint32_t>& index, bool final) const;
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
  const bool exact_;
  std::int64_t steps_ = 0;
  std::map<SeriesKey, Series> series_;
  struct ExactWindow {
    std::int64_t first_step;
    int steps;
    std::map<SeriesKey, std::vector<double>> values;
  };
  std::vector<ExactWindow> exact_windows_;
  std::int64_t windows_ = 0;
  snapshot::Traffic traffic_;
  std::map<std::string, std::int32_t> traffic_regions_;  ///< places in traffic_.regions
};

}  // namespace effort::engine
