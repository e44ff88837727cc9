// A trace in segments: what a thread did between two boundaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::reduction {

/// The begin or the end of a call.
struct Stamp {
  std::uint32_t call = 0;  ///< index in Record::calls
  bool ends = false;
};

/// Where in the program segments lie, by the nesting of loops: "main.2.1" is the first loop within the second one;
/// "main.2 after main.2.1" are the rest of an iteration of main.2, "after main.2" what follows one of its iterations.
/// Loops are numbered in the order in which they occur, on the first rank before the others.  "initial" is what comes
/// before all iterations, "final" what comes after them.  Cut at steps: "initial", "step", "step, phase 3".
struct Context {
  std::string name;
  std::uint32_t region = communication::none;  ///< of a loop: index in Record::regions
};

/// Segments with equal structure have the same context, calls in the same order, and messages and collectives with the
/// same partners, communicators, tags, roots and sizes.
struct Segment {
  std::uint64_t structure = 0;  ///< a hash of it
  std::int64_t begin_ns = 0, end_ns = 0;
  std::size_t first = 0, end = 0;      ///< Segments::stamps [first, end)
  std::uint32_t location = 0;          ///< index in Record::locations
  std::uint32_t context = 0;           ///< index in Segments::contexts
  std::uint32_t ends_of_messages = 0;  ///< started or completed by its calls, and parts in collectives
};

struct Segments {
  std::vector<Segment> segments;  ///< by location, then time; each has a stamp
  std::vector<Stamp> stamps;
  std::vector<Context> contexts;  ///< in the order in which they occur
};

/// Cuts where the calls of some regions begin and end, as Mohror & Karavanic 2009 do with loop iterations (section 3.1
/// and figure 1).  An iteration within another one interrupts it; the rest of the outer iteration is a segment with a
/// context of its own.  So are the parts before and after all iterations.
/// @param regions  [Record::regions] whether calls of the region are segments
/// Cost: O(calls + messages + participations).
Segments cut_at_regions(const communication::Record& record, const std::vector<bool>& regions);

/// Cuts where steps and phases begin; a segment's phase is its context.  The calls before the first step are a segment
/// of their own.
Segments cut_at_steps(const communication::Record& record);

}  // namespace effort::reduction
