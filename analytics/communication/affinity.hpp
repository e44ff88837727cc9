// The order in which slow instances are worth inspecting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::communication {

/// How much an inspection is likely to reveal.  A severe delay with few ranks and events is the easiest to understand.
enum class Affinity : std::uint8_t { low, medium, high };

/// "Low", "Medium", "High".
const char* affinity_name(Affinity affinity);

/// A slow instance, as the Analytic Hierarchy Process compares it with others.
struct Alternative {
  double duration = 0;      ///< any unit, the same for all
  std::uint64_t bytes = 0;  ///< sent
  std::size_t ranks = 0, events = 0;
};

struct Priority {
  double severity = 0, complexity = 0;  ///< relative weights, each adds up to 1
  double angle = 0;                     ///< degrees above the axis of complexity: atan2(severity, complexity)
  Affinity affinity = Affinity::medium;
};

/// Weighs the slow instances of a phase by severity and complexity (Alawneh & Hamou-Lhadj 2022, section 4.3).
///
/// Severity is the duration per byte, complexity the number of ranks times that of events.  The comparison matrix of a
/// criterion holds the ratios of its values, so all its normalised columns are the values divided by their sum, and
/// these are the weights.  The angle is above 60 degrees for High, below 30 for Low.
///
/// The paper does not define the severity of instances that moved no bytes, such as barriers: here it is their duration
/// per event.  Seconds per byte and per event cannot be compared, so these instances are weighed among themselves.  A
/// single instance has both weights 1 and is Medium.  If all severities are 0, their weights are 0 too.
///
/// @return one for each alternative, in their order.  Cost: O(n).
std::vector<Priority> prioritise(std::span<const Alternative> alternatives);

}  // namespace effort::communication
