// Replaces debug_info.cpp in a build without libdw.
#include <stdexcept>

#include "tools/symbols/debug_info.hpp"

namespace effort::tools {

struct DebugInfo::State {
  std::string build_id;
};

DebugInfo::DebugInfo(const std::filesystem::path&) {
  throw std::runtime_error("effort was built without libdw: install libdw-dev and build it again");
}
DebugInfo::~DebugInfo() = default;
bool DebugInfo::available() { return false; }
const std::string& DebugInfo::build_id() const { return state_->build_id; }
bool DebugInfo::has_lines() const { return false; }
std::vector<Location> DebugInfo::look_up(std::uint64_t) const { return {}; }
std::vector<FunctionSymbol> DebugInfo::functions() const { return {}; }

}  // namespace effort::tools
