// Calls by their enclosing calls, and by the threads that made them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication {

/// A call path: a region, and the path of the enclosing call.
struct Path {
  std::uint32_t parent = none;  ///< a smaller index in CallTree::paths
  std::uint32_t region = 0;
};

/// The call paths of a record, numbered in the order of their first call.
struct CallTree {
  std::vector<Path> paths;
  std::vector<std::uint32_t> of_call;      ///< [calls] path
  std::vector<std::uint32_t> location_of;  ///< [calls] index in Record::locations
};
/// Cost: O(calls).
CallTree call_tree(const Record& record);

/// The names from the outermost region to the innermost, with '/' between.
std::string path_text(const Record& record, const CallTree& tree, std::uint32_t path);

}  // namespace effort::communication
