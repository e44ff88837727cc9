// Calls by calling context: a node for each different stack of open calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analytics/calls/stamps.hpp"

namespace effort::calls {

/// Counts calls by stack.  Memory: one node for each different stack, at most most_nodes; after that, calls in new
/// stacks count for the last context that is known.  Threads: one at a time.
class ContextTree {
 public:
  static constexpr std::size_t most_nodes = std::size_t{1} << 22;
  struct Node {
    std::uint32_t function;  ///< id; 0 for the root
    std::uint32_t parent;    ///< index; of the root 0
    std::uint64_t calls = 0;
    std::uint64_t timed_calls = 0, timed_ns = 0;  ///< those with time stamps, and their time from entry to return
    std::uint32_t last_child = 0, last_child_function = 0;  ///< the child that was called last
  };
  /// Totals of one stream.
  struct Totals {
    std::uint64_t calls = 0, stray_returns = 0;
    std::size_t depth = 0;            ///< of the deepest call, from 1
    std::vector<std::uint32_t> open;  ///< functions that have not returned, outermost first
  };

  ContextTree() : nodes_{{0, 0}} {}

  /// Another stream begins; its first call has no caller.
  /// @param stamp_every  see StampSchedule
  void begin_stream(std::uint32_t stamp_every = 0) {
    stack_.clear();
    totals_ = {};
    stamp_every_ = stamp_every;
    stamps_ = StampFinder(stamp_every);
    now_ = 0;
  }
  /// @param gaps  [stamps among the events, or fewer at the end of the stream] ns since the previous stamp
  void add(std::span<const std::uint32_t> events, std::span<const std::uint64_t> gaps = {});
  /// Calls that have not returned are timed up to the last stamp.
  void end_stream();
  /// The totals of the stream that was begun last.
  Totals totals() const;

  /// The root first; parents before children.
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::uint32_t child(std::uint32_t parent, std::uint32_t function);
  void enter(std::uint32_t function, std::uint64_t stamp);
  void leave(std::uint64_t stamp);

  static constexpr std::uint64_t no_stamp = ~std::uint64_t{0};
  struct Open {
    std::uint32_t node, function;
    std::uint64_t stamp;  ///< at its entry, ns, or no_stamp
  };
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  ///< by parent and function
  std::vector<Open> stack_;
  Totals totals_;
  std::uint32_t stamp_every_ = 0;
  StampFinder stamps_;
  std::uint64_t now_ = 0;  ///< the last stamp, ns since the first event
};

}  // namespace effort::calls
