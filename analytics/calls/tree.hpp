// Calls as trees in which equal subtrees exist once.
//
// A call is a function and the list of calls that it made; a closed call that equals an earlier one is the same node.
// Loops lengthen a stream of calls, but add hardly any nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::calls {

/// A node of the tree, `count` times in a row.
struct Item {
  std::uint32_t node;
  std::uint32_t count;
  bool operator==(const Item&) const = default;
};

/// Closed calls, each once, in the order in which they were first closed.
struct Tree {
  struct Node {
    std::uint32_t function;
    std::uint32_t first, size;  ///< its list, in `items`
    std::uint64_t events;       ///< entries and returns, including its own; saturates
  };
  std::vector<Node> nodes;
  std::vector<Item> items;

  std::span<const Item> list(std::uint32_t node) const {
    return std::span(items).subspan(nodes[node].first, nodes[node].size);
  }
  /// Adds a call; does not look for an equal one.
  std::uint32_t add(std::uint32_t function, std::span<const Item> list);
  void clear() {
    nodes.clear();
    items.clear();
  }
};

/// Entries and returns of a list.
std::uint64_t events_of(const Tree& tree, std::span<const Item> list);

/// In a list outside all calls: a return without a call.
inline constexpr std::uint32_t stray_return = ~std::uint32_t{0};

/// Makes a tree of a stream of entries and returns.  Cost: a few nanoseconds per event; memory: for the different
/// calls, and for the lists of calls that are still open.
class TreeBuilder {
 public:
  /// A call that has not returned; the first one stands for everything outside of calls, and has no function.
  struct Open {
    std::uint32_t function;
    std::size_t first;  ///< of its list, in open_items(); it ends where the next call's begins
  };

  TreeBuilder() { reset(); }

  void enter(std::uint32_t function) { open_.push_back({function, items_.size()}); }
  void leave();

  const Tree& tree() const { return tree_; }
  std::span<const Open> open() const { return open_; }
  std::span<const Item> open_items() const { return items_; }
  /// Nodes and items held.
  std::size_t held() const { return tree_.nodes.size() + tree_.items.size() + items_.size() + open_.size(); }

  /// Forgets the open calls, not the tree: another stream begins.
  void next_stream();
  void reset();

 private:
  void append(std::uint32_t node);
  std::uint32_t find_or_add(std::uint32_t function, std::span<const Item> list);
  void grow();

  Tree tree_;
  std::vector<Open> open_;
  std::vector<Item> items_;
  std::vector<std::uint32_t> table_;   ///< node + 1 by hash; 0: free
  std::vector<std::uint32_t> hashes_;  ///< of nodes
};

}  // namespace effort::calls
