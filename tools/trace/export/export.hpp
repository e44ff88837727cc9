// The formats of `effort trace export`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/files/output_file.hpp"
#include "tools/trace/analysis/messages.hpp"
#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// What was written.
struct TraceExported {
  std::uint64_t events = 0;
  std::uint64_t messages = 0;              ///< both of whose ends are there
  std::vector<std::string> paths;          ///< files, or the directory
  std::uint64_t collectives_left_out = 0;  ///< persistent ones whose operation the trace does not tell (OTF2)
};

/// One line per event: rank,thread,time_ns,kind,name,communicator,peer,tag,bytes,received_bytes,request,window.
TraceExported export_trace_csv(const Trace& trace, const TraceMessages& messages, const Destination& out);

/// Perfetto's protobuf trace, for ui.perfetto.dev: a process per rank, named by rank, stratum and node, its threads,
/// slices for calls, arrows for messages whose two ends are there, and a counter of the load per step.  A file that
/// would exceed `part_bytes` goes on in OUT.2, OUT.3, ..., each of which opens by itself; messages from one to another
/// then have no arrow.
TraceExported export_trace_perfetto(const Trace& trace, const TraceMessages& messages, const Destination& out,
                                    std::uint64_t part_bytes);

/// An OTF2 archive, DIRECTORY/traces.otf2, that appears complete or not at all; an older archive of that directory is
/// replaced.  Messages have records where both ends are there, one-sided accesses always.  The intervals of which
/// nothing was kept are marked as not recorded.
TraceExported export_trace_otf2(const Trace& trace, const TraceMessages& messages, const Destination& directory);

}  // namespace effort::tools
