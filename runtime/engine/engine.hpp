// The background thread of a node: collects, analyses, publishes, compresses, writes.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/window/window.hpp"
#include "runtime/collect/collector.hpp"
#include "runtime/collect/wait_finder.hpp"
#include "runtime/config/settings.hpp"
#include "runtime/engine/background_thread.hpp"
#include "runtime/engine/look_meter.hpp"
#include "runtime/engine/placement.hpp"
#include "runtime/engine/rank_watch.hpp"
#include "runtime/engine/snapshots.hpp"
#include "runtime/engine/window_input.hpp"
#include "runtime/history/history_store.hpp"
#include "runtime/history/run_log.hpp"
#include "runtime/node/segment.hpp"
#include "runtime/trace/sample_rules.hpp"
#include "runtime/trace/sample_schedule.hpp"
#include "runtime/trace/trace_keeper.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace effort::engine {

/// The appointment of a run's first look.
node::Appointment first_look(const config::Settings& settings);

/// One node's engine.  Its thread issues all collectives of the node, ordered by (step, stage): window analysis,
/// periodic snapshot, explicit snapshot, end of the run.  It never throws or prints.
class Engine {
 public:
  /// @param nodes     must outlive the engine; used by its thread only
  /// @param leave     called once if this node fails, so that the other nodes learn of it at their next exchange
  /// @param placement may be null
  Engine(config::Settings settings, NodeSetup setup, node::Segment& segment, Communicator& nodes,
         std::function<void()> leave, Placement* placement);
  ~Engine();

  void start();  ///< starts the thread
  /// Asks the thread to stop as soon as possible, leaving the remaining work undone.
  void request_stop();
  /// request_stop(), then join().
  void stop();
  /// Joins the thread, which ends by itself once all ranks are final.
  void join();
  /// Abandons the thread, which sleeps and never wakes.
  void leave_asleep();
  /// Switches this node off because it cannot reach the others any more.  Called by the engine's thread before it
  /// sleeps.
  void lose_nodes(const char* why) noexcept;
  /// Whether only the library's threads keep the process alive.  Called by the engine's thread.
  bool host_has_ended() const noexcept;
  /// Runs the loop on the calling thread instead.  For tests, which use their own threads.
  void run();

  /// After join(): the text of REPORT (node 0 only), and the error, if any.
  const std::string& report() const { return report_.empty() ? snapshots_.report() : report_; }
  const std::string& failure() const { return failure_.empty() ? snapshots_.failure() : failure_; }
  /// Readable at any time: whether this node has failed.
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  bool finished() const noexcept { return finished_.load(std::memory_order_acquire); }

  /// For tests of failures: called before each look.
  std::function<void(std::int64_t look)> before_look;

 private:
  void loop();
  void look_for_failed_ranks();
  void watch_ranks();
  void look_for_lost_ranks();
  bool process_steps();
  void deliver_hint();
  void decide_sample();
  void describe_window();
  std::int64_t pass_end() const;
  std::int64_t share_names_and_answers(std::int64_t final_steps);
  void unite_answers(const std::vector<RebalanceAnswer>& answers);
  void remember_window(const window::Result& result);
  void close_window(int steps);
  void keep_detail(std::int64_t last);
  void finish(std::int64_t steps);
  void end(std::int64_t steps);
  void record_failure(const char* what) noexcept;

  config::Settings settings_;
  node::Segment& segment_;
  Communicator& nodes_;
  std::function<void()> leave_;
  Placement* placement_;

  NameUnion names_;
  RunLog log_;
  WindowInput input_;
  Collector collector_;
  std::unique_ptr<WaitFinder> waits_;  ///< null unless COMM_WAITS is on
  HistoryStore history_;
  std::unique_ptr<window::Analyzer> analyzer_;
  SampleRules rules_;
  SampleSchedule schedule_;
  std::unique_ptr<TraceKeeper> tracer_;  ///< null: nothing is traced
  std::unique_ptr<RankWatch> watch_;     ///< null: nothing is traced, or a rank has been lost already
  Snapshots snapshots_;
  LookMeter meter_;
  bool rebalanced_ = false;         ///< in the window under way
  bool rebalanced_before_ = false;  ///< in the window before it
  std::int64_t looks_ = 0;          ///< so far
  node::Appointment appointment_;   ///< the next look
  node::Appointment last_look_;
  std::int64_t followed_ = -1;  ///< last step that was analysed
  std::int64_t windowed_ = -1;  ///< last step of the last window
  bool described_ = false;      ///< strata for hints are available
  const window::Result* known_ = nullptr;
  std::vector<window::Rebalance> new_rebalances_;

  bool own_thread_ = false;  // started by start(), to be placed
  bool sleeps_ = false;      // the thread, because the exchange is lost
  BackgroundThread thread_;
  std::atomic<bool> stop_{false}, failed_{false}, finished_{false};
  std::string failure_, report_;  ///< if the node has failed
};

}  // namespace effort::engine
