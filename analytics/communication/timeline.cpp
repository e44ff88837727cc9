#include "analytics/communication/timeline.hpp"

#include <algorithm>

namespace effort::communication {

void PathTimes::add(std::uint32_t path, std::int64_t amount) {
  if (amount <= 0) return;
  const std::uint32_t at = path == none ? static_cast<std::uint32_t>(ns.size() - 1) : path;
  if (ns[at] == 0) touched.push_back(at);
  ns[at] += amount;
}

void PathTimes::clear() {
  for (const std::uint32_t at : touched) ns[at] = 0;
  touched.clear();
}

namespace {

/// The segments of one location.
void append_segments(const Record& record, const Location& location, std::vector<TimelineSegment>& out) {
  std::vector<std::uint32_t> stack;
  const std::size_t first = out.size();
  const auto begin = [&](std::int64_t time, std::uint32_t call) {
    if (out.size() > first) time = std::max(time, out.back().begin_ns);  // if calls are not properly nested
    out.push_back({time, call});
  };
  const auto leave = [&] {
    const std::int64_t end = record.calls[stack.back()].end_ns;
    stack.pop_back();
    begin(end, stack.empty() ? none : stack.back());
  };
  for (std::size_t c = location.first_call; c < location.end_call; ++c) {
    const Call& call = record.calls[c];
    while (!stack.empty() && stack.back() != call.parent) leave();
    begin(call.begin_ns, static_cast<std::uint32_t>(c));
    stack.push_back(static_cast<std::uint32_t>(c));
  }
  while (!stack.empty()) leave();
}

}  // namespace

Timeline::Timeline(const Record& record, const CallTree& tree, const Waits& waits)
    : record_(record), tree_(tree), waits_(waits), wait_of_(record.calls.size(), none) {
  segments_.reserve(2 * record.calls.size());
  for (const Location& location : record.locations) {
    first_.push_back(segments_.size());
    append_segments(record, location, segments_);
    const auto at = std::lower_bound(waits.waits.begin(), waits.waits.end(), location.first_call,
                                     [](const Wait& w, std::size_t call) { return w.call < call; });
    first_wait_.push_back(static_cast<std::size_t>(at - waits.waits.begin()));
  }
  first_.push_back(segments_.size());
  first_wait_.push_back(waits.waits.size());
  for (std::size_t w = 0; w < waits.waits.size(); ++w) wait_of_[waits.waits[w].call] = static_cast<std::uint32_t>(w);
}

std::size_t Timeline::segment_at(std::size_t location, std::int64_t time_ns) const {
  const auto begin = segments_.begin() + static_cast<std::ptrdiff_t>(first_[location]);
  const auto end = segments_.begin() + static_cast<std::ptrdiff_t>(first_[location + 1]);
  const auto after = std::upper_bound(begin, end, time_ns,
                                      [](std::int64_t time, const TimelineSegment& s) { return time < s.begin_ns; });
  return static_cast<std::size_t>((after == begin ? begin : after - 1) - segments_.begin());
}

std::size_t Timeline::waits_until(std::size_t location, std::int64_t time_ns) const {
  const auto begin = waits_.waits.begin() + static_cast<std::ptrdiff_t>(first_wait_[location]);
  const auto end = waits_.waits.begin() + static_cast<std::ptrdiff_t>(first_wait_[location + 1]);
  const auto at =
      std::upper_bound(begin, end, time_ns, [&](std::int64_t time, const Wait& w) { return time < end_of(w); });
  return static_cast<std::size_t>(at - waits_.waits.begin());
}

void Timeline::add(std::size_t index, std::int64_t from_ns, std::int64_t to_ns, PathTimes& out) const {
  const TimelineSegment& segment = segments_[index];
  std::int64_t begin = std::max(from_ns, segment.begin_ns);
  const std::int64_t end = std::min(to_ns, segments_[index + 1].begin_ns);
  if (segment.call == none) {
    out.add(none, end - begin);
    return;
  }
  if (wait_of_[segment.call] != none) begin = std::max(begin, end_of(waits_.waits[wait_of_[segment.call]]));
  out.add(tree_.of_call[segment.call], end - begin);
}

void Timeline::times(std::size_t location, std::int64_t from_ns, std::int64_t to_ns, PathTimes& out) const {
  if (first_[location] == first_[location + 1]) return;
  for (std::size_t s = segment_at(location, from_ns); s + 1 < first_[location + 1]; ++s) {
    if (segments_[s].begin_ns >= to_ns) break;
    add(s, from_ns, to_ns, out);
  }
}

}  // namespace effort::communication
