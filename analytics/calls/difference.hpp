// The first event in which two streams of calls differ.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analytics/calls/loops.hpp"

namespace effort::calls {

struct FirstDifference {
  /// The next event of a stream: an entry of `function`, a return, or none.
  struct Event {
    enum class Kind { entry, leave, end } kind = Kind::end;
    std::uint32_t function = 0;
  };
  std::uint64_t event = 0;  ///< from 0
  Event a, b;
  std::vector<std::uint32_t> stack;  ///< open calls before it, outermost first
};

/// Returns nothing if the streams are equal.  Cost: linear in the lists of calls in which they differ, not in the
/// events.
std::optional<FirstDifference> first_difference(const Tree& tree, const StreamLists& first, const StreamLists& second);

}  // namespace effort::calls
