// What the trace's budget allows.
#include <algorithm>
#include <utility>

#include "runtime/measure/clock.hpp"
#include "runtime/trace/trace_keeper.hpp"

namespace effort::engine {

std::int64_t TraceKeeper::affordable() {
  const std::int64_t elapsed = measure::ns_of(measure::ticks() - origin_);
  std::int64_t sums[3] = {static_cast<std::int64_t>(file_.size() - saved_bytes_), kept_, partners_.bytes};
  std::int64_t longest = elapsed;
  nodes_.allreduce(std::span<std::int64_t>(sums), ReduceOp::sum);
  nodes_.allreduce(std::span<std::int64_t>(&longest, 1), ReduceOp::max);
  constexpr double hour = 3.6e12, guess = 4096;
  // The first minute's budget is available at once, so that short runs are traced as well.
  const double hours = (static_cast<double>(longest) + hour / 60) / hour;
  const double allowed = static_cast<double>(settings_.budget) * log_.setup().n_ranks * hours;
  const double each = sums[1] > 0 ? static_cast<double>(sums[0] - sums[2]) / static_cast<double>(sums[1]) : guess;
  const double left = std::max(0.0, allowed - static_cast<double>(sums[0]));
  // Partners come last, and half of the budget is left for the ranks of coming windows.
  partners_.allowed = 0.5 * left / nodes_.size();
  return static_cast<std::int64_t>(std::clamp(left / each, 0.0, 1e9));
}

void TraceKeeper::note_no_room() {
  if (std::exchange(noted_no_room_, true)) return;
  log_.note(settings_.budget == 0
                ? "TRACE_BUDGET is 0, so the trace has no events"
                : "TRACE_BUDGET left no room for any rank in some windows: the trace has no events of them");
}

/// The messages that local ranks outside the selection exchanged with kept ranks, as far as the budget allows.
std::vector<std::pair<std::int32_t, RankEvents>> TraceKeeper::partners_of(const sampling::KeptRanks& kept,
                                                                          std::int64_t first, std::int64_t last) {
  std::vector<std::pair<std::int32_t, RankEvents>> out;
  std::vector<bool> is_kept(static_cast<std::size_t>(log_.setup().n_ranks), false);
  for (const auto& k : kept.ranks) is_kept[static_cast<std::size_t>(k.rank)] = true;
  const std::vector<int>& ranks = log_.setup().ranks;
  constexpr double guess = 4;  // bytes of an event
  const double each =
      partners_.events > 0 ? static_cast<double>(partners_.bytes) / static_cast<double>(partners_.events) : guess;
  for (std::size_t l = 0; l < ranks.size() && !kept.ranks.empty(); ++l) {
    if (is_kept[static_cast<std::size_t>(ranks[l])]) continue;
    RankEvents messages = reader(static_cast<int>(l)).read_messages(first, last, is_kept);
    std::int64_t events = 0;
    for (const ThreadEvents& t : messages.threads) events += static_cast<std::int64_t>(t.events.size());
    if (events == 0) continue;
    partners_.allowed -= each * static_cast<double>(events);
    if (partners_.allowed < 0) {
      if (!std::exchange(partners_.noted, true))
        log_.note(
            "TRACE_BUDGET left no room for all partners of kept ranks: in some windows, messages of the trace have "
            "one end only");
      break;
    }
    partners_.events += events;
    out.emplace_back(ranks[l], std::move(messages));
  }
  return out;
}

}  // namespace effort::engine
