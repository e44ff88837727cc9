#include "tools/trace/input/trace_notes.hpp"

#include "tools/output/output.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace effort::tools {

using trace::Kind;

namespace {

/// Whether no kept rank has events before its second step.
bool lacks_first_step(const Trace& trace) {
  bool found = false;
  for (const TraceThread& thread : trace.threads) {
    if (thread.thread != 0 || thread.spans.empty()) continue;
    const TraceWindow& window = trace.windows[thread.spans[0].window];
    const KeptRank* const kept = window.find(thread.rank);
    if (window.first_step != 0 || kept == nullptr || kept->partner_only() || kept->dropped_steps > 0) continue;
    const TraceEvent& first = thread.events[thread.spans[0].first];
    if (first.kind != Kind::step || first.bytes != 1) return false;
    found = true;
  }
  return found;
}

}  // namespace

void note_rebuilt(Trace& trace) {
  const Trace::Rebuilding r = trace.rebuilding();
  if (r.spans == 0) return;
  const auto seconds = [](std::int64_t ns) { return seconds_text(1e-9 * static_cast<double>(ns)); };
  const std::string all = count_text(r.of, "kept window");
  trace.notes.push_back(
      "in " + std::to_string(r.spans) + " of " + all + " (one thread each), " + count_text(r.sum.rebuilt, "step") +
      " of " + std::to_string(r.sum.steps) + " have the time stamps of similar steps (TRACE_REDUCE=" + trace.reduction +
      "): in nine of ten of these windows, 90 % of the stamps are within " + seconds(r.sum.error90_ns) +
      " of the true ones, and all stamps are within " + seconds(r.sum.largest_error_ns) +
      "; calls, sizes and the time in each region are not affected");
}

void note_first_step(Trace& trace) {
  if (!lacks_first_step(trace)) return;
  trace.notes.push_back(
      "nothing was recorded in step 0: with the MPI adapter, and after effort_init without MPI, recording begins when "
      "the first step ends; after effort_init_mpi, at once");
}

void note_end(Trace& trace, std::size_t there) {
  if (!trace.without_end || trace.without_end->empty()) return;
  constexpr std::size_t most = 4;
  const std::vector<OpenTrace>& open = *trace.without_end;
  std::string text = open.size() == there ? std::string("the trace has no end")
                                          : "the trace of " + count_text(open.size(), "node") + " has no end";
  for (std::size_t i = 0; i < std::min(open.size(), most); ++i) {
    text += (i == 0 ? " (node " : ", node ") + std::to_string(open[i].node);
    text += open[i].last_step < 0 ? " has no window" : " breaks off after step " + std::to_string(open[i].last_step);
  }
  text += open.size() > most ? ", ...)" : ")";
  trace.notes.push_back(text +
                        ": the run was killed, ended without effort_finalize, was switched off, is still going on, or "
                        "could not write its files");
}

void note_unknown_communicators(Trace& trace) {
  std::uint64_t collectives = 0;
  for (const TraceThread& thread : trace.threads)
    for (const TraceEvent& event : thread.events)
      collectives += event.kind == Kind::collective && trace.communicators[event.id].unknown() ? 1 : 0;
  if (collectives == 0) return;
  trace.notes.push_back(
      count_text(collectives, "collective call") +
      " used communicators whose members are not known (they are among those after the first 4,096, have ranks from "
      "outside of MPI_COMM_WORLD or many ranks in an irregular order, or their description is lost): they are counted, "
      "but not examined for waiting, and not exported to OTF2");
}

}  // namespace effort::tools
