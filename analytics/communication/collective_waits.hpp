// Waits at collectives during a run, on all ranks, from the times at which the ranks arrived.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/communication/arrival.hpp"
#include "analytics/communication/follow_back.hpp"
#include "analytics/communication/node_clock.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

namespace effort::communication {

/// The arrivals of one rank at a communicator's collectives in one step.
struct ArrivalBatch {
  std::uint32_t communicator = 0;    ///< its id in the run
  int local = 0;                     ///< position of the rank among this node's
  int place = 0, size = 0;           ///< its rank in the communicator, and the communicator's size
  std::uint64_t first = 0, end = 0;  ///< ordinals of the step's instances, `end` excluded
  int level = 0;                     ///< which of them were sampled (in_sample)
  std::int64_t step = 0;
  std::uint32_t phase = 0;        ///< of the step; only passed on
  std::vector<Arrival> arrivals;  ///< the sampled ones, ascending
};

/// Seconds of one of this node's ranks in one step.
struct CollectiveWait {
  int local = 0;
  std::int64_t step = 0;
  std::uint32_t phase = 0;
  double waited = 0;  ///< spent waiting for the last rank of each instance
  double delay = 0;   ///< spent by others waiting for it, summed over them
};

/// Finds the rank that was last at each instance.  The waits of ranks on one node are exact; between nodes they are as
/// exact as the offsets of the clocks.  A wait is charged to the rank that arrived last, as Scalasca does for "Wait at
/// N x N" and similar patterns (Geimer et al. 2010).
///
/// Used by one thread per node.  Memory: 40 bytes per arrival that another rank has not matched yet.
class CollectiveWaits {
 public:
  /// @param ranks  global ids of this node's ranks, ascending
  CollectiveWaits(std::span<const int> ranks, int n_ranks);

  void add(const ArrivalBatch& batch);
  /// Evaluates the instances that all members of their communicator have reached.  Collective; blocks.  Exchanges two
  /// integers per instance and six per communicator.
  /// @param n_communicators  in the run's table, identical on all nodes
  /// @param clock  identical bounds on all nodes
  /// @param edges  if not null, gets how long each of this node's ranks waited for each other rank
  std::vector<CollectiveWait> find(Communicator& nodes, std::size_t n_communicators, const NodeClock& clock,
                                   std::vector<WaitEdge>* edges = nullptr);

  /// Instances that were evaluated, and those that were not because a member's arrivals are missing or because there
  /// were too many.  Identical on all nodes.
  std::uint64_t evaluated() const { return evaluated_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Entry {
    Arrival arrival;
    std::int64_t step;
    std::uint32_t phase;
  };
  struct Member {
    int local = 0;
    std::uint64_t end = 0;  ///< ordinal after the last instance that it has reached
    int level = 0;          ///< the highest of the waiting batches
    std::deque<Entry> entries;
  };
  struct Group {  ///< a communicator
    int size = 0;
    std::map<int, Member> members;  ///< of this node, by place
  };
  struct Shared;
  struct Range;
  class Evaluation;

  Shared exchange_shapes(Communicator& nodes, std::size_t n_communicators, std::int64_t offset_ns) const;
  bool is_here(int rank) const;
  std::vector<Range> choose(const Shared& shared);
  void forget(Group& group, std::uint64_t before);

  std::vector<int> ranks_;
  int n_ranks_;
  std::map<std::uint32_t, Group> groups_;
  std::vector<std::uint64_t> next_;  ///< by communicator: the first ordinal not evaluated yet
  std::uint64_t evaluated_ = 0, dropped_ = 0;
};

}  // namespace effort::communication
