#include "analytics/calls/loops.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace effort::calls {

std::vector<Repeated> repeated_calls(const Tree& tree, std::span<const Item> list) {
  std::vector<Repeated> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].node == stray_return) continue;
    const std::uint32_t function = tree.nodes[list[i].node].function;
    if (!out.empty() && out.back().function == function && out.back().end == i) {
      out.back().calls += list[i].count;
      out.back().end = i + 1;
    } else {
      out.push_back({function, list[i].count, i, i + 1});
    }
  }
  return out;
}

std::vector<Stretch> stretches(std::span<const Repeated> calls) {
  std::vector<Stretch> out;
  for (std::size_t i = 0; i < calls.size();) {
    Stretch best{i, 1, 1};
    for (std::size_t period = 2; period <= most_period && i + 2 * period <= calls.size(); ++period) {
      std::size_t same = 0;
      while (i + period + same < calls.size() && calls[i + same].function == calls[i + period + same].function) ++same;
      const std::size_t times = 1 + same / period;
      if (times > 1 && times * period > best.times * best.period) best = {i, period, times};
    }
    out.push_back(best);
    i += best.period * best.times;
  }
  return out;
}

namespace {

std::vector<std::uint32_t> body_of(std::span<const Repeated> calls, const Stretch& s) {
  std::vector<std::uint32_t> body;
  for (std::size_t i = 0; i < s.period; ++i) body.push_back(calls[s.first + i].function);
  return body;
}

class LoopCounter {
 public:
  explicit LoopCounter(const Tree& tree) : tree_(tree) {}

  /// @param runs  how often the list occurs
  void add(std::uint32_t function, std::span<const Item> list, std::uint64_t runs) {
    const std::vector<Repeated> calls = repeated_calls(tree_, list);
    for (const Stretch& s : stretches(calls)) {
      if (s.times > 1) add(function, body_of(calls, s), s.times, runs);
      for (std::size_t i = s.first; i < s.first + s.period * s.times; ++i)
        if (calls[i].calls > 1) add(function, {calls[i].function}, calls[i].calls, runs);
    }
  }
  std::vector<Loop> loops() && {
    std::vector<Loop> out;
    for (auto& [key, loop] : loops_) out.push_back(std::move(loop));
    std::stable_sort(out.begin(), out.end(), [](const Loop& a, const Loop& b) { return a.iterations > b.iterations; });
    return out;
  }

 private:
  void add(std::uint32_t function, std::vector<std::uint32_t> body, std::uint64_t iterations, std::uint64_t runs) {
    Loop& loop = loops_[{function, body}];
    if (loop.runs == 0) loop = {function, std::move(body), 0, 0, iterations, iterations};
    loop.runs += runs;
    loop.iterations += iterations * runs;
    loop.least = std::min(loop.least, iterations);
    loop.most = std::max(loop.most, iterations);
  }

  const Tree& tree_;
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, Loop> loops_;
};

}  // namespace

std::vector<Loop> loops_of(const Tree& tree, std::span<const StreamLists> streams) {
  LoopCounter counter(tree);
  // A call is closed after those that it made, so callers have larger numbers.
  std::vector<std::uint64_t> occurrences(tree.nodes.size());
  const auto count = [&](std::span<const Item> list, std::uint64_t times) {
    for (const Item& item : list)
      if (item.node != stray_return) occurrences[item.node] += times * item.count;
  };
  for (const StreamLists& lists : streams)
    for (std::size_t depth = 0; depth < lists.open.size(); ++depth) {
      counter.add(depth == 0 ? 0 : lists.open[depth].function, lists.list(depth), 1);
      count(lists.list(depth), 1);
    }
  for (std::size_t node = tree.nodes.size(); node-- > 0;) {
    const auto list = tree.list(static_cast<std::uint32_t>(node));
    if (occurrences[node] == 0) continue;
    counter.add(tree.nodes[node].function, list, occurrences[node]);
    count(list, occurrences[node]);
  }
  return std::move(counter).loops();
}

namespace {

/// Walks through two streams side by side.
class Comparer {
 public:
  Comparer(const Tree& tree, std::size_t most) : tree_(tree), most_(most) {}

  Comparison run(const StreamLists& a, const StreamLists& b) {
    for (std::size_t depth = 0; !enough(); ++depth) {
      // An open call is at the end of its caller's list.
      const std::uint32_t next_a = depth + 1 < a.open.size() ? a.open[depth + 1].function : 0;
      const std::uint32_t next_b = depth + 1 < b.open.size() ? b.open[depth + 1].function : 0;
      lists(a.list(depth), b.list(depth), next_a, next_b);
      if (next_a == 0 || next_a != next_b) break;
      stack_.push_back(next_a);
    }
    return std::move(found_);
  }

 private:
  static constexpr std::size_t most_depth = 2000, most_steps = 10'000'000;

  bool enough() { return (found_.loops.size() >= most_ && found_.calls.size() >= most_) || ++steps_ > most_steps; }
  // A difference that recurs in the same place, in a later iteration, counts once.
  void note_calls(std::uint32_t a, std::uint32_t b) {
    const auto same = [&](const CallDifference& d) { return d.a == a && d.b == b && d.stack == stack_; };
    if (found_.calls.size() < most_ && std::ranges::none_of(found_.calls, same)) found_.calls.push_back({stack_, a, b});
  }
  void note_loop(std::vector<std::uint32_t> body, std::uint64_t a, std::uint64_t b) {
    const auto same = [&](const LoopDifference& d) { return d.body == body && d.stack == stack_; };
    if (found_.loops.size() < most_ && std::ranges::none_of(found_.loops, same))
      found_.loops.push_back({stack_, std::move(body), a, b});
  }

  void lists(std::span<const Item> a, std::span<const Item> b, std::uint32_t next_a, std::uint32_t next_b) {
    const std::vector<Repeated> calls_a = repeated_calls(tree_, a), calls_b = repeated_calls(tree_, b);
    const std::vector<Stretch> parts_a = stretches(calls_a), parts_b = stretches(calls_b);
    std::size_t i = 0;
    for (; i < parts_a.size() && i < parts_b.size() && !enough(); ++i) {
      const Stretch &s = parts_a[i], &t = parts_b[i];
      const std::vector<std::uint32_t> body = body_of(calls_a, s), other = body_of(calls_b, t);
      if (body != other) {
        // A stretch that runs once is not a loop: its calls are compared one by one.
        const std::size_t n = std::min(body.size(), other.size());
        std::size_t k = 0;
        while (k < n && body[k] == other[k]) ++k;
        if (k < n) {
          note_calls(body[k], other[k]);
        } else {
          note_loop(s.times > 1 ? body : other, s.times > 1 ? s.times : 1, t.times > 1 ? t.times : 1);
        }
        return;
      }
      if (s.times != t.times) note_loop(body, s.times, t.times);
      const std::size_t both = std::min(s.times, t.times) * s.period;
      for (std::size_t k = 0; k < both && !enough(); ++k) repeated(a, b, calls_a[s.first + k], calls_b[t.first + k]);
    }
    const std::uint32_t rest_a = i < parts_a.size() ? calls_a[parts_a[i].first].function : next_a;
    const std::uint32_t rest_b = i < parts_b.size() ? calls_b[parts_b[i].first].function : next_b;
    if (rest_a != rest_b) note_calls(rest_a, rest_b);
  }

  void repeated(std::span<const Item> a, std::span<const Item> b, const Repeated& in_a, const Repeated& in_b) {
    if (in_a.calls != in_b.calls) note_loop({in_a.function}, in_a.calls, in_b.calls);
    if (stack_.size() >= most_depth) return;
    // Compare calls one by one, but runs of equal calls together.
    std::size_t i = in_a.first, j = in_b.first;
    std::uint64_t left_a = a[i].count, left_b = b[j].count;
    while (!enough()) {
      if (a[i].node != b[j].node && seen_.emplace(a[i].node, b[j].node).second) {
        stack_.push_back(in_a.function);
        lists(tree_.list(a[i].node), tree_.list(b[j].node), 0, 0);
        stack_.pop_back();
      }
      const std::uint64_t n = std::min(left_a, left_b);
      if ((left_a -= n) == 0) {
        if (++i == in_a.end) return;
        left_a = a[i].count;
      }
      if ((left_b -= n) == 0) {
        if (++j == in_b.end) return;
        left_b = b[j].count;
      }
    }
  }

  const Tree& tree_;
  std::size_t most_, steps_ = 0;
  std::vector<std::uint32_t> stack_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;  ///< pairs of calls that were compared
  Comparison found_;
};

}  // namespace

Comparison compare(const Tree& tree, const StreamLists& a, const StreamLists& b, std::size_t most) {
  return Comparer(tree, most).run(a, b);
}

}  // namespace effort::calls
