#include <stdexcept>

#include "tools/place/node_file.hpp"

namespace effort::tools {

placement::NodeShape read_node(const std::string& path) {
  throw std::runtime_error("cannot read '" + path +
                           "': effort was built without hwloc; give the shape of a node with --node, such as 2x4x8");
}

}  // namespace effort::tools
