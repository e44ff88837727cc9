// Loops in lists of calls, and the comparison of two streams by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analytics/calls/tree.hpp"

namespace effort::calls {

/// Consecutive calls of one function in a list, whatever these calls contain.
struct Repeated {
  std::uint32_t function;
  std::uint64_t calls;
  std::size_t first, end;  ///< items of the list
};
std::vector<Repeated> repeated_calls(const Tree& tree, std::span<const Item> list);

/// A part of a list: `period` functions that follow each other, `times` times.
struct Stretch {
  std::size_t first;  ///< index of its first Repeated
  std::size_t period;
  std::size_t times;
};
inline constexpr std::size_t most_period = 16;
/// Divides a list into stretches, from left to right, each as long as possible.
std::vector<Stretch> stretches(std::span<const Repeated> calls);

/// A loop: in calls of `function`, the functions of `body` are called again and again.
struct Loop {
  std::uint32_t function;
  std::vector<std::uint32_t> body;
  std::uint64_t runs = 0;        ///< how often the loop ran
  std::uint64_t iterations = 0;  ///< of all runs
  std::uint64_t least = 0, most = 0;
};
/// The lists of a stream, kept beside a tree that several streams share.
struct StreamLists {
  std::vector<TreeBuilder::Open> open;
  std::vector<Item> items;

  explicit StreamLists(const TreeBuilder& builder)
      : open(builder.open().begin(), builder.open().end()),
        items(builder.open_items().begin(), builder.open_items().end()) {}
  std::span<const Item> list(std::size_t depth) const {
    const std::size_t end = depth + 1 < open.size() ? open[depth + 1].first : items.size();
    return std::span(items).subspan(open[depth].first, end - open[depth].first);
  }
};

/// The loops of streams that share a tree, those with the most iterations first.  Calls that are still open are
/// included.
std::vector<Loop> loops_of(const Tree& tree, std::span<const StreamLists> streams);

/// A difference between two streams.
struct LoopDifference {
  std::vector<std::uint32_t> stack;  ///< functions, outermost first
  std::vector<std::uint32_t> body;
  std::uint64_t a, b;  ///< iterations
};
struct CallDifference {
  std::vector<std::uint32_t> stack;
  std::uint32_t a, b;  ///< functions; 0: the calling function returns, or the stream ends
};
struct Comparison {
  std::vector<LoopDifference> loops;  ///< the first ones, each loop and stack once
  std::vector<CallDifference> calls;  ///< calls that differ otherwise, the first ones
};

/// Compares two streams call by call.  If the numbers of iterations of a loop differ, the comparison continues after
/// the loop.
/// @param most  differences of each kind to look for
Comparison compare(const Tree& tree, const StreamLists& a, const StreamLists& b, std::size_t most);

}  // namespace effort::calls
