#include "analytics/placement/network.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace effort::placement {

Network Network::flat(std::int32_t nodes) {
  std::vector<std::int32_t> parent(static_cast<std::size_t>(nodes), nodes);
  parent.push_back(-1);
  return Network(nodes, std::move(parent));
}

Network::Network(std::int32_t nodes, std::vector<std::int32_t> parent)
    : nodes_(nodes), parent_(std::move(parent)), depth_(parent_.size(), 0), first_(parent_.size() + 1, 0) {
  const auto size = static_cast<std::int32_t>(parent_.size());
  for (std::int32_t v = 0; v < size; ++v) {
    const std::int32_t up = parent_[static_cast<std::size_t>(v)];
    if (up == -1 && v >= nodes) {
      if (root_ >= 0) throw std::invalid_argument("two switches have no switch above them");
      root_ = v;
    } else if (up < nodes || up >= size) {
      throw std::invalid_argument("a node or switch has no switch above it");
    } else {
      ++first_[static_cast<std::size_t>(up) + 1];
    }
  }
  if (root_ < 0) throw std::invalid_argument("no switch is above all others");
  for (std::size_t v = 0; v + 1 < first_.size(); ++v) first_[v + 1] += first_[v];
  below_.resize(first_.back());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (std::int32_t v = 0; v < size; ++v) {
    const std::int32_t up = parent_[static_cast<std::size_t>(v)];
    if (up >= 0) below_[next[static_cast<std::size_t>(up)]++] = v;
  }
  std::vector<std::int32_t> reached{root_};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const std::int32_t v : below(reached[i])) {
      depth_[static_cast<std::size_t>(v)] = depth_[static_cast<std::size_t>(reached[i])] + 1;
      reached.push_back(v);
    }
  }
  if (depth_[static_cast<std::size_t>(reached.back())] > most_levels)
    throw std::invalid_argument("more than " + std::to_string(most_levels) + " levels of switches");
  if (reached.size() != parent_.size()) throw std::invalid_argument("switches form a cycle");
}

Network Network::of(std::span<const std::int32_t> nodes) const {
  const auto chosen = static_cast<std::int32_t>(nodes.size());
  std::vector<std::int32_t> parent;
  parent.reserve(nodes.size() + parent_.size() - static_cast<std::size_t>(nodes_));
  const auto moved = [&](std::int32_t above) { return above < 0 ? above : above - nodes_ + chosen; };
  for (const std::int32_t node : nodes) parent.push_back(moved(parent_.at(static_cast<std::size_t>(node))));
  for (auto v = static_cast<std::size_t>(nodes_); v < parent_.size(); ++v) parent.push_back(moved(parent_[v]));
  return Network(chosen, std::move(parent));
}

std::int32_t Network::links(std::int32_t a, std::int32_t b) const {
  std::int32_t links = 0;
  while (a != b) {
    std::int32_t& deeper = depth_[static_cast<std::size_t>(a)] >= depth_[static_cast<std::size_t>(b)] ? a : b;
    deeper = parent_[static_cast<std::size_t>(deeper)];
    ++links;
  }
  return links;
}

}  // namespace effort::placement
