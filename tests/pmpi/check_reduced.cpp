// Checks the trace of a run of test_pmpi_repeated with TRACE_REDUCE: steps were reduced, what happened in them is
// exact, and odd ranks were left as they were.
//   check_reduced DIRECTORY
#include "analytics/sampling/kept_ranks.hpp"
#include "failures.hpp"
#include "record/trace/reader.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace trace = effort::record::trace;
using effort::test::bad;
using effort::test::fail;
using trace::Event;
using trace::Kind;

namespace {

constexpr int exchanges = 10;

/// Each whole step of a chunk has ten exchanges with the neighbours, of one size that belongs to the step.
/// @param offset  of the size to the step's number, the same everywhere; -1: not known yet
void check_steps(const std::vector<Event>& events, int rank, int ranks, std::int64_t& offset) {
  std::int64_t step = -1, last = events.empty() ? 0 : events.front().time_ns;
  int sends = 0, receives = 0;
  for (const Event& e : events) {
    if (e.time_ns < last) fail("rank %d: a time precedes the one before", rank);
    last = e.time_ns;
    if (e.kind == Kind::step) {
      if (step >= 0 && (sends != exchanges || receives != exchanges))
        fail("rank %d, step %ld: %d sends and %d receives", rank, static_cast<long>(step), sends, receives);
      step = static_cast<std::int64_t>(e.bytes);
      sends = receives = 0;
      continue;
    }
    const bool send = e.kind == Kind::send, receive = e.kind == Kind::receive;
    if ((!send && !receive) || step < 0) continue;
    if (e.peer != (send ? (rank + 1) % ranks : (rank + ranks - 1) % ranks)) fail("rank %d: peer %d", rank, e.peer);
    if (e.tag != (send ? sends : receives)) fail("rank %d: tag %d", rank, e.tag);
    (send ? sends : receives) += 1;
    const std::int64_t found = static_cast<std::int64_t>(e.bytes) - step;
    if (offset < 0) offset = found;
    if (found != offset)
      fail("rank %d, step %ld: %ld bytes", rank, static_cast<long>(step), static_cast<long>(e.bytes));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int reduced = 0, whole = 0;
  std::int64_t offset = -1;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1])) {
    if (entry.path().extension() != ".trc") continue;
    const trace::Reader file(entry.path());
    if (file.header().reduction != "iter_k:2") fail("the method is '%s'", file.header().reduction.c_str());
    for (const auto& problem : file.problems()) fail("%s", problem.text.c_str());
    for (const trace::EventsInfo& chunk : file.chunks()) {
      const trace::Window& window = *file.window_of(chunk);
      const auto kept =
          std::find_if(window.ranks.begin(), window.ranks.end(), [&](const auto& r) { return r.rank == chunk.rank; });
      const auto rebuilt = file.rebuilt(chunk);
      if (kept->reasons == trace::reason_partner) continue;
      check_steps(rebuilt.events, chunk.rank, file.header().n_ranks, offset);
      (chunk.reduced ? reduced : whole) += 1;
      if (!chunk.reduced) continue;
      if (!effort::sampling::stands_for_others(kept->reasons))
        fail("rank %d is reduced, and kept for the reasons %d", chunk.rank, kept->reasons);
      if (rebuilt.rebuilt == 0) fail("rank %d: no step of a reduced window is rebuilt", chunk.rank);
    }
  }
  if (reduced < 5) fail("only %d windows are reduced", reduced);
  if (whole < 5) fail("only %d windows are not reduced", whole);
  std::printf("%d windows reduced, %d not\n", reduced, whole);
  return bad == 0 ? 0 : 1;
}
