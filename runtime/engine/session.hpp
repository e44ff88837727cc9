// One session of the library in a process, from init to finalize.
#pragma once

#include "runtime/config/settings.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/engine/rank_client.hpp"
#include "runtime/exchange/transport.hpp"
#include "runtime/measure/recorder.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace effort::engine {

/// Owns everything a session needs.  Measuring calls go to recorder() from any thread; the others are made by one
/// thread at a time.
class Session {
 public:
  /// @param before  a session that this one replaces, whose names keep their ids; may be null
  explicit Session(config::Settings settings, Session* before = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const config::Settings& settings() const { return settings_; }
  measure::Recorder& recorder() { return *recorder_; }
  /// The rank's side; starts the node of one process if no communicator was attached yet.
  RankClient& client();

  /// Takes rank 0's values of settings on which all ranks must agree, and this rank's for the others.  Collective.
  static config::Settings agree(const config::Settings& mine, exchange::Transport& transport);
  /// Whether it measures what these settings ask for.
  bool measures(const config::Settings& settings) const;
  /// Takes over a session that an adapter has begun, before its first step, with the host's settings.
  /// @throws Error(state) after its first step
  void adopt(config::Settings settings);

  /// Joins the ranks of `transport`.  Collective; throws the same kind of Error on all ranks, and is then as if it had
  /// not been called.
  /// @throws Error(state) where progress steps were taken, Error(already_initialized) after a first attach,
  ///         Error(memory) where a rank got neither memory nor a thread
  void attach(std::unique_ptr<exchange::Transport> transport);
  bool attached() const { return transport_ != nullptr; }
  /// Ranks that are joined; 1 before attach().
  int ranks() const { return transport_ ? transport_->size() : 1; }
  bool started() const { return client_ != nullptr; }

  /// Ends the session and returns the outcome.  Collective if attached, unless the message library is gone.
  Status finalize();
  /// For the exit of a host that did not finalize.  The background thread ends, at the latest after its current window,
  /// or sleeps for ever in an exchange that has begun.  The session must not be destroyed or moved afterwards.
  void park();
  /// The reason why this rank or its node's engine switched off, or why the report could not be written; else empty.
  std::string failure() const;
  bool failed() const { return (client_ && client_->failed()) || (engine_ && engine_->failed()); }

 private:
  class Attempt;  // at what this rank does alone
  struct Node;    // place of this rank on its node
  struct Place;   // and of its node, as sent to all

  void start_engine(NodeSetup setup, Communicator& nodes, std::function<void()> leave);
  std::unique_ptr<node::Segment> share_memory(Node& node);
  void join_node(Node& node, NodeSetup& setup);
  void join_leaders(const Node& node, NodeSetup& setup, std::vector<Place>& all);
  static void note_places(const Node& node, const std::vector<Place>& all, NodeSetup& setup);
  void make_exchange(int place, int n_nodes);
  std::unique_ptr<RankClient> make_client(int local);
  void join();
  Status attachable(const config::Settings& agreed) const;
  std::string why_not(Status worst) const;
  static void agree_on(const Attempt& mine, exchange::Transport& transport);
  void detach();
  void start_local();
  void drain_engine();
  void emit_report();
  void late(const std::string& what) const;

  config::Settings settings_;
  std::unique_ptr<measure::Recorder> recorder_;
  std::unique_ptr<exchange::Transport> transport_;
  std::unique_ptr<node::Segment> segment_;
  std::unique_ptr<Placement> placement_;
  std::unique_ptr<exchange::Executor> executor_;
  exchange::Mailbox* mailbox_ = nullptr;  // executor_, where it is one
  std::unique_ptr<Communicator> nodes_;
  std::unique_ptr<Engine> engine_;  // on leaders
  std::unique_ptr<RankClient> client_;
  std::string report_problem_;  ///< why the report could not be written
};

/// Makes the placement of the build (hwloc), or null; defined with the library's build options.
std::unique_ptr<Placement> make_placement();

}  // namespace effort::engine
