// Keeps the detail of the ranks that a window has shown to matter.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/sampling/kept_ranks.hpp"
#include "analytics/trace/coder.hpp"
#include "analytics/window/window.hpp"
#include "record/trace/writer.hpp"
#include "runtime/config/settings.hpp"
#include "runtime/engine/clock_offset.hpp"
#include "runtime/engine/collector.hpp"
#include "runtime/engine/names.hpp"
#include "runtime/engine/run_log.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/node/segment.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace effort::engine {

/// Writes one trace file per node, window by window.  All ranks record; at the end of each described window, when loads
/// and strata are known, the ranks to keep are chosen (analytics/sampling/kept_ranks.hpp) and their records coded.
/// The rest is overwritten unread.  Used by the engine's thread only.  A file that cannot be written ends the trace of
/// its node with a note, not the run.
class TraceKeeper {
 public:
  /// All references must outlive it.
  TraceKeeper(const config::Settings& settings, RunLog& log, node::Segment& segment, const NameUnion& names,
              const Collector& collector, Communicator& nodes);

  /// The segment has trace memory on this node.
  bool records() const { return segment_.trace_blocks() > 0; }
  /// Keeps detail of the steps [first, last], which all local ranks have ended and which `known` describes.
  /// @param rebalanced  a rebalance took place in these steps
  /// Collective; blocks on messages and on the disk.
  void keep(const window::Result& known, std::int64_t first, std::int64_t last, bool rebalanced);

 private:
  void open();
  std::int64_t affordable();
  sampling::KeptRanks choose(const window::Result& known, bool rebalanced);
  void write(const sampling::KeptRanks& kept, std::int64_t first, std::int64_t last);
  void write_names();
  void compare_clocks();
  void write_clock();
  void write_rank(const RankEvents& events, std::int32_t rank, std::int64_t start_ns, std::int64_t first);
  record::trace::Header header() const;
  TraceEvents reader(int local) const;

  const config::Trace settings_;
  const std::string directory_;
  RunLog& log_;
  node::Segment& segment_;
  const NameUnion& names_;
  const Collector& collector_;
  Communicator& nodes_;
  const std::uint64_t origin_;  ///< ticks at which the trace's clock reads zero
  const std::int64_t started_unix_ns_;

  ClockOffset clock_;
  bool opened_ = false;
  std::unique_ptr<record::trace::Writer> writer_;  ///< null: nothing can be written
  trace::Encoder encoder_;
  std::int64_t window_ = 0;  ///< number of the next window
  std::int64_t kept_ = 0;    ///< ranks kept by this node so far, once per window
  std::size_t regions_named_ = 0, phases_named_ = 0, units_named_ = 0, communicators_named_ = 0;
  std::vector<double> last_load_, last_predicted_;  ///< [n_ranks]
};

}  // namespace effort::engine
