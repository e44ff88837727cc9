#include "analytics/calls/context_tree.hpp"

#include <algorithm>

namespace effort::calls {

std::uint32_t ContextTree::child(std::uint32_t parent, std::uint32_t function) {
  Node& p = nodes_[parent];
  if (p.last_child != 0 && p.last_child_function == function) return p.last_child;
  const std::uint64_t key = std::uint64_t{parent} << 32 | function;
  const auto found = children_.find(key);
  std::uint32_t node;
  if (found != children_.end()) {
    node = found->second;
  } else {
    if (nodes_.size() == most_nodes) return parent;
    node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({function, parent});
    children_.emplace(key, node);
  }
  nodes_[parent].last_child = node;
  nodes_[parent].last_child_function = function;
  return node;
}

void ContextTree::add(std::span<const std::uint32_t> events) {
  for (const std::uint32_t event : events) {
    if (event != 0) {
      const std::uint32_t node = child(stack_.empty() ? 0 : stack_.back().node, event);
      ++nodes_[node].calls;
      ++totals_.calls;
      stack_.push_back({node, event});
      totals_.depth = std::max(totals_.depth, stack_.size());
    } else if (stack_.empty()) {
      ++totals_.stray_returns;
    } else {
      stack_.pop_back();
    }
  }
}

ContextTree::Totals ContextTree::totals() const {
  Totals totals = totals_;
  for (const Open& open : stack_) totals.open.push_back(open.function);
  return totals;
}

}  // namespace effort::calls
