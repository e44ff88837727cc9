// `effort calls diff`: where two ranks or runs part ways.
#include <algorithm>
#include <tuple>

#include "record/text.hpp"
#include "tools/calls/analysis.hpp"
#include "tools/output/usage_error.hpp"

namespace effort::tools {

namespace {

constexpr std::size_t most_differences = 20, most_lines = 6, most_open = 12;

/// Ids that inputs share: functions are the same if their names are, so that builds can differ.
class CommonIds {
 public:
  std::vector<std::uint32_t> add(const CallInput& input, const FunctionNames& names) {
    std::vector<std::uint32_t> ids;
    if (!input.has_names()) return ids;  // raw ids stand for themselves
    for (const std::string& name : names.of) ids.push_back(ids.empty() ? 0 : id_of(name));
    return ids;
  }
  FunctionNames names() && { return std::move(names_); }

 private:
  std::uint32_t id_of(const std::string& name) {
    if (names_.of.empty()) names_.of.emplace_back();
    const auto [found, is_new] = ids_.emplace(name, static_cast<std::uint32_t>(names_.of.size()));
    if (is_new) names_.of.push_back(name);
    return found->second;
  }
  std::map<std::string, std::uint32_t> ids_;
  FunctionNames names_;
};

std::vector<std::uint32_t> open_calls(const calls::StreamLists& lists) {
  std::vector<std::uint32_t> out;
  for (std::size_t i = 1; i < lists.open.size(); ++i) out.push_back(lists.open[i].function);
  return out;
}

/// The calls at the end of streams that have not returned.
class OpenCalls {
 public:
  /// @param ids  by id of the input, the common one; empty: the same
  /// @param ended  streams whose open calls are known
  OpenCalls(const CallInput& input, std::vector<std::uint32_t> ids,
            std::map<std::size_t, std::vector<std::uint32_t>> ended)
      : input_(input), ids_(std::move(ids)), of_(std::move(ended)) {}

  /// Those of the same thread on the next ranks below and above.
  std::vector<CallDiff::Open> beside(std::size_t stream) {
    const std::vector<record::calls::Stream>& all = input_.names().streams;
    const std::int64_t rank = rank_of(input_, stream);
    std::optional<std::size_t> below, above;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].thread != all[stream].thread) continue;
      const std::int64_t other = rank_of(input_, i);
      if (other < rank && (!below || other > rank_of(input_, *below))) below = i;
      if (other > rank && (!above || other < rank_of(input_, *above))) above = i;
    }
    std::vector<CallDiff::Open> out;
    for (const std::optional<std::size_t>& next : {below, above})
      if (next) out.push_back({*next, of(*next)});
    return out;
  }

 private:
  const std::vector<std::uint32_t>& of(std::size_t stream) {
    const auto [found, is_new] = of_.try_emplace(stream);
    if (!is_new) return found->second;
    std::vector<std::uint32_t>& open = found->second;
    input_.read(stream, [&](std::uint64_t, std::span<const std::uint32_t> events) {
      for (const std::uint32_t event : events) {
        if (event != 0)
          open.push_back(event < ids_.size() ? ids_[event] : event);
        else if (!open.empty())
          open.pop_back();
      }
    });
    return open;
  }
  const CallInput& input_;
  std::vector<std::uint32_t> ids_;
  std::map<std::size_t, std::vector<std::uint32_t>> of_;
};

/// Pairs of streams to compare, as places in the lists of their numbers.  Of several processes of a rank, such as
/// children of fork(), the first ones are a pair, then the second ones.
std::vector<std::pair<std::size_t, std::size_t>> pairs_of(const CallInput& a, std::span<const std::size_t> of_a,
                                                          const CallInput& b, std::span<const std::size_t> of_b,
                                                          bool any_rank) {
  using Place = std::tuple<std::int64_t, std::uint64_t, int>;
  const auto places = [any_rank](const CallInput& input, std::span<const std::size_t> streams) {
    std::vector<Place> out;
    std::map<Place, int> before;
    for (const std::size_t stream : streams) {
      Place place{any_rank ? 0 : rank_of(input, stream), input.names().streams[stream].thread, 0};
      std::get<2>(place) = before[place]++;
      out.push_back(place);
    }
    return out;
  };
  std::map<Place, std::size_t> in_b;
  const std::vector<Place> places_a = places(a, of_a), places_b = places(b, of_b);
  for (std::size_t i = 0; i < places_b.size(); ++i) in_b.emplace(places_b[i], i);
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (std::size_t i = 0; i < places_a.size(); ++i)
    if (const auto found = in_b.find(places_a[i]); found != in_b.end()) out.emplace_back(i, found->second);
  return out;
}

std::string event_text(const FunctionNames& names, const calls::FirstDifference::Event& event) {
  switch (event.kind) {
    case calls::FirstDifference::Event::Kind::entry: return names.name(event.function);
    case calls::FirstDifference::Event::Kind::leave: return "return";
    case calls::FirstDifference::Event::Kind::end: break;
  }
  return "end";
}

nlohmann::ordered_json list(const FunctionNames& names, std::span<const std::uint32_t> functions) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const std::uint32_t f : functions) out.push_back(names.name(f));
  return out;
}

nlohmann::ordered_json near_json(const CallInput& input, const FunctionNames& names,
                                 std::span<const CallDiff::Open> near) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const CallDiff::Open& open : near)
    out.push_back({{"rank", rank_of(input, open.stream)}, {"open", list(names, open.calls)}});
  return out;
}

/// The stack at the end of a stream, and those of its neighbours below it.
std::string open_text(const char* which, const CallInput& input, const FunctionNames& names,
                      std::span<const std::uint32_t> open, std::span<const CallDiff::Open> near) {
  const auto stack = [&](std::span<const std::uint32_t> calls) {
    return (calls.empty() ? "none" : stack_text(names, calls)) + "\n";
  };
  std::string out = std::string("  open at the end of ") + which + ": " + stack(open);
  for (const CallDiff::Open& other : near)
    out += "    on " + stream_text(input, other.stream) + ": " + stack(other.calls);
  return out;
}

std::string place_text(const FunctionNames& names, std::span<const std::uint32_t> stack) {
  return stack.empty() ? "at the top level" : "in " + stack_text(names, stack);
}

std::string function_text(const FunctionNames& names, std::uint32_t function) {
  return function == 0 ? "no further call" : record::visible(names.name(function));
}

}  // namespace

CommonTrees common_trees(std::span<const NamedCalls> inputs, std::span<const std::optional<std::int64_t>> ranks) {
  CommonTrees out;
  CommonIds common;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CallTrees trees;
    trees.builder = std::move(out.builder);
    out.ids.push_back(common.add(*inputs[i].input, *inputs[i].names));
    add_trees(trees, *inputs[i].input, ranks.empty() ? std::nullopt : ranks[i], out.ids.back());
    out.numbers.push_back(std::move(trees.numbers));
    out.streams.push_back(std::move(trees.streams));
    out.builder = std::move(trees.builder);
  }
  out.names = std::move(common).names();
  return out;
}

CallDiff::Pair compare_streams(const CommonTrees& trees, std::size_t in_a, std::size_t i, std::size_t in_b,
                               std::size_t j) {
  const calls::StreamLists &x = trees.streams[in_a][i], &y = trees.streams[in_b][j];
  CallDiff::Pair pair{trees.numbers[in_a][i],
                      trees.numbers[in_b][j],
                      calls::first_difference(trees.tree(), x, y),
                      {},
                      open_calls(x),
                      open_calls(y),
                      {},
                      {}};
  if (pair.first) pair.comparison = calls::compare(trees.tree(), x, y, most_differences);
  return pair;
}

CallDiff diff_calls(const CallInput& a, const FunctionNames& names_a, const CallInput& b, const FunctionNames& names_b,
                    const std::vector<std::int64_t>& ranks) {
  if (a.has_names() != b.has_names())
    throw UsageError(
        "one input has names of functions and the other only ids, so they cannot be compared: give two of the same "
        "kind");
  std::vector<std::optional<std::int64_t>> chosen(ranks.begin(), ranks.end());
  const NamedCalls inputs[] = {{&a, &names_a}, {&b, &names_b}};
  // Both go into one tree, so equal calls are one node.
  CommonTrees trees = common_trees(inputs, chosen);
  const auto pairs = pairs_of(a, trees.numbers[0], b, trees.numbers[1], !ranks.empty());
  if (pairs.empty())
    throw UsageError(ranks.empty() ? "the inputs have no rank in common: name one rank of each, --ranks A,B"
                                   : "--ranks " + std::to_string(ranks[0]) + "," + std::to_string(ranks[1]) +
                                         " are not in the inputs, or have no thread in common");
  CallDiff diff;
  const auto open = [&](std::size_t in, const CallInput& input) {
    std::map<std::size_t, std::vector<std::uint32_t>> known;
    for (std::size_t i = 0; i < trees.streams[in].size(); ++i)
      known.emplace(trees.numbers[in][i], open_calls(trees.streams[in][i]));
    return OpenCalls(input, trees.ids[in], std::move(known));
  };
  OpenCalls in_a = open(0, a), in_b = open(1, b);
  for (const auto& [i, j] : pairs) {
    CallDiff::Pair& pair = diff.pairs.emplace_back(compare_streams(trees, 0, i, 1, j));
    if (!pair.open_a.empty()) pair.near_a = in_a.beside(pair.a);
    if (!pair.open_b.empty()) pair.near_b = in_b.beside(pair.b);
  }
  diff.names = std::move(trees.names);
  return diff;
}

nlohmann::ordered_json call_pair_json(const CallInput& a, const CallInput& b, const FunctionNames& names,
                                      const CallDiff::Pair& pair) {
  nlohmann::ordered_json first = nullptr;
  if (pair.first)
    first = {{"event", pair.first->event},
             {"a", event_text(names, pair.first->a)},
             {"b", event_text(names, pair.first->b)},
             {"stack", list(names, pair.first->stack)}};
  nlohmann::ordered_json loops = nlohmann::ordered_json::array(), calls = nlohmann::ordered_json::array();
  for (const calls::LoopDifference& d : pair.comparison.loops)
    loops.push_back({{"stack", list(names, d.stack)}, {"body", list(names, d.body)}, {"a", d.a}, {"b", d.b}});
  const auto name = [&](std::uint32_t f) { return f == 0 ? std::string("return") : names.name(f); };
  for (const calls::CallDifference& d : pair.comparison.calls)
    calls.push_back({{"stack", list(names, d.stack)}, {"a", name(d.a)}, {"b", name(d.b)}});
  return {{"rank_a", rank_of(a, pair.a)},
          {"rank_b", rank_of(b, pair.b)},
          {"thread", a.names().streams[pair.a].thread},
          {"first_difference", std::move(first)},
          {"loops", std::move(loops)},
          {"calls", std::move(calls)},
          {"open_a", list(names, pair.open_a)},
          {"open_b", list(names, pair.open_b)}};
}

nlohmann::ordered_json calls_diff_json(const CallInput& a, const CallInput& b, const CallDiff& diff) {
  nlohmann::ordered_json out{{"first_difference", nullptr}};
  out["pairs"] = nlohmann::ordered_json::array();
  for (const CallDiff::Pair& pair : diff.pairs) {
    out["pairs"].push_back(call_pair_json(a, b, diff.names, pair));
    out["pairs"].back()["near_a"] = near_json(a, diff.names, pair.near_a);
    out["pairs"].back()["near_b"] = near_json(b, diff.names, pair.near_b);
    if (out["first_difference"].is_null()) out["first_difference"] = out["pairs"].back()["first_difference"];
  }
  return out;
}

std::string calls_diff_text(const CallInput& a, const CallInput& b, const CallDiff& diff, bool all) {
  std::string out;
  std::size_t differ = 0, shown = 0;
  for (const CallDiff::Pair& pair : diff.pairs) differ += pair.first ? 1 : 0;
  out = std::to_string(differ) + " of " + std::to_string(diff.pairs.size()) +
        (diff.pairs.size() == 1 ? " stream differs\n" : " streams differ\n");
  for (const CallDiff::Pair& pair : diff.pairs) {
    if (!pair.first) {
      if (differ == 0 && !pair.open_a.empty() && (all || ++shown <= most_open))
        out +=
            "  open at the end of both, " + stream_text(a, pair.a) + ": " + stack_text(diff.names, pair.open_a) + "\n";
      continue;
    }
    if (!all && ++shown > 3) {
      out += "\n" + std::to_string(differ - 3) + " more: --all\n";
      break;
    }
    out += "\n" + stream_text(a, pair.a) + " of A and " + stream_text(b, pair.b) + " of B: first difference at event " +
           std::to_string(pair.first->event) + "\n  A: " + record::visible(event_text(diff.names, pair.first->a)) +
           "\n  B: " + record::visible(event_text(diff.names, pair.first->b)) + "\n  " +
           place_text(diff.names, pair.first->stack) + "\n";
    const std::size_t lines = all ? most_differences : most_lines;
    for (const calls::LoopDifference& d :
         std::span(pair.comparison.loops).first(std::min(lines, pair.comparison.loops.size())))
      out += "  loop of " + stack_text(diff.names, d.body) + ": " + std::to_string(d.a) + " iterations in A, " +
             std::to_string(d.b) + " in B, " + place_text(diff.names, d.stack) + "\n";
    for (const calls::CallDifference& d :
         std::span(pair.comparison.calls).first(std::min(lines, pair.comparison.calls.size())))
      out += "  other call: " + function_text(diff.names, d.a) + " in A, " + function_text(diff.names, d.b) +
             " in B, " + place_text(diff.names, d.stack) + "\n";
    if (!pair.open_a.empty() || !pair.open_b.empty())
      out += open_text("A", a, diff.names, pair.open_a, pair.near_a) +
             open_text("B", b, diff.names, pair.open_b, pair.near_b);
  }
  return out;
}

}  // namespace effort::tools
