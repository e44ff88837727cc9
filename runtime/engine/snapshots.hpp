// The snapshots of a run: periodic ones, those that the host asks for, and the last one.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "runtime/collect/names.hpp"
#include "runtime/config/settings.hpp"
#include "runtime/engine/background_thread.hpp"
#include "runtime/history/history_store.hpp"
#include "runtime/history/run_log.hpp"
#include "runtime/node/segment.hpp"
#include "runtime/trace/trace_keeper.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace effort::engine {

/// Gathers snapshots on node 0 and writes them, the periodic ones on a thread of their own.  A snapshot that cannot be
/// written is lost: the run continues, and later snapshots and finalize report it.  Used by the engine's thread only.
class Snapshots {
 public:
  /// @param tracer  null: nothing is traced; all references must outlive this
  Snapshots(const config::Settings& settings, RunLog& log, const HistoryStore& history, const NameUnion& names,
            node::Segment& segment, Communicator& nodes, TraceKeeper* tracer);

  /// The number of snapshots that the host has asked for and that are done: written, or lost.
  std::int64_t asked() const { return asked_; }
  /// Writes one that the host asked for and tells the ranks, which wait for it.  Collective.
  /// @param path  empty: a new file in the directory of the settings
  void write_asked(const std::string& path);
  /// Collective.
  void write_periodic();
  /// Writes the last snapshot and returns the lowest status of all nodes, which includes that of the periodic
  /// snapshots.  Collective.
  int write_last();
  /// The run has ended without a step: there will be no snapshot.
  void none();

  /// The text of REPORT, made with the last snapshot on node 0.
  const std::string& report() const { return report_; }
  /// Why a snapshot was lost, the last one if there were several; else empty.
  const std::string& failure() const { return failure_; }

 private:
  enum class Occasion { periodic, asked, last };
  /// A periodic snapshot that is being written.  It is not a std::future, whose end could throw from a destructor if
  /// memory is exhausted.
  struct Writing {
    std::function<double()> write;  ///< returns the CPU seconds that it took
    double cpu_seconds = 0;
    bool failed = false;
    std::string why;  ///< reason for a failure; empty if there was no memory for it
    void run() noexcept;
  };
  int write(const std::string& path, Occasion occasion);
  int lose(const char* why);
  void write_aside(std::function<double()> write);
  void finish_writing();
  double own_cpu_seconds() const;

  const config::Settings& settings_;
  RunLog& log_;
  const HistoryStore& history_;
  const NameUnion& names_;
  node::Segment& segment_;
  Communicator& nodes_;
  TraceKeeper* const tracer_;

  std::int64_t asked_ = 0;
  int lost_status_ = 0;  ///< of the periodic ones
  std::unique_ptr<Writing> writing_;
  double writing_cpu_seconds_ = 0;  ///< of those that are done
  std::string failure_, report_;
  BackgroundThread writer_;
};

}  // namespace effort::engine
