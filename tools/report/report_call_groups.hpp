// Groups ranks whose calls are equal, and chooses the groups to compare, for the page on calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/calls/analysis.hpp"

namespace effort::tools {

/// The number of calls, or another number, by context.  Only contexts that occur, in their order.
using CallColumn = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

struct RankCalls {
  std::int64_t rank = 0;
  std::vector<std::size_t> streams;
  CallColumn column;
  CallColumn timed_calls, timed_ns;  ///< calls with time stamps, and their time from entry to return
};

/// Ranks whose calls are equal.
struct CallGroup {
  std::vector<std::size_t> members;  ///< indices of CallSource::ranks
  std::size_t view = 0;              ///< in the page; 0: none
};

struct CallSource {
  std::unique_ptr<CallInput> input;
  FunctionNames names;
  CallCounts counts;
  std::vector<RankCalls> ranks;
  std::vector<CallGroup> groups;
  std::vector<std::uint32_t> contexts;  ///< in the page, ascending
  std::vector<std::uint32_t> functions;
  std::vector<CallEdge> edges;
};

/// Errors: those of CallInput.
CallSource read_call_source(const std::string& path, const std::vector<std::filesystem::path>& search);

/// Fills `groups`.
/// @param trees  of all sources; null: not known, so ranks with the same calls in every context are taken as equal
/// @param source  number of the source in the trees
void group_ranks(CallSource& s, const CommonTrees* trees, std::size_t source);

/// Two groups of ranks, by source and group.
struct CallGroupPair {
  std::size_t source_a, a, source_b, b;
};

/// Pairs groups: between two sources, those of the same rank; within a source, first the largest group with each other
/// one.
/// @param most  pairs, about
std::vector<CallGroupPair> call_group_pairs(const std::vector<CallSource>& sources, std::size_t most);

}  // namespace effort::tools
