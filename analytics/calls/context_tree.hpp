// Calls by calling context: a node for each different stack of open calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace effort::calls {

/// Counts calls by stack.  Memory: of the different stacks, at most most_nodes; deeper calls then count for the last
/// context that is known.  Threads: one at a time.
class ContextTree {
 public:
  static constexpr std::size_t most_nodes = std::size_t{1} << 22;
  struct Node {
    std::uint32_t function;  ///< id; 0 for the root
    std::uint32_t parent;    ///< index; of the root 0
    std::uint64_t calls = 0;
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
  void begin_stream() {
    stack_.clear();
    totals_ = {};
  }
  void add(std::span<const std::uint32_t> events);
  /// Of the stream that was begun last.
  Totals totals() const;

  /// The root first; parents before children.
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::uint32_t child(std::uint32_t parent, std::uint32_t function);

  struct Open {
    std::uint32_t node, function;
  };
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  ///< by parent and function
  std::vector<Open> stack_;
  Totals totals_;
};

}  // namespace effort::calls
