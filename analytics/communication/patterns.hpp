// Communication patterns: exchanges between ranks that recur.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analytics/communication/events.hpp"
#include "analytics/communication/operations.hpp"

namespace effort::communication {

/// When two instances have the same pattern.
enum class Symbols {
  relative,  ///< if they do the same with the same partners, with ranks numbered from the lowest that takes part
  absolute,  ///< if the same ranks do the same with the same partners in functions of the same name (as in the paper)
};

struct Pattern {
  std::string name;                 ///< see recognise(); collectives by their call: "allreduce", "2D halo + allreduce"
  std::vector<std::uint32_t> grid;  ///< of a halo: ranks in each dimension
  std::uint32_t ranks = 0;          ///< that take part in an instance
  std::size_t events = 0;           ///< of an instance: ends of messages and parts in collectives
  std::size_t instances = 0;
  std::size_t first_instance = 0;
};

/// One occurrence of a pattern.
struct Instance {
  std::uint32_t pattern = 0;
  std::int64_t start_ns = 0, end_ns = 0;       ///< start of the first event, end of the last event to end
  std::uint64_t bytes = 0;                     ///< sent
  std::int32_t first_rank = 0, last_rank = 0;  ///< the first and the last to start; of several, the lowest
  std::int64_t last_start_ns = 0;              ///< start of the last rank
  std::size_t first_event = 0, end_event = 0;  ///< Patterns::events [first_event, end_event)
  std::uint32_t function = none;               ///< region around its first event

  std::int64_t duration_ns() const { return end_ns - start_ns; }
};

struct Patterns {
  std::vector<Pattern> patterns;    ///< ordered by their first instances
  std::vector<Instance> instances;  ///< ordered by start
  std::vector<Event> events;        ///< by instance, then rank, then program order
  std::uint64_t left_out = 0;       ///< see Events
};

/// Finds the patterns of a record (Alawneh & Hamou-Lhadj 2022, section 4.1.1).
///
/// Each thread's groups of events (collect_events) are cut into their maximal repeats (cut_into_repeats), where two
/// events are equal if they are sends to, or receives from, the same rank, or the same collective call.  Pieces that
/// share a message or a collective belong to one instance, the paper's bag of repeats.  Sizes and tags of messages do
/// not matter.
///
/// Two points that the paper leaves open: an event that does not recur also belongs to an instance, which may be the
/// only one of its pattern; and ranks or instances that start at the same time are ordered by rank.
///
/// If the instances of a pattern are single messages or exchanges between two ranks, as in traces without functions,
/// all of them together may have a name: "gather to a root", "master-worker", "transpose", ...
///
/// Cost: linear in calls and events, except for sorting the instances by time.
Patterns find_patterns(const Record& record, Symbols symbols);

}  // namespace effort::communication
