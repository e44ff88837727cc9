// Calls by the calls around them, and by the threads that made them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication {

/// A call path: a region, and the path of the call around it.
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

/// The innermost region of a path that is not MPI's: the program's own; none if there is none.
std::uint32_t user_region(const CallTree& tree, std::uint32_t path, const std::vector<bool>& is_mpi);

/// Whether the calls of a region are MPI's: [regions].
std::vector<bool> mpi_regions(const Record& record);

}  // namespace effort::communication
