// Helpers for tests of traces: random programs, and a check of decoded events that does not depend on the coder.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "analytics/trace/event.hpp"

namespace effort::trace::test {

/// Empty if `decoded` is what the interface promises for `events`, else what is wrong: the same events in the same
/// order, times ascending and each within the bound of the gap before it and, if any, of the gap behind it.
std::string difference(const Place& place, const std::vector<Event>& events, const std::vector<Event>& decoded,
                       TimeBound bound);

/// Events of all kinds with extreme and ordinary members, and times with gaps from 0 to hours.
/// @param kinds  how many kinds there are to choose from
std::vector<Event> random_events(std::mt19937_64& random, const Place& place, std::size_t n, int kinds = n_kinds);

/// Steps of a halo exchange of a rank among `ranks` in a ring: regular but for its times.
std::vector<Event> regular_steps(std::mt19937_64& random, const Place& place, int ranks, int steps);

}  // namespace effort::trace::test
