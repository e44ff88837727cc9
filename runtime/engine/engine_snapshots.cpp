// Snapshots: periodic ones, those that the host asks for, and the last one.
#include "runtime/engine/engine.hpp"
#include "runtime/history/report.hpp"
#include "runtime/history/snapshot_job.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/quiet_write.hpp"
#include "runtime/status.hpp"

#include <memory>
#include <system_error>
#include <utility>

namespace effort::engine {

double Engine::own_cpu_seconds() const {
  return static_cast<double>(measure::thread_cpu_ns()) * 1e-9 + writing_cpu_seconds_;
}

/// The run continues.  The lost snapshot is counted, and reported in the next snapshot and by finalize.
int Engine::lose_snapshot(const char* why) {
  failure_ = std::string("a snapshot was lost: ") + why;
  log_.add_lost_snapshot();
  log_.note(failure_);
  return static_cast<int>(Status::io);
}

/// Waits for the periodic snapshot that is being written, if any.
void Engine::finish_writing() {
  if (!writing_.valid()) return;
  try {
    writing_cpu_seconds_ += writing_.get();
  } catch (const std::exception& e) {
    lost_status_ = lose_snapshot(e.what());
  }
}

/// Runs `write` on a separate thread, or directly if none can be created.
void Engine::write_aside(std::function<double()> write) {
  const auto task = std::make_shared<std::packaged_task<double()>>(std::move(write));
  writing_ = task->get_future();
  try {
    writer_.start([task] { (*task)(); });
  } catch (const std::system_error&) {
    (*task)();
  }
}

/// Collective.  Returns the lowest status of all nodes.  For the last snapshot it includes the status of periodic ones,
/// which has not been reported yet.
int Engine::write_snapshot(const std::string& path, Occasion occasion) {
  finish_writing();
  if (tracer_ && occasion == Occasion::asked) tracer_->save_on_request();
  const bool final = occasion == Occasion::end;
  SnapshotJob job(nodes_, history_, segment_, log_.setup().ranks);
  auto parts = job.gather(final, own_cpu_seconds(), tracer_ ? tracer_->held_bytes() : 0);
  std::int64_t status = final ? lost_status_ : 0;
  if (nodes_.rank() == 0) {
    try {
      record::Run run = log_.describe(final);
      job.complete(run, names_.run(), log_.setup().n_ranks);
      if (final && settings_.verbose && settings_.report != "summary")
        for (const std::string& fault : log_.faults()) say(fault);
      if (final && settings_.report != "off") report_ = summary(run, log_.totals());
      auto write = [run = std::move(run), parts = std::move(parts), path, directory = settings_.snapshot_dir] {
        const std::int64_t start = measure::thread_cpu_ns();
        write_snapshot_file(run, parts, directory, path);
        return static_cast<double>(measure::thread_cpu_ns() - start) * 1e-9;
      };
      // Hints must not wait for a file system.
      if (occasion == Occasion::periodic)
        write_aside(std::move(write));
      else
        write();
    } catch (const std::exception& e) {
      status = lose_snapshot(e.what());
    }
  }
  nodes_.allreduce(std::span(&status, 1), ReduceOp::min);
  return static_cast<int>(status);
}

}  // namespace effort::engine
