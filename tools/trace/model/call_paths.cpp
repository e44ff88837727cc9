#include "tools/trace/model/call_paths.hpp"

#include <algorithm>

namespace effort::tools {

std::int32_t CallPaths::child(std::int32_t parent, std::uint32_t region) {
  const auto [at, fresh] = child_.emplace(std::pair(parent, region), static_cast<std::int32_t>(nodes_.size()));
  if (fresh) nodes_.push_back({parent, region});
  return at->second;
}

std::int32_t CallPaths::enter(std::int32_t parent, std::uint32_t region) {
  if (trace_.regions[region].parent < 0) return child(parent, region);
  // Outermost first; in a damaged file, the names may form a cycle.
  std::vector<std::uint32_t> chain = {region};
  constexpr std::size_t deepest = 256;
  for (std::int64_t at = trace_.regions[region].parent; at >= 0 && chain.size() < deepest;) {
    chain.push_back(static_cast<std::uint32_t>(at));
    at = trace_.regions[static_cast<std::size_t>(at)].parent;
  }
  std::int32_t path = none;
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) path = child(path, *at);
  return path;
}

std::string CallPaths::text(std::int32_t path) const {
  std::string out;
  for (; path != none; path = parent(path)) {
    const std::string& name = trace_.regions[region(path)].name;
    out = out.empty() ? name : name + "/" + out;
  }
  return out;
}

std::vector<std::uint32_t> open_at_start(const TraceThread& thread, const TraceSpan& span) {
  std::vector<std::uint32_t> stack, open;
  std::map<std::uint32_t, std::size_t> ended;  // with the region around them: their own leave may still come
  for (std::size_t i = span.first; i < span.end; ++i) {
    const TraceEvent& event = thread.events[i];
    if (event.kind == trace::Kind::enter) stack.push_back(event.id);
    if (event.kind != trace::Kind::leave) continue;
    const auto at = std::find(stack.rbegin(), stack.rend(), event.id);
    if (at != stack.rend()) {
      for (auto inner = at.base(); inner != stack.end(); ++inner) ++ended[*inner];
      stack.erase(at.base() - 1, stack.end());
    } else if (ended[event.id] > 0) {
      --ended[event.id];
    } else if (stack.empty()) {
      open.push_back(event.id);
    }
  }
  std::reverse(open.begin(), open.end());
  return open;
}

}  // namespace effort::tools
