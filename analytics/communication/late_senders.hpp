// Waits for late senders during a run, on all ranks, from the ranks' records of their messages.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/communication/node_clock.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace effort::communication {

/// A rank's record of a part of one of its messages.
struct MessagePart {
  enum class Type : std::uint8_t {
    send,           ///< or the start of one
    receive_start,  ///< the start of a receive with a request
    receive_done,   ///< the completion of one
    receive,        ///< blocking, recorded when it is complete
    cancelled       ///< a request, of a send or a receive
  };
  Type type = Type::send;
  std::int32_t peer = -1;          ///< rank of the run; -1: any, of a receive_start
  std::int32_t tag = -1;           ///< -1: any, of a receive_start
  std::uint32_t communicator = 0;  ///< id in the run
  std::uint32_t request = 0;       ///< number, reused once it is complete
  std::int64_t begin_ns = 0,
               end_ns = 0;  ///< of the call, on the node's clock; the end only if the part completes a message
  std::int64_t step = 0;    ///< in which the call ended
  /// Of a receive or receive_start: the blocking probe of its thread since the previous one; if the end is not larger,
  /// there was none.
  std::int64_t probe_begin_ns = 0, probe_end_ns = 0;
};

/// A call that waited for a message that had not been sent.
struct LateSender {
  int local = 0;  ///< position of the waiting rank among this node's
  int late = 0;   ///< rank of the run that sent last
  std::int64_t step = 0;
  std::int64_t ns = 0;  ///< > 0
  int level = 0;        ///< the call represents 2^level calls
};

/// Finds waits for late senders, as analytics/communication/waits.hpp defines them: from the start of the call that
/// completes a receive to the start of the call that sends, and at most to the end of the former; a call that completes
/// several messages waits for the one sent last.  A blocking probe waits for the message of the receive that follows
/// it, unless it ended before that message was sent.  A message from another node only counts if it was late by more
/// than the clocks' bound.
///
/// Sends and receives are matched as in MPI: for each sender, receiver, communicator and tag, the k-th send belongs to
/// the k-th receive in the order in which receives were posted.  For this, the records must be complete from the first
/// message on.  If some are lost, restart() begins again at a step's end.  A message that was under way at that moment
/// makes the following ones seem to arrive before they are sent.  Such messages are ignored, and the count is
/// corrected.
///
/// Used by one thread per node.  Memory: 8 bytes per send of the last two windows, and some 100 per pair of ranks,
/// communicator and tag.
class LateSenders {
 public:
  /// @param ranks  global ids of this node's ranks, ascending
  LateSenders(std::span<const int> ranks, int n_ranks);

  /// Adds what a rank has recorded since the last call, in order of time; receives are ordered by their ends.
  void add(int local, std::span<const MessagePart> parts);
  /// The records of a rank before those that are added next have been lost.
  void forget(int local);
  /// Instead of find(), if a rank's records have been lost: restarts the counts, on all nodes after the same step.
  void restart();
  /// Waits of the calls that have ended.  Collective; blocks.  If a rank waited longer than the bound for a message to
  /// complete, its node asks the sender's node for the time of the send: 24 bytes per message, and 8 for the answer.
  /// If there are more than 65,536 such messages, calls that completed messages of other nodes are sampled by a hash.
  /// @param clock  identical bounds on all nodes
  std::vector<LateSender> find(Communicator& nodes, const NodeClock& clock);

  /// Whether there are more pairs of ranks, communicators and tags than can be followed.  If so, this node cannot
  /// continue.
  bool is_full() const { return channels_.size() > most_channels; }
  /// This node's messages whose receives were complete, and those that seemed to arrive before they were sent.
  std::uint64_t received() const { return received_; }
  std::uint64_t reversed() const { return reversed_; }

  /// For tests: limit of messages of other nodes in one call of find().
  std::size_t most_queries = std::size_t{1} << 16;

 private:
  static constexpr std::size_t most_channels = std::size_t{1} << 18;
  static constexpr std::size_t most_deferred = std::size_t{1} << 16;
  static constexpr std::uint32_t none = 0xffffffff;

  struct Key {
    std::int32_t sender, receiver;
    std::uint32_t communicator;
    std::int32_t tag;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  /// The sends of local senders, and how many receives of local receivers have been posted.
  struct Channel {
    std::vector<std::int64_t> sent;  ///< time of the send, ns
    std::uint64_t base = 0;          ///< ordinal of the first of them
    std::size_t old = 0;             ///< how many of them are from the preceding window
    std::uint64_t posted = 0;
    bool suspect = false;  ///< has messages that seem to arrive before they are sent
  };
  using Entry = std::pair<const Key, Channel>;
  /// A posted receive.
  struct Post {
    std::int32_t peer, tag;
    std::uint32_t communicator;
    std::uint32_t request, call, probe;  ///< call: that completed it, or none
    bool resolved, cancelled;            ///< resolved: peer and tag are known
  };
  /// A posted receive that is not complete.  It has a channel, or a place among the deferred ones.
  struct Open {
    Entry* channel = nullptr;
    std::uint64_t ordinal = 0, deferred = 0;
    bool is_open = false;
  };
  struct Rank {
    std::vector<Open> open;      ///< by request
    std::deque<Post> deferred;   ///< begins with an open receive from any source or of any tag: those posted after it
                                 ///< have no ordinals yet
    std::uint64_t n_passed = 0;  ///< number of posts that have left `deferred`
  };
  struct Call {
    int local;
    std::int64_t step, begin_ns, end_ns;
    std::int64_t late_by = 0;  ///< of the message sent last
    std::int32_t late = -1;
    int level = 0;
    bool probes = false;
    bool counts = true;     ///< the call is in the sample
    bool waiting = false;   ///< the time of a send is still unknown
    bool deferred = false;  ///< kept from the preceding window
  };
  /// A message, and a call that completed its receive or probed it.
  struct Message {
    Entry* channel;
    std::uint64_t ordinal;
    std::uint32_t call;
  };
  struct Query {
    Key key;
    std::uint64_t ordinal;
  };

  bool is_here(int rank) const { return node_of_.empty() || node_of_[static_cast<std::size_t>(rank)] == here_; }
  void learn_nodes(Communicator& nodes);
  Entry& channel(const Key& key) { return *channels_.try_emplace(key).first; }
  void post(int local, const MessagePart& part);
  void complete(int local, const MessagePart& part);
  void cancel(int local, const MessagePart& part);
  void drop_deferred(int local, std::uint64_t number);
  void pass_resolved(int local);
  void pass_first(int local);
  std::uint32_t call_of(int local, const MessagePart& part);
  std::uint32_t probe_of(int local, const MessagePart& part);
  void add_message(Entry& channel, std::uint64_t ordinal, std::uint32_t call);
  std::int64_t sent_at(const Channel& channel, std::uint64_t ordinal) const;
  void choose_sample(const NodeClock& clock);
  std::vector<std::int64_t> ask(Communicator& nodes, const NodeClock& clock);
  void judge(const std::vector<std::int64_t>& sent, const NodeClock& clock);
  std::vector<LateSender> take_waits(const std::vector<std::int64_t>& sent);
  void shift_suspects();
  void forget_old_sends();

  std::vector<int> ranks_;
  int n_ranks_, here_ = 0;
  std::vector<std::int32_t> node_of_;  ///< [n_ranks] once known
  std::unordered_map<Key, Channel, Hash> channels_;
  std::vector<Rank> local_;
  std::vector<Call> calls_;
  std::vector<Message> messages_;
  std::uint64_t n_calls_ = 0, received_ = 0, reversed_ = 0;
};

}  // namespace effort::communication
