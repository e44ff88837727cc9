#include "runtime/session/session.hpp"

#include "runtime/environment.hpp"
#include "runtime/exchange/agreement.hpp"
#include "runtime/exchange/leader_communicator.hpp"
#include "runtime/history/report.hpp"
#include "runtime/node/available_memory.hpp"
#include "runtime/quiet_write.hpp"
#include "runtime/session/attempt.hpp"
#include "runtime/session/report_file.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <unistd.h>

namespace effort::session {
namespace {

std::string job_id() {
  for (const char* variable : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID"})
    if (const char* id = environment(variable); id && *id) return id;
  return std::to_string(getpid());
}

measure::LoadThreads load_threads(const config::Settings& s) {
  return s.load_threads_sum ? measure::LoadThreads::sum : measure::LoadThreads::max;
}

measure::Options options(const config::Settings& s) { return {s.metrics_per_region, s.multiplex, s.max_overhead}; }

}  // namespace

Session::Session(config::Settings settings, Session* before)
    : settings_(std::move(settings)),
      recorder_(std::make_unique<measure::Recorder>(settings_.metrics, settings_.load_metric, load_threads(settings_),
                                                    options(settings_))) {
  if (before) recorder_->registry().take_over(before->recorder().registry());
}

Session::~Session() {
  stop_tracing();
  if (executor_ && executor_->asleep()) keep_for_exchange();
  if (executor_) executor_->close();
  if (engine_) engine_->stop();
}

/// Leaves the engine's thread asleep and leaks, on purpose, everything that a pending exchange may still read and
/// write.  Such an exchange has begun and cannot be completed.
void Session::keep_for_exchange() {
  engine_->leave_asleep();
  static_cast<void>(engine_.release());
  static_cast<void>(nodes_.release());
  static_cast<void>(executor_.release());
  static_cast<void>(placement_.release());
  static_cast<void>(segment_.release());
  static_cast<void>(transport_.release());
}

/// Trace blocks of each rank according to the settings.
std::size_t Session::trace_blocks() const {
  return settings_.trace.on ? recording::Memory::blocks_in(static_cast<std::size_t>(settings_.trace.memory)) : 0;
}

/// Trace blocks of each rank that the machine can spare.  The memory is mapped at once, so asking for more than there
/// is could kill the host.
std::size_t Session::trace_blocks(int ranks_on_machine) const {
  if (!settings_.trace.on) return 0;
  const std::uint64_t limit = node::trace_memory_limit(node::available_memory(), ranks_on_machine);
  return recording::Memory::blocks_in(std::min(static_cast<std::uint64_t>(settings_.trace.memory), limit));
}

void Session::note_trace_memory(engine::NodeSetup& setup) const {
  const std::size_t blocks = segment_->trace_blocks();
  if (blocks >= trace_blocks()) return;
  setup.notes.push_back("TRACE_MEMORY was reduced to " + std::to_string(blocks * recording::Memory::block_bytes) +
                        " bytes a rank, because the system has no more memory to spare: more steps may be missing in "
                        "the trace");
}

/// Call it before the segment is unmapped: no thread may write to it afterwards.
void Session::stop_tracing() {
  if (!recorder_->stop_events()) static_cast<void>(segment_.release());
}

RankClient& Session::client() {
  if (!client_) start_local();
  return *client_;
}

void Session::start_local() {
  try {
    segment_ = node::Segment::make_private({1, {1, 1}, trace_blocks(1)});
    sched_getaffinity(0, sizeof(cpu_set_t), &segment_->rank(0).cpus);
    nodes_ = std::make_unique<SelfCommunicator>();
    engine::NodeSetup setup;
    setup.ranks = {0};
    setup.node_of_rank = {0};
    note_trace_memory(setup);
    client_ = make_client(0);
    start_engine(std::move(setup), *nodes_, nullptr);
  } catch (...) {
    drop_node();  // the next call tries again
    throw;
  }
}

void Session::start_engine(engine::NodeSetup setup, Communicator& nodes, std::function<void()> leave) {
  setup.name = program_invocation_short_name;
  setup.job = job_id();
  placement_ = make_placement();
  engine_ = std::make_unique<engine::Engine>(settings_, std::move(setup), *segment_, nodes, std::move(leave),
                                             placement_.get());
  if (executor_)
    executor_->when_lost([engine = engine_.get()](const char* why) { engine->lose_nodes(why); },
                         [engine = engine_.get()] { return engine->host_has_ended(); });
  engine_->start();
}

std::unique_ptr<RankClient> Session::make_client(int local) {
  if (recording::Memory memory = segment_->trace(local)) {
    memory.map();
    recorder_->record_events(memory);
  }
  RankClient::Setup client;
  client.rank = transport_ ? transport_->rank() : 0;
  client.n_ranks = ranks();
  client.local = local;
  client.first_look = engine::first_look(settings_);
  client.tile = settings_.tile_steps();
  client.hint_timeout = settings_.hint_timeout;
  client.on_late = [this](const std::string& what) { late(what); };
  client.transport = transport_.get();
  client.mailbox = mailbox_;
  return std::make_unique<RankClient>(std::move(client), *recorder_, *segment_);
}

bool Session::measures(const config::Settings& settings) const {
  return recorder_->measures(settings.metrics, settings.load_metric, load_threads(settings), options(settings));
}

void Session::adopt(config::Settings settings) {
  if (started())
    throw Error(Status::state, "the session that an adapter began has taken steps already: call effort_init earlier");
  settings_ = std::move(settings);
}

/// The engine's thread may still need the host's thread to drive its last exchange.
void Session::drain_engine() {
  if (!engine_) return;
  while (executor_ && !engine_->finished() && !executor_->asleep()) {
    if (mailbox_) mailbox_->drive();
    if (mailbox_) transport_->progress();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (!executor_ || !executor_->asleep()) engine_->join();
}

Status Session::finalize() {
  if (!client_) return Status::ok;
  if (transport_ && !transport_->alive()) {
    if (executor_) executor_->close();
    if (engine_) engine_->stop();
    return Status::ok;
  }
  Status status = client_->finalize();
  drain_engine();
  // Write the table even if the snapshot could not be written.  Report the worse of two failures.
  Attempt report;
  if (engine_ && !report([&] { emit_report(engine_->report()); })) {
    status = std::min(status, Status::io);
    Attempt()([&] { report_problem_ = report.why(); });
  }
  if (transport_) transport_->release();
  return status;
}

void Session::report_no_steps() const {
  if (settings_.report != "off")
    emit_report(std::string("effort: ") + engine::without_steps + "\n");
  else if (settings_.verbose)
    say(engine::without_steps);
}

void Session::emit_report(const std::string& text) const {
  if (text.empty()) return;
  if (settings_.report == "summary")
    print_error(text.c_str());
  else
    write_report(settings_.report, text);
}

/// HINT_TIMEOUT is only a diagnosis: the rank keeps waiting.
void Session::late(const std::string& what) const {
  if (settings_.verbose) say(what);
}

void Session::park() {
  if (!engine_) return;
  if (executor_) executor_->abandon();
  engine_->request_stop();
  while (!engine_->finished() && !(executor_ && executor_->asleep()))
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  if (engine_->finished())
    engine_->join();
  else
    engine_->leave_asleep();
}

void Session::stop_listening() {
  if (transport_) transport_->stop_listening();
}

std::string Session::failure() const {
  if (client_ && client_->failed()) return client_->failure();
  return engine_ && !engine_->failure().empty() ? engine_->failure() : report_problem_;
}

}  // namespace effort::session
