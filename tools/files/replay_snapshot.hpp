// Makes a snapshot of a replayed run, as the engine does of a live one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analytics/replay/replay.hpp"
#include "analytics/window/window.hpp"
#include "record/run.hpp"
#include "record/series_history.hpp"

namespace effort::tools {

/// Collects windows while the replay runs.  Different nodes may be collected at the same time, each by one thread.
class ReplayRecorder {
 public:
  /// @param regions  names, [regions]
  /// @param exact    store the raw windows too
  ReplayRecorder(std::vector<std::string> regions, int nodes, int passes, bool exact);

  /// One window of one node: the loads as the analysis saw them.
  void add(int index, const window::Input& input, const window::Result& result);

  /// Writes the file; an existing one is not overwritten.  Errors: as record::write_file.
  void write(const std::filesystem::path& path, const std::string& name, const replay::Options& options,
             const replay::Report& report);

 private:
  struct Node {
    std::vector<std::int32_t> ranks;
    std::vector<record::SeriesHistory> series;   ///< [regions]
    std::vector<double> step_largest, step_sum;  ///< [steps] over the node's ranks, seconds
    std::vector<record::ExactBlock> exact;
    double cpu_seconds = 0;
    std::int64_t bytes = 0;
  };
  void start(Node& node, const window::Input& input) const;
  static void add_step_loads(Node& node, const window::Input& input);
  void describe(record::Run& run) const;
  void describe_steps(record::Run& run) const;

  std::vector<std::string> regions_;
  int passes_;
  bool exact_;
  std::vector<Node> nodes_;
  record::StrataLog strata_;  ///< node 0's
};

/// A window of a replay as snapshots and `--json` show it.
record::Window to_window(const replay::WindowReport& w, const std::vector<std::string>& regions);

}  // namespace effort::tools
