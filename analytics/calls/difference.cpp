#include "analytics/calls/difference.hpp"

#include <algorithm>

namespace effort::calls {

namespace {

using Event = FirstDifference::Event;

/// A place in a list of calls.
class Place {
 public:
  Place(const Tree& tree, const StreamLists& lists) : tree_(&tree), lists_(&lists) { open(0); }

  bool at_item() const { return at_ < list_.size(); }
  Item item() const { return {list_[at_].node, left_}; }
  void skip(std::uint32_t count) {
    if ((left_ -= count) == 0 && ++at_ < list_.size()) left_ = list_[at_].count;
  }
  Event next() const {
    if (at_item()) {
      if (list_[at_].node == stray_return) return {Event::Kind::leave, 0};
      return {Event::Kind::entry, tree_->nodes[list_[at_].node].function};
    }
    if (closed_) return {Event::Kind::leave, 0};
    if (depth_ + 1 < lists_->open.size()) return {Event::Kind::entry, lists_->open[depth_ + 1].function};
    return {Event::Kind::end, 0};
  }
  /// Enters the next call.
  void descend() {
    if (at_item()) {
      closed_ = true;
      set(tree_->list(list_[at_].node));
    } else {
      open(depth_ + 1);
    }
  }

 private:
  void open(std::size_t depth) {
    depth_ = depth;
    set(lists_->list(depth));
  }
  void set(std::span<const Item> list) {
    list_ = list;
    at_ = 0;
    left_ = list.empty() ? 0 : list[0].count;
  }

  const Tree* tree_;
  const StreamLists* lists_;
  std::span<const Item> list_;
  std::size_t at_ = 0, depth_ = 0;
  std::uint32_t left_ = 0;
  bool closed_ = false;
};

bool same(const Event& a, const Event& b) { return a.kind == b.kind && a.function == b.function; }

}  // namespace

std::optional<FirstDifference> first_difference(const Tree& tree, const StreamLists& first, const StreamLists& second) {
  FirstDifference found;
  Place a(tree, first), b(tree, second);
  for (;;) {
    if (a.at_item() && b.at_item() && a.item().node == b.item().node) {
      const std::uint32_t both = std::min(a.item().count, b.item().count);
      const std::uint64_t events = a.item().node == stray_return ? 1 : tree.nodes[a.item().node].events;
      found.event += events * both;
      a.skip(both);
      b.skip(both);
      continue;
    }
    found.a = a.next();
    found.b = b.next();
    if (!same(found.a, found.b)) return found;
    // Two different nodes differ inside.  If both were at the ends of closed lists, the nodes would be equal.
    if (found.a.kind != Event::Kind::entry) return std::nullopt;
    ++found.event;
    found.stack.push_back(found.a.function);
    a.descend();
    b.descend();
  }
}

}  // namespace effort::calls
