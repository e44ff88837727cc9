#include "analytics/communication/call_tree.hpp"

#include <unordered_map>

namespace effort::communication {

CallTree call_tree(const Record& record) {
  CallTree out;
  out.of_call.resize(record.calls.size());
  out.location_of.resize(record.calls.size());
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (std::size_t l = 0; l < record.locations.size(); ++l) {
    for (std::size_t c = record.locations[l].first_call; c < record.locations[l].end_call; ++c) {
      const Call& call = record.calls[c];
      const std::uint32_t parent = call.parent == none ? none : out.of_call[call.parent];
      const std::uint64_t key = std::uint64_t{parent} << 32 | call.region;
      const auto [at, fresh] = known.emplace(key, static_cast<std::uint32_t>(out.paths.size()));
      if (fresh) out.paths.push_back({parent, call.region});
      out.of_call[c] = at->second;
      out.location_of[c] = static_cast<std::uint32_t>(l);
    }
  }
  return out;
}

std::string path_text(const Record& record, const CallTree& tree, std::uint32_t path) {
  std::string out;
  for (; path != none; path = tree.paths[path].parent) {
    const std::string& name = record.regions[tree.paths[path].region];
    out = out.empty() ? name : name + "/" + out;
  }
  return out;
}

}  // namespace effort::communication
