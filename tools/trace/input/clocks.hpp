// Converts times of the nodes' clocks to node 0's.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "record/trace/contents.hpp"

namespace effort::tools {

/// The measured offsets between the clocks.
class NodeClocks {
 public:
  void add(const record::trace::Clock& sample);

  /// A time of the node's clock on node 0's.  Offsets are interpolated between measurements and constant outside them;
  /// a node without measurements counts as synchronized with node 0.
  std::int64_t on_node_0(std::int32_t node, std::int64_t time_ns) const;

  /// Largest bound of all measurements, -1 if there are none.
  std::int64_t bound_ns() const { return bound_ns_; }

 private:
  struct Sample {
    std::int64_t time_ns = 0, offset_ns = 0;
  };
  std::map<std::int32_t, std::vector<Sample>> samples_;  ///< ascending
  std::int64_t bound_ns_ = -1;
};

}  // namespace effort::tools
