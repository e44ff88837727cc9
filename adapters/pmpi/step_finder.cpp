#include "adapters/pmpi/step_finder.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace effort::pmpi {
namespace {

constexpr std::size_t most_intervals = 192;
constexpr std::size_t most_stages = 4, longest_repeat = 16, most_every = 16;
constexpr double outlier = 2.5;  // times the median
constexpr double most_long = 0.4, least_alike = 0.85;

double median(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

/// Where a path was called, the most recent calls, oldest first.
std::vector<std::size_t> calls_of(std::span<const Event> events, std::uint64_t path) {
  std::vector<std::size_t> out;
  for (std::size_t i = events.size(); i-- > 0 && out.size() <= most_intervals;)
    if (events[i].path == path) out.push_back(i);
  std::reverse(out.begin(), out.end());
  return out;
}

/// Computation between successive calls.
std::vector<double> intervals_of(std::span<const Event> events, const std::vector<std::size_t>& calls) {
  std::vector<double> out;
  for (std::size_t i = 1; i < calls.size(); ++i) out.push_back(events[calls[i]].computed - events[calls[i - 1]].computed);
  return out;
}

/// Share of the computation in intervals that is what such an interval usually has.
double regularity(const std::vector<double>& intervals) {
  const double usual = median(intervals);
  double all = 0, excess = 0;
  for (double d : intervals) {
    all += d;
    if (d > outlier * usual) excess += d - usual;
  }
  return all > 0 ? 1 - excess / all : 0;
}

bool alike(double d, double usual) { return d <= outlier * usual && d >= usual / outlier; }

/// The same where some intervals are longer, in a way of their own (a step that also sorts its particles): the smaller one
/// of the shares, of intervals and of computation, that are like the others of their sort.
double regularity_of_two(const std::vector<double>& intervals) {
  const double usual = median(intervals);
  std::vector<double> longer;
  for (double d : intervals)
    if (d > outlier * usual) longer.push_back(d);
  if (longer.empty() || static_cast<double>(longer.size()) > most_long * static_cast<double>(intervals.size())) return 0;
  const double usual_longer = median(longer);
  double all = 0, good = 0;
  std::size_t n_good = 0;
  for (double d : intervals) {
    all += d;
    if (!alike(d, usual) && !alike(d, usual_longer)) continue;
    good += d;
    ++n_good;
  }
  return all > 0 ? std::min(good / all, static_cast<double>(n_good) / static_cast<double>(intervals.size())) : 0;
}

/// Whether another path is called in the longer intervals and not in the others: then those belong to an outer loop, and
/// the path at hand to an inner one.
bool inner(std::span<const Event> events, const std::vector<std::size_t>& calls, const std::vector<double>& intervals) {
  const double usual = median(intervals);
  std::map<std::uint64_t, std::pair<std::size_t, std::size_t>> met;  // in longer ones, in others
  std::size_t longer = 0;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const bool is_long = intervals[i] > outlier * usual;
    longer += is_long;
    std::set<std::uint64_t> here;
    for (std::size_t e = calls[i] + 1; e < calls[i + 1]; ++e) here.insert(events[e].path);
    for (std::uint64_t path : here) ++(is_long ? met[path].first : met[path].second);
  }
  return std::any_of(met.begin(), met.end(), [&](const auto& m) {
    return 10 * m.second.first >= 9 * longer && 10 * m.second.second <= intervals.size() - longer;
  });
}

/// Whether the path is still being called: nothing much longer than a usual interval has passed since.
bool current(std::span<const Event> events, std::uint64_t path, double usual) {
  for (std::size_t i = events.size(); i-- > 0;)
    if (events[i].path == path) return events.back().computed - events[i].computed <= 3 * usual;
  return false;
}

StepRule judge(std::span<const Event> events, std::uint64_t path) {
  const std::vector<std::size_t> calls = calls_of(events, path);
  const std::vector<double> intervals = intervals_of(events, calls);
  if (intervals.size() < least_recurrences || !current(events, path, median(intervals))) return {};
  const double confidence = regularity(intervals);
  if (confidence < least_confidence) return {};
  return {path, 1, 0, static_cast<std::uint32_t>(intervals.size()), confidence};
}

/// A path with intervals of two sorts.
StepRule judge_uneven(std::span<const Event> events, std::uint64_t path) {
  const std::vector<std::size_t> calls = calls_of(events, path);
  const std::vector<double> intervals = intervals_of(events, calls);
  if (intervals.size() < 2 * least_recurrences || !current(events, path, *std::max_element(intervals.begin(), intervals.end()))) return {};
  const double confidence = regularity_of_two(intervals);
  if (confidence < least_alike || inner(events, calls, intervals)) return {};
  return {path, 1, 0, static_cast<std::uint32_t>(intervals.size()), confidence};
}

/// Stages of a step: an exact repeat of the last paths in which each occurs at most a few times.
StepRule find_repeat(std::span<const Event> events) {
  for (std::size_t length = 2; length <= longest_repeat; ++length) {
    const std::size_t needed = length * (least_recurrences + 1);
    if (events.size() < needed) return {};
    const auto tail = events.last(needed);
    bool repeats = true;
    for (std::size_t i = length; repeats && i < tail.size(); ++i) repeats = tail[i].path == tail[i - length].path;
    if (!repeats) continue;
    std::map<std::uint64_t, std::size_t> counts;
    for (const Event& e : tail.first(length)) ++counts[e.path];
    if (std::any_of(counts.begin(), counts.end(), [](const auto& c) { return c.second > most_stages; })) return {};
    // The step ends before the longest stretch of computation.
    StepRule best;
    double longest = -1;
    for (std::size_t i = 0; i < length; ++i) {
      const double next = tail[i + 1].computed - tail[i].computed;
      if (counts[tail[i].path] != 1 || next <= longest) continue;
      const StepRule rule = judge(events, tail[i].path);
      if (rule.path == 0) continue;
      best = rule;
      longest = next;
    }
    return best;
  }
  return {};
}

/// A path that comes in bursts of always the same number: every k-th call ends a step.
StepRule find_bursts(std::span<const Event> events, std::uint64_t path) {
  const std::vector<double> intervals = intervals_of(events, calls_of(events, path));
  for (std::size_t k = 2; k <= most_every && k * least_recurrences <= intervals.size(); ++k) {
    double all = 0, odd = 0, longest = -1;
    std::size_t boundary = 0;
    for (std::size_t place = 0; place < k; ++place) {
      std::vector<double> same;
      for (std::size_t i = place; i < intervals.size(); i += k) same.push_back(intervals[i]);
      const double usual = median(same);
      if (usual > longest) {
        longest = usual;
        boundary = place;
      }
      for (double d : same) {
        all += d;
        if (d > 1.5 * usual || d < usual / 1.5) odd += std::max(d, usual) - usual / 1.5;
      }
    }
    const double confidence = all > 0 ? 1 - odd / all : 0;
    if (confidence < least_confidence || !current(events, path, longest)) continue;
    // Interval i lies before call i + 1; the call before a longest interval ends a step.  The last call is number n.
    const std::size_t n = intervals.size();
    const auto after_last = static_cast<std::uint32_t>((boundary + k - n % k) % k);
    return {path, static_cast<std::uint32_t>(k), after_last == 0 ? static_cast<std::uint32_t>(k) : after_last,
            static_cast<std::uint32_t>(n / k), confidence};
  }
  return {};
}

}  // namespace

StepRule find_step(std::span<const Event> events, double least) {
  if (events.size() <= least_recurrences) return {};
  // Where calls come faster than steps can, they are the inside of something.
  if (const auto tail = events.last(std::min<std::size_t>(events.size(), least_recurrences));
      tail.back().computed - tail.front().computed < least * static_cast<double>(tail.size()) / most_every)
    return {};
  if (const StepRule stages = find_repeat(events); stages.path != 0) return stages;
  std::map<std::uint64_t, std::size_t> counts;
  for (const Event& e : events) ++counts[e.path];
  std::vector<std::pair<std::size_t, std::uint64_t>> by_count;
  for (const auto& [path, n] : counts) by_count.emplace_back(n, path);
  std::sort(by_count.rbegin(), by_count.rend());

  StepRule best;
  for (const auto& [n, path] : by_count) {
    const StepRule rule = judge(events, path);
    if (rule.path == 0) continue;
    if (best.path != 0 && (n + n / 8 < counts[best.path] || rule.confidence <= best.confidence)) continue;
    best = rule;
  }
  if (best.path == 0) best = find_bursts(events, by_count.front().second);
  if (best.path == 0) best = judge_uneven(events, by_count.front().second);
  return best;
}

}  // namespace effort::pmpi
