#include "runtime/engine/snapshots.hpp"

#include "runtime/history/report.hpp"
#include "runtime/history/snapshot_job.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/quiet_write.hpp"
#include "runtime/status.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace effort::engine {

Snapshots::Snapshots(const config::Settings& settings, RunLog& log, const HistoryStore& history, const NameUnion& names,
                     node::Segment& segment, Communicator& nodes, TraceKeeper* tracer)
    : settings_(settings),
      log_(log),
      history_(history),
      names_(names),
      segment_(segment),
      nodes_(nodes),
      tracer_(tracer) {}

void Snapshots::write_asked(const std::string& path) {
  const int status = write(path, Occasion::asked);
  segment_.board().publish_snapshot(++asked_, status);
  segment_.header().news.notify();
}

void Snapshots::write_periodic() { lost_status_ = std::min(lost_status_, write("", Occasion::periodic)); }

int Snapshots::write_last() { return write("", Occasion::last); }

void Snapshots::none() {
  if (nodes_.rank() != 0) return;
  if (settings_.report != "off")
    report_ = std::string("effort: ") + without_steps + "\n";
  else if (settings_.verbose)
    say(without_steps);
}

double Snapshots::own_cpu_seconds() const {
  return static_cast<double>(measure::thread_cpu_ns()) * 1e-9 + writing_cpu_seconds_;
}

int Snapshots::lose(const char* why) {
  failure_ = std::string("a snapshot was lost: ") + why;
  log_.add_lost_snapshot();
  log_.note(failure_);
  if (settings_.verbose) say(failure_);
  return static_cast<int>(Status::io);
}

/// Waits for the periodic snapshot that is being written, if any.
void Snapshots::finish_writing() {
  writer_.join();
  const std::unique_ptr<Writing> done = std::move(writing_);
  if (!done) return;
  writing_cpu_seconds_ += done->cpu_seconds;
  if (done->failed) lost_status_ = lose(done->why.empty() ? "out of memory" : done->why.c_str());
}

void Snapshots::Writing::run() noexcept {
  try {
    cpu_seconds = write();
  } catch (const std::exception& e) {
    failed = true;
    try {
      why = e.what();
    } catch (const std::bad_alloc&) {
    }
  } catch (...) {
    failed = true;
    why = "unknown";  // short enough to need no memory
  }
}

/// Runs `write` on a separate thread, or directly if none can be created.
void Snapshots::write_aside(std::function<double()> write) {
  writing_ = std::make_unique<Writing>();
  writing_->write = std::move(write);
  try {
    writer_.start([writing = writing_.get()] { writing->run(); });
  } catch (const std::exception&) {
    writing_->run();
  }
}

/// Returns the lowest status of all nodes.  For the last snapshot it includes the status of periodic ones, which has
/// not been reported yet.
int Snapshots::write(const std::string& path, Occasion occasion) {
  finish_writing();
  if (tracer_ && occasion == Occasion::asked) tracer_->save_on_request();
  const bool final = occasion == Occasion::last;
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
      status = lose(e.what());
      if (final && !report_.empty()) report_ += "  " + record::visible(failure_) + "\n";
    }
  }
  nodes_.allreduce(std::span(&status, 1), ReduceOp::min);
  return static_cast<int>(status);
}

}  // namespace effort::engine
