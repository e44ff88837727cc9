#include "tools/trace/model/trace.hpp"

#include <algorithm>

namespace effort::tools {

const KeptRank* TraceWindow::find(std::int32_t rank) const {
  const auto at = std::lower_bound(ranks.begin(), ranks.end(), rank,
                                   [](const KeptRank& kept, std::int32_t wanted) { return kept.rank < wanted; });
  return at != ranks.end() && at->rank == rank ? &*at : nullptr;
}

KeptRank* TraceWindow::find(std::int32_t rank) {
  return const_cast<KeptRank*>(static_cast<const TraceWindow*>(this)->find(rank));
}

std::uint64_t Trace::events() const {
  std::uint64_t sum = 0;
  for (const TraceThread& thread : threads) sum += thread.events.size();
  return sum;
}

Trace::Rebuilding Trace::rebuilding() const {
  Rebuilding out;
  std::vector<std::int64_t> errors;
  for (const TraceThread& thread : threads) {
    for (const TraceSpan& span : thread.spans) {
      ++out.of;
      if (!span.rebuilt) continue;
      ++out.spans;
      out.sum.steps += span.rebuilt->steps;
      out.sum.rebuilt += span.rebuilt->rebuilt;
      out.sum.largest_error_ns = std::max(out.sum.largest_error_ns, span.rebuilt->largest_error_ns);
      errors.push_back(span.rebuilt->error90_ns);
    }
  }
  if (errors.empty()) return out;
  const auto at = errors.begin() + static_cast<std::ptrdiff_t>((errors.size() - 1) * 9 / 10);
  std::nth_element(errors.begin(), at, errors.end());
  out.sum.error90_ns = *at;
  return out;
}

std::int32_t Trace::node(std::int32_t rank) const {
  const auto at = node_of.find(rank);
  return at == node_of.end() ? -1 : at->second;
}

std::string count_text(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace effort::tools
