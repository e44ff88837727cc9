// Calls by stack.
#include <algorithm>
#include <limits>
#include <tuple>

#include "record/text.hpp"
#include "tools/calls/analysis.hpp"
#include "tools/output/usage_error.hpp"

namespace effort::tools {

std::int64_t rank_of(const CallInput& input, std::size_t stream) {
  const std::vector<record::calls::Stream>& all = input.names().streams;
  if (all[stream].rank >= 0) return all[stream].rank;
  if (all[stream].process == 0) return static_cast<std::int64_t>(stream);
  // Without a launcher, a process counts as a rank.
  const auto first = std::find_if(all.begin(), all.end(), [&](const record::calls::Stream& s) {
    return s.rank < 0 && s.process == all[stream].process;
  });
  return first - all.begin();
}

bool is_of_rank(const CallInput& input, std::size_t stream, std::int64_t rank) {
  return rank_of(input, stream) == rank;
}

std::string rank_text(const CallInput& input, std::size_t stream) {
  const record::calls::Stream& s = input.names().streams[stream];
  if (s.rank >= 0) return "rank " + std::to_string(s.rank) + input.run_text(stream);
  return s.process != 0 ? "process " + std::to_string(s.process) : "stream " + std::to_string(stream);
}

std::string stream_text(const CallInput& input, std::size_t stream) {
  const std::uint64_t thread = input.names().streams[stream].thread;
  return rank_text(input, stream) + (thread > 0 ? ", thread " + std::to_string(thread) : "");
}

std::string stack_text(const FunctionNames& names, std::span<const std::uint32_t> stack) {
  std::string text;
  for (const std::uint32_t function : stack)
    text += (text.empty() ? "" : " > ") + record::visible(names.name(function));
  return text;
}

std::uint64_t CallCounts::all_calls() const {
  std::uint64_t sum = 0;
  for (const calls::ContextTree::Totals& t : totals) sum += t.calls;
  return sum;
}

std::size_t CallCounts::depth() const {
  std::size_t most = 0;
  for (const calls::ContextTree::Totals& t : totals) most = std::max(most, t.depth);
  return most;
}

std::vector<CallCounts::Times> CallCounts::times_of(std::span<const calls::ContextTree::Node> nodes) {
  constexpr double most_ns = 9e18;  // a damaged file may say more than an integer holds
  std::vector<Times> out(nodes.size());
  // Children follow their parents.  Until a node is reached, `own` has the time of its children.
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const calls::ContextTree::Node& node = nodes[i];
    const double below = out[i].own;
    out[i].inclusive = below;
    if (node.timed_calls > 0) {
      const double estimate =
          static_cast<double>(node.timed_ns) * static_cast<double>(node.calls) / static_cast<double>(node.timed_calls);
      out[i].inclusive = std::max(below, std::min(estimate, most_ns));
    }
    out[i].own = out[i].inclusive - below;
    if (i > 0) out[node.parent].own += out[i].inclusive;
  }
  return out;
}

std::vector<CallCounts::OfFunction> CallCounts::functions_of(std::span<const calls::ContextTree::Node> nodes,
                                                             bool timed) {
  const std::vector<Times> of_node = times_of(nodes);
  const auto is_inside_itself = [&](std::size_t node) {
    const std::uint32_t function = nodes[node].function;
    while ((node = nodes[node].parent) != 0)
      if (nodes[node].function == function) return true;
    return false;
  };
  std::map<std::uint32_t, OfFunction> sums;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (nodes[i].calls == 0 && nodes[i].timed_calls == 0) continue;
    OfFunction& sum = sums[nodes[i].function];
    sum.function = nodes[i].function;
    sum.calls += nodes[i].calls;
    sum.timed_calls += nodes[i].timed_calls;
    sum.ns.own += of_node[i].own;
    if (timed && !is_inside_itself(i)) sum.ns.inclusive += of_node[i].inclusive;
  }
  std::vector<OfFunction> out;
  for (const auto& [function, sum] : sums) out.push_back(sum);
  std::stable_sort(out.begin(), out.end(), [](const OfFunction& a, const OfFunction& b) {
    return std::tuple(a.ns.own, a.calls) > std::tuple(b.ns.own, b.calls);
  });
  return out;
}

std::vector<std::uint32_t> CallCounts::stack(std::size_t node) const {
  std::vector<std::uint32_t> out;
  for (; node != 0; node = tree.nodes()[node].parent) out.push_back(tree.nodes()[node].function);
  std::reverse(out.begin(), out.end());
  return out;
}

CallCounts count_calls(const CallInput& input, std::optional<std::int64_t> rank,
                       const std::function<void(const CallCounts&)>& after) {
  CallCounts counts;
  for (std::size_t stream = 0; stream < input.names().streams.size(); ++stream) {
    if (rank && !is_of_rank(input, stream, *rank)) continue;
    counts.streams.push_back(stream);
    counts.timed = counts.timed || input.names().streams[stream].stamp_every > 0;
  }
  if (rank && counts.streams.empty())
    throw UsageError("--rank " + std::to_string(*rank) + " does not exist in the input");
  // Streams come in order, each in several pieces.
  std::size_t next = 0;
  const auto end_stream = [&] {
    if (next == 0) return;
    counts.tree.end_stream();
    counts.totals.push_back(counts.tree.totals());
    if (after) after(counts);
  };
  const auto begin_until = [&](std::uint64_t stream) {
    while (next < counts.streams.size() && counts.streams[next] <= stream) {
      end_stream();
      counts.tree.begin_stream(input.names().streams[counts.streams[next]].stamp_every);
      ++next;
    }
  };
  input.read_timed(
      [&](std::uint64_t stream, std::span<const std::uint32_t> events, std::span<const std::uint64_t> gaps) {
        if (rank && !is_of_rank(input, stream, *rank)) return;
        begin_until(stream);
        counts.tree.add(events, gaps);
      });
  begin_until(std::numeric_limits<std::uint64_t>::max());
  end_stream();
  return counts;
}

std::string folded_stacks(const FunctionNames& names, const CallCounts& counts, bool by_time) {
  std::string out;
  const std::vector<CallCounts::Times> times = counts.times();
  for (std::size_t node = 1; node < counts.tree.nodes().size(); ++node) {
    std::string line;
    for (const std::uint32_t function : counts.stack(node)) {
      std::string name = names.name(function);
      std::replace(name.begin(), name.end(), ';', ',');
      line += (line.empty() ? "" : ";") + name;
    }
    const std::uint64_t amount =
        by_time ? static_cast<std::uint64_t>(times[node].own / 1000 + 0.5) : counts.tree.nodes()[node].calls;
    out += line + " " + std::to_string(amount) + "\n";
  }
  return out;
}

void add_trees(CallTrees& trees, const CallInput& input, std::optional<std::int64_t> rank,
               const std::vector<std::uint32_t>& ids) {
  constexpr std::size_t most = std::size_t{1} << 26;
  std::size_t next = 0;
  bool open = false;
  const auto end_stream = [&] {
    if (open) trees.streams.emplace_back(trees.builder);
    trees.builder.next_stream();
    open = false;
  };
  const auto begin_until = [&](std::uint64_t stream) {
    for (; next <= stream && next < input.names().streams.size(); ++next) {
      if (rank && !is_of_rank(input, next, *rank)) continue;
      end_stream();
      trees.numbers.push_back(next);
      open = true;
    }
  };
  input.read([&](std::uint64_t stream, std::span<const std::uint32_t> events) {
    if (rank && !is_of_rank(input, stream, *rank)) return;
    begin_until(stream);
    for (const std::uint32_t event : events) {
      if (event == 0) {
        trees.builder.leave();
      } else {
        trees.builder.enter(event < ids.size() ? ids[event] : event);
      }
    }
    if (trees.builder.held() > most)
      throw std::runtime_error("the input has too many different calls to be compared: give fewer ranks");
  });
  begin_until(std::numeric_limits<std::uint64_t>::max() - 1);
  end_stream();
}

}  // namespace effort::tools
