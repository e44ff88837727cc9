// Arrivals at collectives, as recorded by the ranks.
#pragma once

#include <cstdint>

namespace effort::communication {

/// A rank's role in a collective.  In a barrier or an exchange of all with all, every rank gives and waits.  The root
/// of a broadcast gives and the others wait; in a reduction it is the other way round.  In a scan, a rank waits for
/// those before it.
enum Part : std::uint8_t { gives = 1, waits = 2, scans = 4 };

/// A rank's arrival at one instance of a collective.
struct Arrival {
  std::uint64_t ordinal = 0;  ///< of the instance among the communicator's blocking collectives, from 0
  std::int64_t ns = 0;        ///< on the node's clock
  std::uint8_t part = 0;      ///< bits of Part
};

/// Whether an instance belongs to the sample of a level, which holds one instance in 2^level on average.  It depends
/// only on the instance's ordinal, so all ranks agree.  Samples are nested: that of a higher level is part of that of a
/// lower level, so ranks with different levels can agree on the higher one.  Level 0 holds all instances.
constexpr bool in_sample(std::uint64_t ordinal, int level) {
  // SplitMix64's output function.
  std::uint64_t z = ordinal + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (z & ((std::uint64_t{1} << level) - 1)) == 0;
}

}  // namespace effort::communication
