// The host's side of a session: what one rank does inside the library's calls.
#pragma once

#include "runtime/exchange/leader_communicator.hpp"
#include "runtime/measure/recorder.hpp"
#include "runtime/node/segment.hpp"
#include "runtime/status.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace effort::engine {

/// A hint as delivered to a rank; pointers live in the board, names in the client.
struct DeliveredHint {
  std::int64_t step = -1;
  int rank = 0, n_ranks = 1;
  bool overtaken = false;  ///< a bracketed rebalance came after its window: its numbers recommend nothing any more
  node::HintView view{};
  const char* const* region_name = nullptr;
  const char* const* unit_name = nullptr;
};

/// Publishes a rank's steps and brings it the hints that are due.  progress_step, snapshot and finalize are called
/// by one thread at a time.  A rank that fails inside (for lack of memory) says so to its node, publishes no more, and
/// goes on counting steps and waiting like the others, without an allocation, until all switch off together.
class RankClient {
 public:
  struct Setup {
    int rank = 0, n_ranks = 1;
    int local = 0;  ///< place on the node
    node::Appointment first_look{1, 2};
    int tile = 10;                             ///< steps after which the engine is woken at the latest
    double hint_timeout = 0;                   ///< seconds; 0: wait as long as it takes
    exchange::Transport* transport = nullptr;  ///< null without MPI
    exchange::Mailbox* mailbox = nullptr;      ///< on leaders that may not call MPI from their thread
    std::function<void(const std::string&)>
        on_late;  ///< called once when a hint is later than hint_timeout; may be empty
  };
  /// Runs the host's callback: 1 did rebalance, 0 did not, < 0 failed.
  using Deliver = std::function<int(const DeliveredHint&)>;

  RankClient(Setup setup, measure::Recorder& recorder, node::Segment& segment);

  /// @param deliver  empty: there is no callback, and no hint is waited for
  /// @return ok, or switched_off from the step at which all ranks have switched off
  Status progress_step(const Deliver& deliver);
  /// Waits until the snapshot is written; its outcome.
  Status snapshot(const char* path);
  /// Reports that this rank has finished and waits for the engine's last snapshot.
  Status finalize();
  /// Before a step ends: reports messages between ranks since the last call.
  void traffic(std::span<const measure::Flow> flows);
  /// The callback was left and will not return: it counts as failed, and its step ends.
  void callback_left();
  void rebalance_begin();
  void rebalance_end();

  std::int64_t steps() const { return step_; }
  /// The last hint delivered, in its present state: a bracketed rebalance may have made it stale.
  const DeliveredHint& latest();
  /// Tells the node that this rank cannot go on.
  void fail(const char* why) noexcept;
  bool failed() const { return failed_; }
  const char* failure() const { return segment_.rank(setup_.local).failure; }
  bool off() const { return off_.load(std::memory_order_relaxed); }

 private:
  template <typename Body>
  void attempt(const Body& body);
  bool flush(measure::RecordStream& stream);
  void publish_step();
  void push_answer(std::int64_t step, const measure::Price& price, int answer, bool bracketed);
  template <typename Ready>
  bool wait_for(const Ready& ready, bool is_hint);
  void publish_held_back(std::int64_t last_step);
  bool switched_off() const;
  Status deliver_due(std::int64_t step, const Deliver& deliver);
  void build(std::int64_t look, std::int64_t step);
  void catch_up(std::int64_t step);
  void release_step();
  void call_back(const Deliver& deliver);
  void callback_ended(int answer);
  void finish_step();

  const Setup setup_;
  measure::Recorder& recorder_;
  node::Segment& segment_;
  node::Ring ring_;
  measure::RecordStream pending_, fresh_;
  std::size_t sent_ = 0;  ///< bytes of pending_ that are in the ring
  std::int64_t step_ = 0, first_unpublished_ = 0;
  std::int64_t fresh_from_ = std::numeric_limits<std::int64_t>::max();  ///< first step in fresh_
  std::int64_t look_ = 0;                                               ///< whose hint comes next
  node::Appointment appointment_;                                       ///< its
  std::int64_t snapshots_ = 0;
  std::atomic<bool> off_{false};
  bool failed_ = false;
  measure::Pricing around_bracket_;  ///< what was being priced around rebalance_begin
  measure::Pricing around_callback_;
  bool delivering_ = false;              ///< inside the callback: what is bracketed there counts as its answer
  bool answered_ = false;                ///< what was bracketed there is the answer
  bool rebalancing_ = false;             ///< between rebalance_begin and _end
  std::int64_t rebalancing_since_ = -1;  ///< step of the last rebalance_begin
  std::int64_t rebalanced_ = -1;         ///< step of the last bracketed rebalance
  DeliveredHint latest_;
  std::vector<const char*> region_names_, unit_names_;
  bool late_ = false;  ///< HINT_TIMEOUT was exceeded and reported
};

}  // namespace effort::engine
