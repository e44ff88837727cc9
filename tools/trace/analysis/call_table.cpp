#include "tools/trace/analysis/call_table.hpp"

#include <algorithm>
#include <utility>

namespace effort::tools {

namespace {

/// Adds up the calls of a span.
class Adder {
 public:
  Adder(const TraceThread& thread, const CallPaths& paths, CallsByPath& sums, std::set<std::uint32_t>& rebalancing)
      : thread_(thread), paths_(paths), sums_(sums), rebalancing_(rebalancing) {}
  void event(std::size_t index, std::int32_t path) {
    const TraceEvent& event = thread_.events[index];
    if (path == CallPaths::none || event.kind == trace::Kind::step || event.kind == trace::Kind::work) return;
    if (event.kind == trace::Kind::rebalance) rebalancing_.insert(paths_.region(path));
    sums_[path].bytes += static_cast<double>(event.bytes) + static_cast<double>(event.received_bytes);
  }
  void end(const Call& call) {
    CallSums& sums = sums_[call.path];
    sums.count += call.begins ? 1 : 0;
    sums.seconds += 1e-9 * static_cast<double>(call.exclusive_ns);
  }

 private:
  const TraceThread& thread_;
  const CallPaths& paths_;
  CallsByPath& sums_;
  std::set<std::uint32_t>& rebalancing_;
};

/// Adds to the calls of a rebuilt part what its stamps lack.  The time of a region is divided among its paths in
/// proportion to what they have.
void correct(CallsByPath& sums, const RebuiltPart& part, const CallPaths& paths) {
  for (const RebuiltPart::Correction& c : part.corrections) {
    std::vector<std::pair<std::int32_t, double>> shares;
    double all = 0;
    for (const auto& [path, sum] : sums) {
      if (paths.region(path) != c.region) continue;
      shares.emplace_back(path, sum.seconds);
      all += sum.seconds;
    }
    for (const auto& [path, seconds] : shares) {
      const double share = all > 0 ? seconds / all : 1.0 / static_cast<double>(shares.size());
      sums[path].seconds += std::max(-seconds, share * 1e-9 * static_cast<double>(c.ns));
    }
  }
}

}  // namespace

std::vector<WindowCalls> call_table(const Trace& trace, CallPaths& paths) {
  std::vector<WindowCalls> table(trace.windows.size());
  for (const TraceThread& thread : trace.threads) {
    for (const TraceSpan& span : thread.spans) {
      const KeptRank* const kept = trace.windows[span.window].find(thread.rank);
      if (kept != nullptr && kept->partner_only()) continue;
      CallsByPath sums;
      WindowCalls& window = table[span.window];
      walk_calls(thread, span, paths, Adder(thread, paths, sums, window.rebalancing));
      if (span.rebuilt) correct(sums, *span.rebuilt, paths);
      CallsByPath& of_rank = window.of_rank[thread.rank];
      for (const auto& [path, sum] : sums) of_rank[path] += sum;
    }
  }
  for (WindowCalls& window : table)
    for (auto& [rank, sums] : window.of_rank)
      for (auto& [path, sum] : sums) sum.seen = sum.count;
  return table;
}

}  // namespace effort::tools
