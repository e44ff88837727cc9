// Finds the step of a simulation in the sequence of collectives of all its ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace effort::pmpi {

/// A collective: the hash of its call path, and the computation so far, in any unit, when it was left.
struct Event {
  std::uint64_t path;
  double computed;
  std::uint64_t calls = 0;  ///< blocking MPI calls of the rank so far
};

/// Steps end with every `every`-th call of `path`, counted from the one after `skip` more have passed.
struct StepRule {
  std::uint64_t path = 0;  ///< 0: no recurrence is certain enough
  std::uint32_t every = 1, skip = 0;
  std::uint32_t recurrences = 0;  ///< seen
  std::uint32_t events = 0;       ///< from one end of a step to the next, on average
  double confidence = 0;          ///< 0 to 1: share of the computation that lies in similar recurrences
  double usual = 0;               ///< computation of a step
};

inline constexpr std::uint32_t least_recurrences = 12;
inline constexpr double least_confidence = 0.8;

/// Analyses the most recent events.  A step is the shortest recurrence that explains the run: a path whose calls are
/// followed by about as much computation each time, or by more for a while, when the load has moved to the rank.  A
/// path that recurs more often, but in bursts separated by longer computation, is an inner loop.  Then steps end at
/// another path that comes once per burst (a time step around a solver's iterations) or, if all bursts have the same
/// number of calls (a checksum of each variable), at each burst's last call.  Calls of a single path are bursts if no
/// other MPI call is made within a burst but some between bursts, or if most of the computation lies between bursts.
/// Otherwise they are steps, some of which do more work at fixed intervals (neighbour lists that are rebuilt).  If the
/// sequence of paths repeats exactly and none occurs more than four times in it (stages of a time integration), the
/// whole sequence is the step.  Longer computation at irregular times without a call of its own belongs to steps that
/// do more work.
///
/// A burst can be recognised only at its end.  Consecutive calls are therefore taken for steps only after up to 44 of
/// them, or once they amount to 2000 times the least computation of a step.  O(n * (log n + distinct paths) + n^2 /
/// 12), the latter for paths that come in bursts.
/// @param least  minimum computation of a step
StepRule find_step(std::span<const Event> events, double least = 0);

}  // namespace effort::pmpi
