// The waits of a trace, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
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

/// Steps of the run, both included.
struct StepRange {
  std::int64_t first = 0, last = 0;
};

/// The waits of one window.
struct WindowWaits {
  std::int64_t first_step = 0, last_step = 0;
  double ns = 0;                  ///< all waiting
  std::optional<WaitedFor> most;  ///< whose delays in this window caused most of it
};

/// The waits of a trace, where they came from, and the critical path.
struct WaitFindings {
  /// @param steps  only the windows with any of these steps.  Waits are followed back beyond them, but the delays found
  ///               there do not count.  Errors: std::runtime_error if the trace has no such window.
  explicit WaitFindings(CommunicationTrace communication, const std::optional<StepRange>& steps = {});

  CommunicationTrace trace;
  communication::CallTree tree;
  communication::Waits waits;
  communication::WaitTotals totals;
  std::vector<communication::PathWaits> by_path;
  communication::CriticalPath critical;
  std::vector<communication::Delay> delays;  ///< the largest first
  double unexplained_ns = 0;                 ///< communication::Delays::unexplained_ns
  std::vector<WaitedFor> waited_for;         ///< ranks that others waited for, by delay_ns, then direct_ns
  std::vector<WindowWaits> windows;          ///< by step
  double total_ns = 0;                       ///< all waiting

  /// The name of a path's innermost region; "(outside of all regions)" for `none`.
  std::string region_text(std::uint32_t path) const;
  std::string path_text(std::uint32_t path) const;
  /// A region's name for sentences: without the call path that an intercepted region has in its name.
  std::string short_text(std::uint32_t path) const;
  /// The same for a delay; "(before MPI_Send)" if it was outside of all regions.
  std::string region_text(const communication::Delay& delay) const;
  std::string path_text(const communication::Delay& delay) const;
  std::string short_text(const communication::Delay& delay) const;
  /// path_text of short names, for tables.
  std::string short_path_text(std::uint32_t path) const;
  std::string short_path_text(const communication::Delay& delay) const;
};

nlohmann::ordered_json waits_json(const WaitFindings& findings);
/// The ranks that made others wait, where and why, in sentences of a line each.
std::string waits_answer(const WaitFindings& findings);
/// The limits on the findings, a sentence each.
std::vector<std::string> waits_limits(const WaitFindings& findings);
/// @param all  every rank, path and part of the critical path instead of one screen
std::string waits_text(const WaitFindings& findings, bool all);

}  // namespace effort::tools
