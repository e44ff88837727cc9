// The calls of one thread, with their messages and parts in collectives.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "analytics/communication/operations.hpp"
#include "tools/trace/analysis/messages.hpp"
#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// The properties of a region's calls.
struct RegionRole {
  communication::Operation operation = communication::Operation::user;
  bool ambiguous = false;    ///< a call's operation shows only in its messages
  bool starts_only = false;  ///< starts a collective that another call completes
  bool waits = false;        ///< blocks until requests are complete
  bool sparse = false;       ///< MPI_Alltoallv, MPI_Alltoallw: a rank may need no data from others
  bool probes = false;       ///< MPI_Probe, MPI_Mprobe: blocks until there is a message
};
std::vector<RegionRole> roles_of(const Trace& trace);

/// A rank's part in a collective, before it is known which parts belong together.
struct CollectivePart {
  std::uint32_t communicator = 0;
  std::int32_t rank = 0;
  std::int64_t step = 0;
  std::int64_t order_ns = 0;  ///< when it was started
  std::uint32_t start = communication::none, done = communication::none;
  communication::Operation operation = communication::Operation::other;
  std::int32_t root = -1;
  std::uint64_t sent = 0, received = 0;
  bool sparse = false;
};

/// Appends the calls of threads to a record, one thread after the other.
class ThreadCalls {
 public:
  /// @param record  its messages are those of `messages`, in the same order
  ThreadCalls(const Trace& trace, const TraceMessages& messages, communication::Record& record,
              std::vector<CollectivePart>& parts);

  void append(std::size_t thread);

 private:
  void walk(const TraceSpan& span);
  void enter(std::uint32_t region, std::int64_t time_ns, bool begins);
  void leave(std::int64_t time_ns, bool ends);
  void finish_last();
  void note(std::size_t i);
  std::uint32_t call_of(const TraceEvent& event);
  void message(const TraceEvent& event, std::uint32_t index, std::uint32_t call);
  void collective(const TraceEvent& event, std::uint32_t call);
  void complete_collectives(std::uint32_t call);
  std::int64_t step_at(std::int64_t time_ns) const;

  const Trace& trace_;
  const TraceMessages& messages_;
  communication::Record& record_;
  std::vector<CollectivePart>& parts_;
  std::vector<RegionRole> roles_;

  std::size_t index_ = 0;
  const TraceThread* thread_ = nullptr;
  std::vector<std::uint32_t> stack_;
  std::uint32_t last_left_ =
      communication::none;                       ///< the call that ended before the present event, if none began since
  std::uint32_t refined_ = communication::none;  ///< the last call whose operation was derived from its messages
  std::uint32_t completes_ = communication::none;  ///< the last call that completed a message or collective
  std::uint32_t probed_ = communication::none;     ///< the last blocking probe, if nothing was received since
  std::uint32_t has_part_ = communication::none;   ///< the last call with a part in a collective
  std::deque<std::size_t> pending_;                ///< parts that are started and not complete
  std::deque<std::uint32_t> started_;              ///< calls that start a collective of which no part is known yet
  std::size_t first_step_ = 0;                     ///< of the rank, in Record::steps
  bool steps_here_ = false;                        ///< whether this thread records steps
  std::int64_t step_ = 0;
};

}  // namespace effort::tools
