#include "tools/trace/input/rebuilt_note.hpp"

#include "tools/output/output.hpp"

namespace effort::tools {

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

}  // namespace effort::tools
