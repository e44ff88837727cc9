// The waits of a trace, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analytics/communication/call_tree.hpp"
#include "analytics/communication/critical_path.hpp"
#include "analytics/communication/delays.hpp"
#include "analytics/communication/waits.hpp"
#include "tools/communication/record.hpp"

namespace effort::tools {

/// How long others waited for a rank.
struct WaitedFor {
  std::int32_t rank = 0;
  double direct_ns = 0;       ///< for calls of this rank
  double delay_ns = 0;        ///< because of what this rank did, also through ranks that it held up
  communication::Delay most;  ///< the largest part of that; 0 ns: there is none
};

/// The waits of a trace, where they came from, and the critical path.
struct WaitFindings {
  explicit WaitFindings(CommunicationTrace communication);

  CommunicationTrace trace;
  communication::CallTree tree;
  communication::Waits waits;
  communication::WaitTotals totals;
  std::vector<communication::PathWaits> by_path;
  communication::CriticalPath critical;
  communication::Delays delays;
  std::vector<WaitedFor> waited_for;  ///< ranks that others waited for, by delay_ns, then direct_ns
  double total_ns = 0;                ///< all waiting

  /// Of a path's innermost region; "(outside of all regions)" of none.
  std::string region_text(std::uint32_t path) const;
  std::string path_text(std::uint32_t path) const;
  /// The same of a delay; "(before MPI_Send)" of what was outside of all regions.
  std::string region_text(const communication::Delay& delay) const;
  std::string path_text(const communication::Delay& delay) const;
};

nlohmann::ordered_json waits_json(const WaitFindings& findings);
/// Who made the others wait, where and why, in sentences of a line each.
std::string waits_answer(const WaitFindings& findings);
/// What limits the findings, a sentence each.
std::vector<std::string> waits_limits(const WaitFindings& findings);
/// @param all  every rank, path and part of the critical path instead of one screen
std::string waits_text(const WaitFindings& findings, bool all);

}  // namespace effort::tools
