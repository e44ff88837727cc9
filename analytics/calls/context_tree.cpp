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

[[gnu::always_inline]] inline void ContextTree::enter(std::uint32_t function, std::uint64_t stamp) {
  const std::uint32_t node = child(stack_.empty() ? 0 : stack_.back().node, function);
  ++nodes_[node].calls;
  ++totals_.calls;
  stack_.push_back({node, function, stamp});
  totals_.depth = std::max(totals_.depth, stack_.size());
}

[[gnu::always_inline]] inline void ContextTree::leave(std::uint64_t stamp) {
  if (stack_.empty()) {
    ++totals_.stray_returns;
    return;
  }
  const Open call = stack_.back();
  stack_.pop_back();
  if (call.stamp == no_stamp || stamp == no_stamp) return;
  ++nodes_[call.node].timed_calls;
  nodes_[call.node].timed_ns += stamp - call.stamp;
}

void ContextTree::add(std::span<const std::uint32_t> events, std::span<const std::uint64_t> gaps) {
  if (stamp_every_ == 0) {
    for (const std::uint32_t event : events) event != 0 ? enter(event, no_stamp) : leave(no_stamp);
    return;
  }
  std::size_t g = 0;
  for (const std::uint32_t event : events) {
    std::uint64_t stamp = no_stamp;
    if (stamps_.next(event) && g < gaps.size()) stamp = now_ += gaps[g++];
    event != 0 ? enter(event, stamp) : leave(stamp);
  }
}

void ContextTree::end_stream() {
  for (const Open& call : stack_) {
    if (call.stamp == no_stamp) continue;
    ++nodes_[call.node].timed_calls;
    nodes_[call.node].timed_ns += now_ - call.stamp;
  }
}

ContextTree::Totals ContextTree::totals() const {
  Totals totals = totals_;
  for (const Open& open : stack_) totals.open.push_back(open.function);
  return totals;
}

}  // namespace effort::calls
