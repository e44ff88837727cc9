// The formats of `effort trace export`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/trace/analysis/messages.hpp"
#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// The result of an export.
struct TraceExported {
  std::uint64_t events = 0;
  std::uint64_t messages = 0;              ///< messages with both ends
  std::vector<std::string> paths;          ///< files, or the directory
  std::uint64_t collectives_left_out = 0;  ///< persistent collectives whose operation the trace does not say (OTF2)
};

/// One line per event: rank,thread,time_ns,kind,name,communicator,peer,tag,bytes,received_bytes,request,window.
TraceExported export_trace_csv(const Trace& trace, const TraceMessages& messages, const std::filesystem::path& out);

/// Perfetto's protobuf trace, for ui.perfetto.dev: a process per rank, named by rank, stratum and node, its threads,
/// slices for calls, arrows for messages with both ends, and a counter of the load per step.  A file that would exceed
/// `part_bytes` is continued in OUT.2, OUT.3, ..., each of which opens by itself; messages from one to another then
/// have no arrow.
TraceExported export_trace_perfetto(const Trace& trace, const TraceMessages& messages, const std::filesystem::path& out,
                                    std::uint64_t part_bytes);

/// An OTF2 archive, DIRECTORY/traces.otf2, that appears complete or not at all; an older archive of that directory is
/// replaced.  Messages with both ends have records, and so do all one-sided accesses.  Intervals that were not kept are
/// marked as not recorded.
TraceExported export_trace_otf2(const Trace& trace, const TraceMessages& messages,
                                const std::filesystem::path& directory);

}  // namespace effort::tools
