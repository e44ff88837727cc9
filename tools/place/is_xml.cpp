#include <fstream>

#include "tools/place/node_file.hpp"

namespace effort::tools {

bool is_xml(const std::string& path) {
  std::ifstream file(path);
  char first = 0;
  return static_cast<bool>(file >> first) && first == '<';
}

}  // namespace effort::tools
