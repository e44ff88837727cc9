// The host's side of a session: the work of one rank inside the library's calls.
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

namespace effort::session {

/// A hint as delivered to a rank; pointers live in the board, names in the client.
struct DeliveredHint {
  std::int64_t step = -1;
  int rank = 0, n_ranks = 1;
  bool overtaken = false;  ///< a bracketed rebalance followed its window: the hint no longer recommends anything
  node::HintView view{};
  const char* const* region_name = nullptr;
  const char* const* unit_name = nullptr;
};

/// Publishes a rank's steps and delivers due hints to it.  One thread at a time calls progress_step, snapshot and
/// finalize.  A rank that fails inside (out of memory) reports this to its node and publishes nothing more.  It keeps
/// counting steps and waiting like the other ranks, without allocating, until all ranks switch off together.
class RankClient {
 public:
  struct Setup {
    int rank = 0, n_ranks = 1;
    int local = 0;  ///< place on the node
    node::Appointment first_look{1, 2};
    int tile = 10;                             ///< the engine is woken at least once every `tile` steps
    double hint_timeout = 0;                   ///< seconds; 0: no limit
    exchange::Transport* transport = nullptr;  ///< null without MPI
    exchange::Mailbox* mailbox = nullptr;      ///< on leaders that may not call MPI from their thread
    std::function<void(const std::string&)>
        on_late;  ///< called once if a hint is later than hint_timeout; may be empty
  };
  /// Runs the host's callback, which returns 1 if it rebalanced, 0 if not, < 0 if it failed.
  using Deliver = std::function<int(const DeliveredHint&)>;

  RankClient(Setup setup, measure::Recorder& recorder, node::Segment& segment);

  /// @param deliver  receives hints that are due; if empty, the call does not wait for them
  /// @return ok, or switched_off starting with the step at which all ranks switch off
  Status progress_step(const Deliver& deliver);
  /// Waits until the snapshot is written and returns its outcome.
  Status snapshot(const char* path);
  /// Reports that this rank is done and waits for the engine's last snapshot.
  Status finalize();
  /// Publishes the messages between ranks since the last call.  Call it before the step ends.
  void traffic(std::span<const measure::Flow> flows);
  void arrivals(const measure::ArrivalsHeader& header, std::span<const std::uint64_t> words);
  /// Called if the callback will not return: it counts as failed, and its step ends.
  void callback_left();
  void rebalance_begin();
  void rebalance_end();

  std::int64_t steps() const { return step_; }
  /// The last hint delivered, in its current state: a bracketed rebalance may have overtaken it since.
  const DeliveredHint& latest();
  /// Reports to the node that this rank cannot continue.
  void fail(const char* why) noexcept;
  bool failed() const { return failed_; }
  const char* failure() const { return area_.failure; }
  /// Whether the rank is in the sample of the current step.  Any thread.
  bool sampled() const { return sampled_.load(std::memory_order_relaxed) && !off(); }
  bool off() const { return off_.load(std::memory_order_relaxed); }

 private:
  template <typename Body>
  void attempt(const Body& body);
  // Inline functions are parts of progress_step().
  inline bool flush();
  inline void publish_step();
  void push_answer(std::int64_t step, const measure::Price& price, int answer, bool bracketed);
  template <typename Ready>
  bool wait_for(const Ready& ready, bool is_hint);
  void publish_held_back(std::int64_t last_step);
  bool switched_off() const;
  inline Status deliver_due(std::int64_t step, const Deliver& deliver);
  void build(std::int64_t look, std::int64_t step);
  void catch_up(std::int64_t step);
  inline void release_step();
  void call_back(const Deliver& deliver);
  void callback_ended(int answer);
  inline void finish_step();
  inline void draw();

  const Setup setup_;
  measure::Recorder& recorder_;
  node::Segment& segment_;
  node::RankArea& area_;
  node::Ring ring_;
  measure::RecordStream pending_, fresh_;
  std::size_t sent_ = 0;  ///< bytes of pending_ that are in the ring
  std::int64_t step_ = 0, first_unpublished_ = 0;
  std::int64_t fresh_from_ = std::numeric_limits<std::int64_t>::max();  ///< first step in fresh_
  std::int64_t look_ = 0;                                               ///< the look whose hint comes next
  node::Appointment appointment_;                                       ///< the appointment of that look
  std::int64_t snapshots_ = 0;
  std::atomic<bool> off_{false}, sampled_{false};
  double probability_ = 0, next_probability_ = 0;  ///< of being in the sample of a window; from sample_from_ on
  std::int64_t sample_from_ = -1;
  bool failed_ = false;
  measure::Pricing around_bracket_;  ///< the enclosing pricing at rebalance_begin
  measure::Pricing around_callback_;
  bool delivering_ = false;              ///< inside the callback, where a bracketed rebalance counts as its answer
  bool answered_ = false;                ///< a rebalance was bracketed inside the callback
  bool rebalancing_ = false;             ///< between rebalance_begin and _end
  std::int64_t rebalancing_since_ = -1;  ///< step of the last rebalance_begin
  std::int64_t rebalanced_ = -1;         ///< step of the last bracketed rebalance
  DeliveredHint latest_;
  std::vector<const char*> region_names_, unit_names_;
  bool late_reported_ = false;  ///< an excess of HINT_TIMEOUT has been reported
};

}  // namespace effort::session
