// One snapshot of all nodes.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "record/run.hpp"
#include "runtime/history/history_store.hpp"
#include "runtime/node/segment.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace effort::engine {

/// Brings the compressed tiles of all nodes to node 0, without expanding them: node 0 holds the compressed bytes of the
/// run once.  The last snapshot of a run codes the histories of all nodes together (docs/adr/0020).  Earlier snapshots
/// do not, because hints wait while nodes exchange.
class SnapshotJob {
 public:
  /// @param ranks  global ids of this node's ranks, ascending
  SnapshotJob(Communicator& nodes, const HistoryStore& history, node::Segment& segment, std::span<const int> ranks)
      : nodes_(nodes), history_(history), segment_(segment), ranks_(ranks) {}

  /// Collective.  Returns the encoded parts (on node 0; empty elsewhere).
  /// @param other_bytes  memory of the library on this node besides the segment and the history
  std::vector<std::vector<std::byte>> gather(bool final, double own_cpu_seconds, std::size_t other_bytes);
  /// Node 0: fills in the contributions of the nodes.
  void complete(record::Run& run, const RunNames& names, int n_ranks) const;

 private:
  struct Stat {
    RunSeries key;
    record::Totals totals;
    double nrmse;  ///< on node 0
  };
  struct NodeFacts {
    double own_cpu_seconds, measuring_seconds;
    std::int64_t own_bytes, merged_steps;
  };

  void unite_stats();
  std::vector<std::byte> own_part(bool final, bool united);
  std::vector<std::byte> united_part();
  void collect_facts(double own_cpu_seconds, std::size_t other_bytes);
  HistoryStore::Places places() const;

  Communicator& nodes_;
  const HistoryStore& history_;
  node::Segment& segment_;
  std::span<const int> ranks_;
  std::map<RunSeries, Stat> stats_;
  std::vector<NodeFacts> facts_;  ///< [nodes]
};

/// Writes a job's completed data on node 0 to `path` or, if that is empty, to a new file in `directory`.
/// @throws std::filesystem::filesystem_error and others
void write_snapshot_file(const record::Run& run, const std::vector<std::vector<std::byte>>& parts,
                         const std::string& directory, const std::string& path);

}  // namespace effort::engine
