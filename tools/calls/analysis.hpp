// `effort calls info`, `graph` and `diff`: the findings, and their output.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analytics/calls/context_tree.hpp"
#include "analytics/calls/difference.hpp"
#include "analytics/calls/loops.hpp"
#include "tools/calls/input.hpp"
#include "tools/calls/names.hpp"

namespace effort::tools {

/// Calls by stack, and totals of each stream.
struct CallCounts {
  calls::ContextTree tree;
  std::vector<std::size_t> streams;  ///< that were counted
  std::vector<calls::ContextTree::Totals> totals;
  bool timed = false;  ///< some calls have time stamps

  std::uint64_t all_calls() const;
  std::size_t depth() const;
  /// Nanoseconds.  If only some calls have time stamps, these stand for all with the same stack.
  struct Times {
    double own = 0;        ///< without the calls below
    double inclusive = 0;  ///< with them; of calls of a function inside itself, only the outermost one counts
  };
  /// By node of the tree; 0 without time stamps.
  std::vector<Times> times() const { return times_of(tree.nodes()); }
  /// The same of other calls in the same contexts, such as those of one rank.
  static std::vector<Times> times_of(std::span<const calls::ContextTree::Node> nodes);
  struct OfFunction {
    std::uint32_t function = 0;  ///< id
    std::uint64_t calls = 0, timed_calls = 0;
    Times ns;
  };
  /// By function, those with the most own time first, or else the most frequent ones.
  std::vector<OfFunction> by_function() const { return functions_of(tree.nodes(), timed); }
  static std::vector<OfFunction> functions_of(std::span<const calls::ContextTree::Node> nodes, bool timed);
  /// Functions of a context, outermost first.
  std::vector<std::uint32_t> stack(std::size_t node) const;
};

/// @param rank  counts only its streams (of raw streams: the one with this number); without a value: all
/// @param after  called after each stream with all counts so far, whose `totals` end with that stream
/// Errors: those of the input; UsageError if the rank has no stream.
CallCounts count_calls(const CallInput& input, std::optional<std::int64_t> rank,
                       const std::function<void(const CallCounts&)>& after = {});

/// Calls by caller and callee.
using CallEdge = std::pair<std::uint32_t, std::uint32_t>;
std::map<CallEdge, std::uint64_t> call_edges(std::span<const calls::ContextTree::Node> nodes);
/// The same as a list, the most frequent first.
std::vector<std::pair<CallEdge, std::uint64_t>> frequent_edges(std::span<const calls::ContextTree::Node> nodes);

/// The calls of one rank or thread.
struct StreamGroup {
  std::vector<std::size_t> streams;
  std::uint64_t calls = 0;
  std::vector<CallCounts::OfFunction> functions;  ///< as by_function()
  std::vector<std::pair<CallEdge, std::uint64_t>> edges;
};
enum class Grouping { none, rank, thread };
/// count_calls(), which also adds a group for each rank or thread to `groups`.
CallCounts count_calls_by(const CallInput& input, std::optional<std::int64_t> rank, Grouping by,
                          std::vector<StreamGroup>& groups);

/// What `effort calls info` shows.
struct CallsInfo {
  const CallInput& input;
  const FunctionNames& names;
  const CallCounts& counts;
  Grouping by = Grouping::none;
  const std::vector<StreamGroup>& groups;
};
nlohmann::ordered_json calls_info_json(const CallsInfo& info);
std::string calls_info_text(const CallsInfo& info, bool all);
/// A line "outer;inner calls" for each stack: the input of flame graph tools.
/// @param by_time  microseconds of own time instead of calls
std::string folded_stacks(const FunctionNames& names, const CallCounts& counts, bool by_time);

/// Streams as lists of a common tree.
struct CallTrees {
  calls::TreeBuilder builder;
  std::vector<std::size_t> numbers;  ///< of the streams
  std::vector<calls::StreamLists> streams;
};
/// Adds the streams of an input.  `ids`: by id of the input, the id in the tree; empty: the same.
/// Errors: std::runtime_error if there are too many different calls.
void add_trees(CallTrees& trees, const CallInput& input, std::optional<std::int64_t> rank,
               const std::vector<std::uint32_t>& ids);

nlohmann::ordered_json calls_graph_json(const FunctionNames& names, const CallCounts& counts,
                                        const std::vector<calls::Loop>& loops);
std::string calls_graph_dot(const FunctionNames& names, const CallCounts& counts,
                            const std::vector<calls::Loop>& loops);

/// The comparison of streams of two inputs.
struct CallDiff {
  struct Open {
    std::size_t stream;
    std::vector<std::uint32_t> calls;
  };
  struct Pair {
    std::size_t a, b;  ///< streams
    std::optional<calls::FirstDifference> first;
    calls::Comparison comparison;
    std::vector<std::uint32_t> open_a, open_b;  ///< calls that have not returned
    std::vector<Open> near_a, near_b;           ///< those of the next ranks below and above, if there are open calls
  };
  std::vector<Pair> pairs;
  FunctionNames names;  ///< of the ids in it
};
/// An input with the names of its functions.
struct NamedCalls {
  const CallInput* input;
  const FunctionNames* names;
};
/// The streams of several inputs as lists of one tree.  Functions are the same if their names are.
struct CommonTrees {
  calls::TreeBuilder builder;
  FunctionNames names;
  std::vector<std::vector<std::uint32_t>> ids;           ///< by input: by its id, the one in the tree; empty: the same
  std::vector<std::vector<std::size_t>> numbers;         ///< by input
  std::vector<std::vector<calls::StreamLists>> streams;  ///< by input
  const calls::Tree& tree() const { return builder.tree(); }
};
/// @param ranks  by input, the only rank; empty: all ranks
/// Errors: those of the inputs; std::runtime_error if there are too many different calls.
CommonTrees common_trees(std::span<const NamedCalls> inputs, std::span<const std::optional<std::int64_t>> ranks);
/// Compares the i-th stream of one input with the j-th of another, as they stand in the trees.
CallDiff::Pair compare_streams(const CommonTrees& trees, std::size_t in_a, std::size_t i, std::size_t in_b,
                               std::size_t j);
nlohmann::ordered_json call_pair_json(const CallInput& a, const CallInput& b, const FunctionNames& names,
                                      const CallDiff::Pair& pair);

/// Compares the streams of the same rank and thread, or those of two ranks.
/// Errors: those of the inputs; UsageError if a rank has no stream, or if the inputs share no rank.
CallDiff diff_calls(const CallInput& a, const FunctionNames& names_a, const CallInput& b, const FunctionNames& names_b,
                    const std::vector<std::int64_t>& ranks);
nlohmann::ordered_json calls_diff_json(const CallInput& a, const CallInput& b, const CallDiff& diff);
std::string calls_diff_text(const CallInput& a, const CallInput& b, const CallDiff& diff, bool all);

/// Whether a stream is of a rank; raw streams count from 0.
bool is_of_rank(const CallInput& input, std::size_t stream, std::int64_t rank);
/// The rank of a stream.  If it is not known: the number of its process's first stream; of raw streams, their number.
std::int64_t rank_of(const CallInput& input, std::size_t stream);
/// "rank 3", or "rank 3 of INPUT" if several runs are given.
std::string rank_text(const CallInput& input, std::size_t stream);
/// "rank 3, thread 1".
std::string stream_text(const CallInput& input, std::size_t stream);
/// "outer > inner".
std::string stack_text(const FunctionNames& names, std::span<const std::uint32_t> stack);

}  // namespace effort::tools
