// A session: one use of the library by a process, from init to finalize.
#pragma once

#include "runtime/config/settings.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/exchange/transport.hpp"
#include "runtime/measure/recorder.hpp"
#include "runtime/session/rank_client.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace effort::session {

class Attempt;

/// Owns everything a session needs.  Any thread may make measuring calls through recorder().  All other calls are made
/// by one thread at a time.
class Session {
 public:
  /// @param before  the session that this one replaces, whose names keep their ids here; null: none
  explicit Session(config::Settings settings, Session* before = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const config::Settings& settings() const { return settings_; }
  measure::Recorder& recorder() { return *recorder_; }
  /// The rank's side.  Starts a node of one process if no communicator has been attached.
  RankClient& client();

  /// Settings with rank 0's values where all ranks must agree and this rank's values elsewhere.  Collective.
  static config::Settings share_settings(const config::Settings& mine, exchange::Transport& transport);
  /// Whether the session measures what these settings request.
  bool measures(const config::Settings& settings) const;
  /// Adopts a session that an adapter has begun, before its first step.  It must measure what the settings request.
  /// @throws Error(state) after its first step
  void adopt(config::Settings settings);

  /// Attaches the ranks of `transport`.  Collective.  On failure it throws the same kind of Error on all ranks and has
  /// no effect.
  /// @throws Error(state) after a progress step, Error(already_initialized) after a first attach, Error(memory) if a
  ///         rank could not allocate memory or create a thread; otherwise the worst status of all ranks
  void attach(std::unique_ptr<exchange::Transport> transport);
  bool attached() const { return transport_ != nullptr; }
  /// Number of attached ranks; 1 before attach().
  int ranks() const { return transport_ ? transport_->size() : 1; }
  bool started() const { return client_ != nullptr; }

  /// Ends the session and returns ok or the error.  Collective if attached, unless the message library has been
  /// finalized.
  Status finalize();
  /// Says under VERBOSE, or in the REPORT, that the session has not started because there was no step.
  void report_no_steps() const;
  /// Called at the exit of a host that did not finalize.  The background thread ends, at the latest after its current
  /// window, or sleeps forever in an exchange that has begun.  The session must not be destroyed afterwards.
  void park();
  /// Called at the start of MPI_Finalize in a later exit handler, so that MPI does not find messages pending.
  void stop_listening();
  /// The reason why this rank or its node's engine switched off, or why the report could not be written; else empty.
  std::string failure() const;
  bool failed() const { return (client_ && client_->failed()) || (engine_ && engine_->failed()); }

 private:
  struct Node;   // this rank's place on its node
  struct Place;  // the place of this rank's node, as sent to all ranks

  void start_engine(engine::NodeSetup setup, Communicator& nodes, std::function<void()> leave);
  std::size_t trace_blocks() const;
  std::size_t trace_blocks(int ranks_on_machine) const;
  void note_trace_memory(engine::NodeSetup& setup) const;
  void stop_tracing();
  std::unique_ptr<node::Segment> share_memory(Node& node);
  std::unique_ptr<node::Segment> share_memory(Node& node, const node::SegmentShape& shape);
  void join_node(Node& node, engine::NodeSetup& setup);
  void join_leaders(const Node& node, engine::NodeSetup& setup, std::vector<Place>& all);
  static void note_places(const Node& node, const std::vector<Place>& all, engine::NodeSetup& setup);
  void make_exchange(int place, int n_nodes);
  std::unique_ptr<RankClient> make_client(int local);
  void join();
  Status attachable(const config::Settings& agreed) const;
  std::string why_not(Status worst) const;
  static void agree_on(const Attempt& mine, exchange::Transport& transport);
  void detach();
  void drop_node();
  void start_local();
  void drain_engine();
  void keep_for_exchange();
  void emit_report(const std::string& text) const;
  void late(const std::string& what) const;

  config::Settings settings_;
  std::unique_ptr<measure::Recorder> recorder_;
  std::unique_ptr<exchange::Transport> transport_;
  std::unique_ptr<node::Segment> segment_;
  std::unique_ptr<engine::Placement> placement_;
  std::unique_ptr<exchange::Executor> executor_;
  exchange::Mailbox* mailbox_ = nullptr;  // executor_ if it is a mailbox; else null
  std::unique_ptr<Communicator> nodes_;
  std::unique_ptr<engine::Engine> engine_;  // on leaders
  std::unique_ptr<RankClient> client_;
  std::string report_problem_;  ///< why the report could not be written
};

/// Makes this build's placement (hwloc) or returns null; defined with the library's build options.
std::unique_ptr<engine::Placement> make_placement();

}  // namespace effort::session
