#include "adapters/pmpi/step_finder.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace effort::pmpi {
namespace {

constexpr std::size_t most_intervals = 192;
constexpr std::size_t most_stages = 4, longest_repeat = 16;
constexpr std::size_t least_in_a_row = 44, most_bursts = 24, least_level = 6;
constexpr double long_time = 2000;  // least steps
constexpr double outlier = 2.5;     // times the median
constexpr double most_long = 0.4, most_in_longer = 2.0 / 3, most = 0.5, least_alike = 0.85;

/// The quantile below which a fraction 1 / `parts` of the values lies.
double lowest(std::vector<double> v, std::size_t parts) {
  const auto at = v.begin() + static_cast<std::ptrdiff_t>(v.size() / parts);
  std::nth_element(v.begin(), at, v.end());
  return *at;
}
double median(const std::vector<double>& v) { return lowest(v, 2); }

/// The positions of a path's most recent calls, oldest first.
std::vector<std::size_t> calls_of(std::span<const Event> events, std::uint64_t path,
                                  std::size_t most_wanted = most_intervals) {
  std::vector<std::size_t> out;
  for (std::size_t i = events.size(); i-- > 0 && out.size() <= most_wanted;)
    if (events[i].path == path) out.push_back(i);
  std::reverse(out.begin(), out.end());
  return out;
}

/// Computation between successive calls.
std::vector<double> intervals_of(std::span<const Event> events, const std::vector<std::size_t>& calls) {
  std::vector<double> out;
  for (std::size_t i = 1; i < calls.size(); ++i)
    out.push_back(events[calls[i]].computed - events[calls[i - 1]].computed);
  return out;
}

bool alike(double d, double usual) { return d <= outlier * usual && d >= usual / outlier; }

bool is_long(double d, double usual) { return d > outlier * usual; }

/// Share of the computation that intervals with the usual amount account for.  Many longer ones in a row that are alike
/// are usual, too: the load has moved to this rank.
double regularity(const std::vector<double>& intervals) {
  const double usual = lowest(intervals, 3);  // not the median: in bursts of two, half of the intervals are long
  double all = 0, excess = 0;
  std::vector<double> row;  // of longer ones
  const auto end_row = [&] {
    const double level = row.size() >= least_level ? median(row) : usual;
    for (double d : row)
      if (!alike(d, level)) excess += d - usual;
    row.clear();
  };
  for (double d : intervals) {
    all += d;
    if (is_long(d, usual))
      row.push_back(d);
    else
      end_row();
  }
  end_row();
  return all > 0 ? 1 - excess / all : 0;
}

/// The same for paths with two kinds of intervals (for example, some steps also sort their particles): the share of
/// intervals, or of computation, that resembles the others of its kind, whichever is smaller.
double regularity_of_two(const std::vector<double>& intervals) {
  const double usual = median(intervals);
  std::vector<double> longer;
  for (double d : intervals)
    if (is_long(d, usual)) longer.push_back(d);
  if (longer.empty() || static_cast<double>(longer.size()) > most_long * static_cast<double>(intervals.size()))
    return 0;
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

/// The distances between the longer intervals, and the computation in them.
struct Longer {
  std::size_t apart = 0;   ///< the most frequent distance; 0: fewer than two intervals
  double as_usual = 0;     ///< share of the distances that equal it
  double computation = 0;  ///< share of it that lies in them

  bool regular() const { return apart >= 2 && as_usual > most_in_longer; }
  bool in_bursts() const { return regular() && computation > most_in_longer; }
};
Longer longer_ones(const std::vector<double>& intervals) {
  const double usual = lowest(intervals, 4);  // of bursts of two, half of the intervals are long
  std::map<std::size_t, std::size_t> distances;
  std::size_t last = intervals.size(), n = 0;
  double all = 0, in_longer = 0;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    all += intervals[i];
    if (!is_long(intervals[i], usual)) continue;
    in_longer += intervals[i];
    if (last < i) ++distances[i - last], ++n;
    last = i;
  }
  Longer out;
  for (const auto& [distance, times] : distances)
    if (static_cast<double>(times) > out.as_usual * static_cast<double>(n))
      out = {distance, static_cast<double>(times) / static_cast<double>(n), 0};
  out.computation = all > 0 ? in_longer / all : 0;
  return out;
}

/// Whether another path is called in the longer intervals but not in the others.  These then belong to an outer loop,
/// and the path in question to an inner one.
bool inner(std::span<const Event> events, const std::vector<std::size_t>& calls, const std::vector<double>& intervals) {
  const double usual = median(intervals);
  std::map<std::uint64_t, std::pair<std::size_t, std::size_t>> met;  // in longer ones, in others
  std::size_t longer = 0;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const bool is_longer = is_long(intervals[i], usual);
    longer += is_longer;
    std::set<std::uint64_t> here;
    for (std::size_t e = calls[i] + 1; e < calls[i + 1]; ++e) here.insert(events[e].path);
    for (std::uint64_t path : here) ++(is_longer ? met[path].first : met[path].second);
  }
  return std::any_of(met.begin(), met.end(), [&](const auto& m) {
    return 10 * m.second.first >= 9 * longer && 10 * m.second.second <= intervals.size() - longer;
  });
}

/// Whether a path's calls come in bursts: other MPI calls are made in the intervals between those, and none in the
/// others.
bool silent_bursts(std::span<const Event> events, const std::vector<std::size_t>& calls,
                   const std::vector<bool>& between) {
  std::size_t bursts = 0, others = 0;
  for (std::size_t i = 0; i < between.size(); ++i) {
    const bool talks = events[calls[i + 1]].calls > events[calls[i]].calls + 1;
    bursts += between[i];
    others += talks != between[i];
  }
  // If no other call is ever made, only the intervals between bursts differ from the expectation.
  return static_cast<double>(others) <= (1 - least_alike) * static_cast<double>(bursts);
}

/// Whether the path is still being called: the time since its last call is not much longer than a usual interval.
bool current(std::span<const Event> events, std::uint64_t path, double usual) {
  for (std::size_t i = events.size(); i-- > 0;)
    if (events[i].path == path) return events.back().computed - events[i].computed <= 3 * usual;
  return false;
}

/// A rule of single calls.
StepRule rule_of(std::uint64_t path, const std::vector<std::size_t>& calls, const std::vector<double>& intervals,
                 double confidence) {
  const std::size_t n = intervals.size();
  return {path,
          1,
          0,
          static_cast<std::uint32_t>(n),
          static_cast<std::uint32_t>((calls.back() - calls.front()) / n),
          confidence,
          median(intervals)};
}

/// The number of recurrences needed: more if calls have followed each other without another one in between, because all
/// of them may lie in one burst.
std::size_t needed(const std::vector<std::size_t>& calls) {
  std::size_t longest = 0, run = 0;
  for (std::size_t i = 1; i < calls.size(); ++i) {
    run = calls[i] == calls[i - 1] + 1 ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::clamp<std::size_t>(2 * longest, least_recurrences, least_in_a_row);
}

StepRule judge(std::span<const Event> events, std::uint64_t path, double least) {
  const std::vector<std::size_t> calls = calls_of(events, path);
  const std::vector<double> intervals = intervals_of(events, calls);
  if (intervals.size() < least_recurrences) return {};
  const double seen = events[calls.back()].computed - events[calls.front()].computed;
  if ((intervals.size() < needed(calls) && seen < long_time * least) || !current(events, path, median(intervals)))
    return {};
  const double confidence = regularity(intervals);
  return confidence < least_confidence ? StepRule{} : rule_of(path, calls, intervals, confidence);
}

/// Whether these may be bursts, of which judge_every has not seen enough yet.
bool perhaps_in_bursts(std::span<const Event> events, const std::vector<std::size_t>& calls,
                       const std::vector<double>& intervals, const Longer& longer) {
  if (!longer.regular() || intervals.size() >= (least_recurrences + 1) * longer.apart) return false;
  std::vector<bool> between;
  const double usual = lowest(intervals, 4);
  for (double d : intervals) between.push_back(is_long(d, usual));
  return longer.computation > most || silent_bursts(events, calls, between);
}

/// A path with two kinds of intervals.
StepRule judge_uneven(std::span<const Event> events, std::uint64_t path) {
  const std::vector<std::size_t> calls = calls_of(events, path);
  const std::vector<double> intervals = intervals_of(events, calls);
  if (intervals.size() < 2 * least_recurrences ||
      !current(events, path, *std::max_element(intervals.begin(), intervals.end())))
    return {};
  const Longer longer = longer_ones(intervals);
  const double confidence = regularity_of_two(intervals);
  if (perhaps_in_bursts(events, calls, intervals, longer) || longer.computation > most_in_longer ||
      confidence < least_alike || inner(events, calls, intervals))
    return {};
  return rule_of(path, calls, intervals, confidence);
}

/// Finds the stages of a step: an exactly repeated sequence of paths in which each occurs at most a few times.
StepRule find_repeat(std::span<const Event> events, double least) {
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
      const StepRule rule = judge(events, tail[i].path, least);
      if (rule.path == 0) continue;
      best = rule;
      longest = next;
    }
    return best;
  }
  return {};
}

/// Every k-th call of a path ends a step if the longest of k intervals is always at the same position and lies between
/// bursts.
/// @param steps  gets the calls that end one
StepRule judge_every(std::span<const Event> events, std::uint64_t path, std::size_t k,
                     std::vector<std::size_t>& steps) {
  const std::vector<std::size_t> calls = calls_of(events, path, most_bursts * k);
  const std::vector<double> intervals = intervals_of(events, calls);
  const std::size_t n = intervals.size(), periods = n / k;
  if (periods < least_recurrences) return {};
  // Interval i lies before call i + 1; the call before the longest of k intervals ends a step.
  std::vector<std::size_t> longest_at(k, 0);
  for (std::size_t p = 0; p < periods; ++p) {
    const auto from = intervals.begin() + static_cast<std::ptrdiff_t>(p * k);
    ++longest_at[static_cast<std::size_t>(std::max_element(from, from + static_cast<std::ptrdiff_t>(k)) - from)];
  }
  const auto closing =
      static_cast<std::size_t>(std::max_element(longest_at.begin(), longest_at.end()) - longest_at.begin());
  std::vector<double> between;
  std::vector<bool> is_between(n, false);
  for (std::size_t i = closing; i < n; i += k) between.push_back(intervals[i]), is_between[i] = true;
  if (static_cast<double>(longest_at[closing]) < least_alike * static_cast<double>(periods) ||
      !is_long(median(between), lowest(intervals, 4)))
    return {};
  const double computation = events[calls.back()].computed - events[calls.front()].computed;
  if (std::accumulate(between.begin(), between.end(), 0.0) <= most * computation &&
      !silent_bursts(events, calls, is_between))
    return {};
  steps.clear();
  for (std::size_t i = closing; i < calls.size(); i += k) steps.push_back(calls[i]);
  const std::vector<double> took = intervals_of(events, steps);
  const double confidence = std::max(regularity(took), regularity_of_two(took));
  if (confidence < least_confidence || !current(events, path, median(took))) return {};
  const auto every = static_cast<std::uint32_t>(k);
  const auto after_last = static_cast<std::uint32_t>((closing + k - n % k) % k);  // the last call is number n
  return {path,
          every,
          after_last == 0 ? every : after_last,
          static_cast<std::uint32_t>(took.size()),
          static_cast<std::uint32_t>((calls.back() - calls.front()) / periods),
          confidence,
          median(took)};
}

/// A path that comes in bursts of always the same number: every k-th call ends a step.  If bursts come in bursts, the
/// largest ones are used.
StepRule find_bursts(std::span<const Event> events, std::uint64_t path) {
  const std::size_t n = calls_of(events, path, events.size()).size();
  std::vector<std::size_t> steps;
  StepRule rule;
  for (std::size_t k = 2; rule.path == 0 && k * least_recurrences < n; ++k) rule = judge_every(events, path, k, steps);
  while (rule.path != 0) {
    const std::vector<double> intervals = intervals_of(events, steps);
    const Longer longer = longer_ones(intervals);
    // Steps that occasionally do more work are still steps, in particular if those contain another call.
    if (!longer.in_bursts() || inner(events, steps, intervals)) break;
    rule = judge_every(events, path, rule.every * longer.apart,
                       steps);  // if none is found, there may be too few of the larger ones so far
  }
  return rule;
}

}  // namespace

StepRule find_step(std::span<const Event> events, double least) {
  if (events.size() <= least_recurrences) return {};
  if (const StepRule stages = find_repeat(events, least); stages.path != 0 && stages.usual >= least) return stages;
  std::map<std::uint64_t, std::size_t> counts;
  for (const Event& e : events) ++counts[e.path];
  std::vector<std::pair<std::size_t, std::uint64_t>> by_count;
  for (const auto& [path, n] : counts) by_count.emplace_back(n, path);
  std::sort(by_count.rbegin(), by_count.rend());

  StepRule best;
  std::size_t best_count = 0;  // number of steps: the more there are, the shorter they are
  for (const auto& [n, path] : by_count) {
    StepRule rule = judge(events, path, least);
    if (rule.path == 0) rule = find_bursts(events, path);
    if (rule.path == 0 || rule.usual < least) continue;
    const std::size_t count = n / rule.every;
    const bool shorter = count > best_count + best_count / 8, as_short = count + count / 8 >= best_count;
    // A separate call is better evidence than the last call of a burst.
    const bool better = rule.every == 1 && (best.every > 1 || rule.confidence > best.confidence);
    if (best.path != 0 && !shorter && !(as_short && better)) continue;
    best = rule;
    best_count = count;
  }
  if (best.path != 0) return best;
  best = judge_uneven(events, by_count.front().second);
  return best.usual >= least ? best : StepRule{};
}

}  // namespace effort::pmpi
