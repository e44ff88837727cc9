// Differences in the communication of two runs, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analytics/communication/alignment.hpp"
#include "tools/communication/patterns_output.hpp"
#include "tools/communication/waits_output.hpp"

namespace effort::tools {

/// The findings by which two runs are compared.
struct CommunicationSide {
  CommunicationSide(CommunicationTrace trace, const PatternOptions& options)
      : waits(std::move(trace)), patterns(waits.trace.record, options) {}

  WaitFindings waits;
  PatternFindings patterns;
};

/// An item of both runs, or of one of them.
struct NamedChange {
  std::string name, cause;  ///< a pattern; or a region and the cause of its waits
  std::size_t count_a = 0, count_b = 0;
  double a_ns = 0, b_ns = 0;

  double change_ns() const { return b_ns - a_ns; }
};

/// Patterns and phases of the two runs match if their names do: the numbers of ranks may differ.
struct CommunicationDiff {
  CommunicationDiff(const CommunicationSide& a, const CommunicationSide& b);

  const CommunicationSide &a, &b;
  std::vector<communication::AlignedPhases> phases;  ///< of PatternFindings::phases
  std::vector<NamedChange> patterns;                 ///< by the size of the change
  std::vector<NamedChange> waits;                    ///< by cause and region, by the size of the change
};

nlohmann::ordered_json diff_json(const CommunicationDiff& diff);
/// @param all  everything instead of one screen
std::string diff_text(const CommunicationDiff& diff, bool all);

}  // namespace effort::tools
