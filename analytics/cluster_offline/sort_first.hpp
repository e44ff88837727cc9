// Partial sorting of ids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace effort::cluster {

/// Sorts the `count` ids that come first to the front; the others follow in any order.
template <typename Less>
void sort_first(std::vector<std::int32_t>& ids, std::size_t count, const Less& less) {
  const auto end = ids.begin() + static_cast<std::ptrdiff_t>(count);
  if (end != ids.end()) std::nth_element(ids.begin(), end, ids.end(), less);
  std::sort(ids.begin(), end, less);
}

}  // namespace effort::cluster
