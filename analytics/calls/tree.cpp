#include "analytics/calls/tree.hpp"

#include <algorithm>
#include <limits>

namespace effort::calls {

namespace {

std::uint64_t saturated_sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

std::uint64_t saturated_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

std::uint32_t hash_of(std::uint32_t function, std::span<const Item> list) {
  std::uint64_t h = (function + 1) * 0x9E3779B97F4A7C15ull;
  for (const Item& item : list) {
    h ^= std::uint64_t{item.count} << 32 | item.node;
    h *= 0xD6E8FEB86659FD93ull;
    h ^= h >> 32;
  }
  return static_cast<std::uint32_t>((h * 0x9E3779B97F4A7C15ull) >> 32);
}

}  // namespace

std::uint64_t events_of(const Tree& tree, std::span<const Item> list) {
  std::uint64_t sum = 0;
  for (const Item& item : list)
    sum =
        saturated_sum(sum, saturated_product(item.count, item.node == stray_return ? 1 : tree.nodes[item.node].events));
  return sum;
}

std::uint32_t Tree::add(std::uint32_t function, std::span<const Item> list) {
  const auto node = static_cast<std::uint32_t>(nodes.size());
  nodes.push_back({function, static_cast<std::uint32_t>(items.size()), static_cast<std::uint32_t>(list.size()),
                   saturated_sum(2, events_of(*this, list))});
  items.insert(items.end(), list.begin(), list.end());
  return node;
}

void TreeBuilder::leave() {
  if (open_.size() == 1) {
    append(stray_return);
    return;
  }
  const Open call = open_.back();
  open_.pop_back();
  const std::uint32_t node = find_or_add(call.function, std::span(items_).subspan(call.first));
  items_.resize(call.first);
  append(node);
}

void TreeBuilder::append(std::uint32_t node) {
  if (items_.size() > open_.back().first && items_.back().node == node &&
      items_.back().count != std::numeric_limits<std::uint32_t>::max()) {
    ++items_.back().count;
  } else {
    items_.push_back({node, 1});
  }
}

std::uint32_t TreeBuilder::find_or_add(std::uint32_t function, std::span<const Item> list) {
  const std::uint32_t hash = hash_of(function, list);
  std::size_t at = hash & (table_.size() - 1);
  for (; table_[at] != 0; at = (at + 1) & (table_.size() - 1)) {
    const std::uint32_t node = table_[at] - 1;
    if (hashes_[node] == hash && tree_.nodes[node].function == function && std::ranges::equal(tree_.list(node), list))
      return node;
  }
  const std::uint32_t node = tree_.add(function, list);
  hashes_.push_back(hash);
  table_[at] = node + 1;
  if (tree_.nodes.size() * 2 > table_.size()) grow();
  return node;
}

void TreeBuilder::grow() {
  table_.assign(table_.size() * 2, 0);
  for (std::uint32_t node = 0; node < hashes_.size(); ++node) {
    std::size_t at = hashes_[node] & (table_.size() - 1);
    while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
    table_[at] = node + 1;
  }
}

void TreeBuilder::next_stream() {
  open_.assign(1, {0, 0});
  items_.clear();
}

void TreeBuilder::reset() {
  tree_.clear();
  hashes_.clear();
  table_.assign(1024, 0);
  next_stream();
}

}  // namespace effort::calls
