// The events of one location of an OTF2 archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/trace/input/otf2_definitions.hpp"
#include "tools/trace/model/ids.hpp"
#include "tools/trace/model/trace.hpp"

namespace effort::tools::otf2 {

/// Counts over all locations.
struct Counts {
  std::uint64_t other_records = 0;      ///< records of kinds that effort does not use
  std::uint64_t stray_completions = 0;  ///< of requests that were not started
  std::uint64_t started_before = 0;     ///< receives without a start
  std::uint64_t never_completed_sends = 0, never_completed_receives = 0;
  std::uint64_t undefined_regions = 0;
  std::uint64_t unknown_peers = 0;  ///< messages whose communicator or peer is not defined
  std::uint64_t flushes = 0;        ///< of the recorder's buffer
  double flush_seconds = 0;
  std::uint64_t pauses = 0;  ///< times that recording was switched off
  std::uint64_t impossible_times = 0, impossible_steps = 0;
};

/// From the archive's ids to the trace's indices.
struct Tables {
  const Definitions& definitions;
  std::unordered_map<std::uint32_t, std::uint32_t> regions, communicators;
  std::unordered_map<std::string, std::uint32_t> phases, units;
  std::unordered_set<std::uint32_t> by_world_rank;  ///< communicators whose events name ranks of MPI_COMM_WORLD
};

/// Collects the events of one location, which its callbacks report.
class LocationReader {
 public:
  LocationReader(Trace& trace, Tables& tables, Counts& counts, TraceThread& thread)
      : trace_(trace), tables_(tables), counts_(counts), thread_(thread) {}

  /// Registers the callbacks and reads everything.  Errors: the library's code; events so far are kept.
  OTF2_ErrorCode read(OTF2_Reader* reader, OTF2_EvtReader* events);

 private:
  struct Callbacks;
  struct RmaCallbacks;
  static void set_rma_callbacks(OTF2_EvtReaderCallbacks* callbacks);
  LocationReader& handled() {
    ++handled_;
    return *this;
  }
  std::int64_t ns(OTF2_TimeStamp time);
  TraceEvent& add(trace::Kind kind, OTF2_TimeStamp time);
  void add_step(OTF2_TimeStamp time, std::uint64_t step);
  void add_message(trace::Kind kind, OTF2_TimeStamp time, std::uint32_t peer, std::uint32_t communicator,
                   std::uint32_t tag, std::uint64_t bytes, std::uint32_t request);
  void add_collective(OTF2_TimeStamp time, std::uint32_t communicator, std::uint32_t root, std::uint64_t sent,
                      std::uint64_t received);
  /// @param target  rank of the window's communicator; none: several
  void add_access(OTF2_TimeStamp time, std::uint32_t window, std::optional<std::uint32_t> target, std::uint64_t sent,
                  std::uint64_t received);
  /// The communicator of a window; an undefined one if the window is.
  std::uint32_t communicator_of(std::uint32_t window) const;
  /// The rank in MPI_COMM_WORLD of a rank of a communicator, -1 unknown.
  std::int32_t world_rank(std::uint32_t communicator, std::uint32_t rank) const;
  std::uint32_t region(std::uint32_t id);
  /// The number of a request that starts: the lowest free one.
  std::uint32_t start(std::uint64_t request, bool send);
  /// Whether the request was started; `number`: its number.
  bool complete(std::uint64_t request, bool send, std::uint32_t& number);
  void switch_recording(OTF2_TimeStamp time, bool on);
  /// Puts messages at the start or end of their call, as in effort's own traces: tools differ in this.
  void place_messages();
  void finish();

  Trace& trace_;
  Tables& tables_;
  Counts& counts_;
  TraceThread& thread_;
  std::uint64_t handled_ = 0;
  bool on_ = true, switched_ = false;
  struct Active {
    std::uint32_t number;
    bool send;
  };
  std::unordered_map<std::uint64_t, std::deque<Active>> active_;
  std::set<std::uint32_t> free_;
  std::uint32_t next_ = 0;
};

}  // namespace effort::tools::otf2
