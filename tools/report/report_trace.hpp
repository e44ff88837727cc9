// The trace of a run as the report page reads it.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/trace/info/info.hpp"

namespace effort::tools {

/// Whether a path names a trace rather than a snapshot: a directory, or a file of a trace or of an archive.
bool names_trace(const std::string& path);

/// The part of a trace that the page holds.  Numbers in `events` and `messages` are varints (unsigned LEB128), times
/// are ns since the trace's first.
struct TraceForPage {
  nlohmann::ordered_json json;
  std::int64_t origin_ns = 0;  ///< the trace's first time, on its own clock
  /// The pieces listed in the JSON.  A slice, by time: begin minus that of the slice before (of the piece's start),
  /// duration, region * 4 + 2 (it began before the piece) + 1 (it goes on after it), calls around it.
  std::vector<std::byte> events;
  /// A message, by time of sending: send minus that of the message before, duration, rank and thread of the sender, of
  /// the receiver, bytes, tag * 2 or -2 * tag - 1.
  std::vector<std::byte> messages;
};

/// Cuts a trace into pieces of at most 16,384 events, and takes as many as fit.  Half of the room is for the ranks that
/// the page shows before anything is opened; otherwise unusual windows come first; within a window, pieces come in
/// order of time, then ranks by the reason they were kept.
/// @param most_bytes  of events and messages as they stand in the page, in base64
/// Memory: 32 bytes for each call of a thread, and what is returned.
TraceForPage trace_for_page(const TraceFindings& findings, std::size_t most_bytes);

}  // namespace effort::tools
