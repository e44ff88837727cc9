// Groups of columns or objects, spread over workers.
#pragma once

#include "analytics/cluster/workers.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace effort::cluster {

inline std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Calls body(group, scratch) for every group of `group_size` out of n, spread round robin over the workers, each with
/// `scratch_size` numbers of its own.
template <typename T = double, typename Body>
void for_groups(const Workers& workers, const char* label, std::size_t n, std::size_t group_size,
                std::size_t scratch_size, const Body& body) {
  const std::size_t groups = ceil_div(n, group_size);
  const std::size_t pieces = std::min(groups, workers.concurrency());
  std::vector<T> scratch(pieces * scratch_size);
  workers.run(label, pieces, [&](std::size_t piece) {
    for (std::size_t g = piece; g < groups; g += pieces) body(g, scratch.data() + piece * scratch_size);
  });
}

}  // namespace effort::cluster
