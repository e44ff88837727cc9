// One-sided communication of one thread as OTF2's records of remote memory access.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tools/trace/export/otf2_writer.hpp"

namespace effort::tools::otf2 {

/// Writes these records.  A trace does not distinguish the windows of a communicator, so they are written as one.  It
/// is created at a thread's first use and destroyed with the thread's last record.  An access completes when the thread
/// next synchronises with its target.
class RmaWriter {
 public:
  RmaWriter(const Trace& trace, Writer& writer, OTF2_EvtWriter* events, std::int32_t rank)
      : trace_(trace), writer_(writer), events_(events), rank_(rank) {}

  /// An event of kind one_sided, or the collective of a fence.
  /// @param call  around the event, as returned by mpi_call(); empty: unknown
  void write(const TraceEvent& event, const std::string& call, OTF2_TimeStamp time);
  /// The call around the last event is left.
  void leave(OTF2_TimeStamp time);
  /// After the thread's last event.
  void finish(OTF2_TimeStamp time);

 private:
  struct Access {
    std::uint32_t window;
    std::int32_t target;
    std::uint64_t number;
    bool here = false;  ///< complete at the origin
  };

  void access(const TraceEvent& event, const std::string& call, std::uint32_t target, OTF2_TimeStamp time);
  void synchronise(const TraceEvent& event, std::int64_t target, OTF2_TimeStamp time);
  void done(OTF2_ErrorCode code) { writer_.check(code); }

  const Trace& trace_;
  Writer& writer_;
  OTF2_EvtWriter* events_;
  std::int32_t rank_;
  std::set<std::uint32_t> created_;
  std::vector<Access> pending_;
  std::uint64_t accesses_ = 0;
  enum class Completes : std::uint8_t { nothing, here, everywhere } completes_ = Completes::nothing;
  std::uint32_t window_ = 0;  ///< the one being synchronised
  std::int32_t target_ = -1;  ///< the rank of MPI_COMM_WORLD to synchronise with; -1: all
};

}  // namespace effort::tools::otf2
