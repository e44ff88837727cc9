// A trace in memory, whichever program recorded it: an effort trace or an OTF2 archive.  All commands on traces use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analytics/trace/coder.hpp"
#include "analytics/trace/event.hpp"
#include "record/run.hpp"
#include "record/trace/contents.hpp"

namespace effort::tools {

using TraceEvent = effort::trace::Event;

/// A name of the trace.  Events refer to these by index (Event::id), not by the ids of the file.
struct TraceRegion {
  std::string name;
  std::uint8_t kind = 0;     ///< 0 COMPUTE, 1 COMM, 2 WAIT, 3 IO
  std::int64_t parent = -1;  ///< index of the enclosing region of a call path, -1 none
  bool loop = false;         ///< an iteration, by which a trace can be cut into segments
  std::string short_name{};  ///< for sentences, without the call path; empty: the name
};

struct TraceCommunicator {
  std::string name;                   ///< may be empty
  std::vector<std::int32_t> members;  ///< ranks in MPI_COMM_WORLD, in the order of the communicator's
  std::vector<std::int32_t> remote;   ///< of an intercommunicator: the other group
  bool self = false;                  ///< MPI_COMM_SELF: each rank has its own, and no members are listed

  bool unknown() const { return members.empty() && !self; }
};

/// A rank whose events, or some of them, were kept in a window.
struct KeptRank {
  std::int32_t rank = 0;
  std::uint16_t reasons = 0;  ///< record::trace::Reason
  double probability = 0;     ///< of being in the sample, 0 if it could not be drawn
  std::int32_t stratum = -1;
  std::int64_t dropped_steps = 0, dropped_events = 0;
  bool events = false;   ///< whether there are any
  bool lost = false;     ///< events are missing because the file is damaged
  bool rebuilt = false;  ///< some of its steps have the time stamps of similar ones

  bool sampled() const { return (reasons & record::trace::reason_sample) != 0; }
  /// Whether only its messages with kept ranks are there.
  bool partner_only() const { return reasons == record::trace::reason_partner; }
};

/// A window of the run, all nodes together.  Times are those of node 0's clock.
struct TraceWindow {
  std::int64_t ordinal = 0;  ///< in the run
  std::int64_t first_step = 0, last_step = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  double error = -1;       ///< relative error reached at the requested confidence, -1 unknown
  double confidence = -1;  ///< confidence reached at the requested error, -1 unknown
  std::vector<record::trace::Window::Stratum> strata;
  std::vector<KeptRank> ranks;  ///< ascending
  /// Seconds that all ranks of the run spent in each region (index in Trace::regions), also those that were not kept,
  /// without the regions inside it; and the calls of each region that began.  None: not known.
  std::optional<std::map<std::uint32_t, double>> region_seconds, region_calls;

  const KeptRank* find(std::int32_t rank) const;
  KeptRank* find(std::int32_t rank);
};

/// How a reduced part of the trace was rebuilt (TRACE_REDUCE).
struct RebuiltPart {
  std::size_t steps = 0, rebuilt = 0;                 ///< rebuilt: those with the time stamps of a representative
  std::int64_t largest_error_ns = 0, error90_ns = 0;  ///< bounds on the error of all, and of 90 % of the stamps
  /// The correction of a region's exclusive time: add it to what the stamps give.
  struct Correction {
    std::uint32_t region = 0;  ///< index in Trace::regions
    std::int64_t ns = 0;
  };
  std::vector<Correction> corrections;
};

/// Consecutive events of a thread without a gap: those of one window.
struct TraceSpan {
  std::size_t window = 0;          ///< index in Trace::windows
  std::size_t first = 0, end = 0;  ///< events [first, end) of the thread
  std::int64_t start_ns = 0, end_ns = 0;
  std::optional<RebuiltPart> rebuilt{};  ///< none: the events are as they were recorded
};

struct TraceThread {
  std::int32_t rank = 0, thread = 0;
  std::vector<TraceEvent> events;  ///< on node 0's clock, as precisely as it is known
  std::vector<TraceSpan> spans;    ///< ordered by time; they cover the events
};

/// The trace of a node that breaks off.
struct OpenTrace {
  std::int32_t node = 0;
  std::int64_t last_step = -1;  ///< of the last window that is there; -1: none is
};

struct Trace {
  std::string path;       ///< as given
  std::string recorder;   ///< "effort 0.1.0", or what wrote the OTF2 archive
  bool is_otf2 = false;   ///< recorded by another tool: every rank, without sampling
  std::string name, job;  ///< of the run; may be empty
  std::string design, guide;
  std::string reduction;             ///< the method by which steps were reduced, empty if none were
  std::int64_t started_unix_ns = 0;  ///< 0 unknown
  std::int32_t n_ranks = 0, n_nodes = 0;
  double confidence = 0.90, error = 0;  ///< requested; error 0: none
  effort::trace::TimeBound bound;
  std::int64_t clock_bound_ns = -1;              ///< largest error between the clocks of two nodes, -1 unknown
  std::map<std::int32_t, std::int32_t> node_of;  ///< of ranks, as far as known
  std::vector<TraceRegion> regions;
  std::vector<record::Module> modules;  ///< that names of regions point into
  std::vector<TraceCommunicator> communicators;
  std::vector<std::string> phases, units;
  std::vector<TraceWindow> windows;  ///< ascending
  std::vector<TraceThread> threads;  ///< by rank, then thread
  std::int64_t steps = -1;           ///< of the run, -1: unknown, because it did not end regularly
  /// Nodes whose trace has no end, ascending.  None: the file's format does not tell.
  std::optional<std::vector<OpenTrace>> without_end;
  std::int64_t dropped_steps = 0;  ///< steps of all ranks that did not fit into a ring
  std::uint64_t bytes = 0;         ///< of all files
  std::size_t damaged_chunks = 0;  ///< parts of the files that cannot be read
  std::vector<std::string> notes;  ///< missing parts and corrections of the data, a sentence each

  std::uint64_t events() const;
  /// All spans that were rebuilt, as one: error90_ns is the largest after the worst tenth of the spans is left out.
  struct Rebuilding {
    std::size_t spans = 0, of = 0;  ///< threads and windows, and all that are in the trace
    RebuiltPart sum;                ///< without corrections
  };
  Rebuilding rebuilding() const;
  /// The node of a rank, -1 unknown.
  std::int32_t node(std::int32_t rank) const;
};

/// "1 rank", "2 ranks".
std::string count_text(std::uint64_t count, const std::string& noun);

}  // namespace effort::tools
