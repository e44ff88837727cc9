// Keeps the events of the ranks that turned out to matter in a window.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/reduction/window_reducer.hpp"
#include "analytics/sampling/kept_ranks.hpp"
#include "analytics/trace/coder.hpp"
#include "analytics/window/window.hpp"
#include "runtime/collect/clock_offset.hpp"
#include "runtime/collect/collector.hpp"
#include "runtime/collect/names.hpp"
#include "runtime/config/settings.hpp"
#include "runtime/history/run_log.hpp"
#include "runtime/node/segment.hpp"
#include "runtime/trace/sample_rules.hpp"
#include "runtime/trace/sample_schedule.hpp"
#include "runtime/trace/trace_events.hpp"
#include "runtime/trace/trace_file.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
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
              const Collector& collector, const SampleRules& rules, SampleSchedule& schedule, Communicator& nodes);

  /// Whether the segment of this node has trace memory.
  bool records() const { return segment_.trace_blocks() > 0; }
  /// Keeps detail of the steps from the block's first to `last`, which all local ranks have ended and which `known`
  /// describes.
  /// @param rebalanced  a rebalance took place in these steps
  /// Collective; blocks on messages and on the disk.
  void keep(const window::Result& known, const WindowBlock& block, std::int64_t last, bool rebalanced);
  /// The run has ended regularly after `steps` steps.  Collective; blocks on messages and on the disk.
  void finish(std::int64_t steps);
  /// The number of ranks that the budget allows in a window now, from the mean size of a rank's window so far.
  /// Collective.
  std::int64_t affordable();
  /// Memory of the coder, in bytes; the events are in the segment.
  std::size_t held_bytes() const { return encoder_.held_bytes() + (reducer_ ? reducer_->held_bytes() : 0); }

  // ---- the flight recorder
  /// Adds the windows of all ranks that are still in memory to the trace, beyond the budget.  Collective.
  void save_on_request();
  /// The same when a local rank is lost, plus everything that ranks have recorded since step `first`, the first one
  /// that belongs to no window yet.  Not collective: the other nodes may not respond.  Only on nodes that write a file.
  void save_after_loss(std::int64_t first);

 private:
  /// A window in the file, and the ranks whose events it has.
  struct Written {
    record::trace::Window window;  ///< without ranks
    std::vector<bool> kept;        ///< [n_local]
  };

  void open();
  /// Runs a write.  If it fails, the trace of this node ends.
  template <typename Write>
  void attempt(std::int64_t first, const Write& write) {
    try {
      write();
    } catch (const CommunicatorError&) {
      throw;
    } catch (const std::exception& e) {
      fail("ends before step " + std::to_string(first) + ": " + e.what());
      file_.close();
    }
  }
  void fail(const std::string& what);
  void share_failures();
  void note_no_room();
  sampling::KeptRanks choose(const window::Result& known, std::int64_t first, bool rebalanced);
  std::int64_t first_recorded(std::int64_t first);
  std::optional<std::vector<record::trace::Window::RegionSum>> sum_regions(const WindowBlock& block, std::int64_t last);
  void write(const sampling::KeptRanks& kept, record::trace::Window window);
  std::vector<std::pair<std::int32_t, RankEvents>> partners_of(const sampling::KeptRanks& kept, std::int64_t first,
                                                               std::int64_t last);
  std::string shown(const std::string& name) const;
  void hide_regions();
  void write_names();
  void compare_clocks();
  void write_clock();
  void set_times(record::trace::Window& window);
  void write_window(const record::trace::Window& window, const std::vector<std::pair<std::int32_t, RankEvents>>& all,
                    bool may_reduce);
  void write_rank(const RankEvents& events, std::int32_t rank, const record::trace::Window& window, bool reduce);
  void write_chunk(record::trace::Events chunk, const trace::Place& place, std::span<const trace::Event> part,
                   reduction::WindowReducer::Plan& plan, std::int64_t end_ns);
  void remember(record::trace::Window window);
  void save_rest(record::trace::Reason why);
  void save_rest_of(Written& written, record::trace::Reason why);
  void save_unfinished(std::int64_t first);
  record::trace::Header header() const;
  TraceEvents reader(int local);

  const config::Trace settings_;
  const std::string directory_;
  RunLog& log_;
  node::Segment& segment_;
  const NameUnion& names_;
  const Collector& collector_;
  const SampleRules& rules_;
  SampleSchedule& schedule_;
  Communicator& nodes_;
  const std::uint64_t origin_;  ///< ticks at which the trace's clock reads zero
  const std::int64_t started_unix_ns_;

  TraceFile file_;
  ClockOffset clock_;
  bool opened_ = false;
  std::string failure_;  ///< the last one of this node, empty: none
  trace::Encoder encoder_;
  std::optional<reduction::WindowReducer> reducer_;
  std::int64_t window_ = 0;  ///< number of the next window
  std::int64_t kept_ = 0;    ///< ranks kept by this node so far, once per window
  struct Partners {
    std::int64_t events = 0, bytes = 0;  ///< so far
    double allowed = 0;                  ///< bytes in this window
    bool noted = false;                  ///< whether the note on missing partners has been added
  } partners_;
  bool noted_no_room_ = false;
  std::vector<bool> hidden_;  ///< by region of the run: begins and ends are not kept
  std::size_t regions_named_ = 0, phases_named_ = 0, units_named_ = 0, communicators_named_ = 0, modules_named_ = 0;
  std::deque<Written> written_;                     ///< the last windows
  std::uint64_t saved_bytes_ = 0;                   ///< written by the flight recorder
  std::vector<double> last_load_, last_predicted_;  ///< [n_ranks]
};

}  // namespace effort::engine
