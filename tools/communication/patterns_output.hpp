// Communication patterns, phases and slow instances of a trace, for people and for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analytics/communication/affinity.hpp"
#include "analytics/communication/patterns.hpp"
#include "analytics/communication/phases.hpp"
#include "analytics/communication/slow.hpp"
#include "tools/communication/record.hpp"

namespace effort::tools {

struct PatternOptions {
  communication::Symbols symbols = communication::Symbols::relative;
  communication::PhaseOptions phases;
  double cutoff = 3.5;  ///< of the modified Z-score
};

/// Phases that people are shown: those of the first levels of the tree, as in the paper's evaluation.
inline constexpr std::size_t shown_depth = 3;

/// The patterns of a record, its phases, and slow instances in the order of the Analytic Hierarchy Process.
struct PatternFindings {
  PatternFindings(const communication::Record& of, const PatternOptions& options);

  const communication::Record& record;
  communication::Patterns patterns;
  communication::Phases phases;                     ///< with all their depth
  communication::Phases shown;                      ///< at shown_depth at most; slow instances are weighed within these
  std::vector<communication::SlowInstance> slow;    ///< by instance
  std::vector<communication::Priority> priorities;  ///< of the slow ones
  std::vector<std::size_t> slow_phases;             ///< of the slow ones: index in shown.leaves
  std::vector<std::uint64_t> slow_of_pattern;       ///< how many of each
  std::vector<double> total_ns;                     ///< of each pattern: its instances' durations

  /// The function around an instance's first event, or the call path of that event's call; empty: neither is known.
  std::string function_of(const communication::Instance& instance) const;
  /// The functions of a phase's instances, the most frequent first.
  std::vector<std::string> functions_of(const communication::Phase& phase, std::size_t most) const;
  std::size_t slow_in(const communication::Phase& phase) const;
  /// From the start of its first instance to the end of the last one to end.
  std::int64_t duration_ns(const communication::Phase& phase) const;
  /// Its patterns, the most frequent first: "2D halo (40), allreduce (20)".
  /// @param width  of each name
  std::string contents_of(const communication::Phase& phase, std::size_t width = 24) const;
  /// "2D halo on 3 x 4 ranks", "allreduce of 12 ranks".
  std::string pattern_text(std::uint32_t pattern) const;
};

/// Patterns, those with the most time first.
std::vector<std::uint32_t> by_time(const PatternFindings& findings);
/// Slow instances (indices in `slow`), the most promising first.
std::vector<std::size_t> by_promise(const PatternFindings& findings);

nlohmann::ordered_json patterns_json(const PatternFindings& findings, const std::vector<std::string>& notes);
nlohmann::ordered_json phases_json(const PatternFindings& findings, const std::vector<std::string>& notes);
/// A slow instance as patterns_json lists it.
nlohmann::ordered_json slow_json(const PatternFindings& findings, std::size_t slow);
/// The patterns, the slow instances, and the one to look at first, in sentences of a line each.
std::string patterns_answer(const PatternFindings& findings);
/// @param all  everything instead of one screen
std::string patterns_text(const PatternFindings& findings, const std::vector<std::string>& notes, bool all);
/// @param depth_given  whether the user asked for a depth: then all phases are shown, else those at shown_depth
std::string phases_text(const PatternFindings& findings, const std::vector<std::string>& notes, bool all,
                        bool depth_given);

/// The limits on the findings, a sentence each, under the heading "Trust"; empty without any.
std::string trust_text(const PatternFindings& findings, const std::vector<std::string>& notes, bool all);

}  // namespace effort::tools
