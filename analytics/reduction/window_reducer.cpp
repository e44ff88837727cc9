#include "analytics/reduction/window_reducer.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "analytics/reduction/mixed.hpp"
#include "analytics/trace/coder.hpp"

namespace effort::reduction {

using trace::Event;
using trace::Kind;

namespace {

constexpr std::size_t bytes_of_class = 512;

bool is_boundary(const Event& e) { return e.kind == Kind::enter || e.kind == Kind::leave; }

/// A hash of a segment's thread and of its events, without their times, tags and sizes.
std::uint64_t structure_of(const trace::Place& place, std::span<const Event> events) {
  std::uint64_t hash = mixed(static_cast<std::uint32_t>(place.rank), static_cast<std::uint32_t>(place.thread));
  for (const Event& e : events) {
    const auto what = static_cast<std::uint64_t>(e.kind) << 32 | e.id;
    hash = mixed(hash, mixed(what, static_cast<std::uint32_t>(e.peer)));
  }
  return mixed(hash, events.size());
}

/// ns since the first event, ascending: the begins and ends of calls (without any, all events), and the end.
void stamps_of(std::span<const Event> events, std::int64_t end_ns, std::vector<double>& stamps) {
  stamps.clear();
  const bool has_calls = std::any_of(events.begin(), events.end(), is_boundary);
  const std::int64_t begin = events.front().time_ns;
  std::int64_t last = 0;
  for (const Event& e : events) {
    last = std::max(last, e.time_ns - begin);
    if (is_boundary(e) || !has_calls) stamps.push_back(static_cast<double>(last));
  }
  stamps.push_back(static_cast<double>(std::max(last, end_ns - begin)));
}

}  // namespace

WindowReducer::WindowReducer(const Method& method, const Limits& limits) : method_(method), limits_(limits) {
  if (!decides_at_once(method.similarity))
    throw std::invalid_argument(std::string(similarity_text(method.similarity)) +
                                " needs the whole trace: use effort trace reduce");
}

void WindowReducer::restart(Class& of) {
  for (const Candidate& c : of.candidates)
    if (c.number != in_full) forgotten_.push_back(c.number);
  bytes_ -= of.bytes;
  of.kept = Representatives(method_);
  of.candidates.clear();
  of.segments = of.matches = of.bytes = 0;
}

WindowReducer::Class& WindowReducer::class_of(std::uint64_t structure) {
  const auto [at, fresh] = classes_.try_emplace(structure, method_);
  if (fresh) bytes_ += bytes_of_class;
  at->second.last_used = windows_;
  return at->second;
}

/// The number of a segment's representative, or in_full.
std::int64_t WindowReducer::find(Class& in, std::uint64_t structure, std::span<const Event> segment, Plan& plan) {
  constexpr int longest_rest = 6;
  if (in.rest > 0) {
    --in.rest;
    return in_full;
  }
  const bool counts = method_.similarity == Similarity::iter_k;
  const std::uint32_t kept = in.kept.add(structure, stamps_);
  ++in.segments;
  if (kept < in.candidates.size()) {
    Candidate& c = in.candidates[kept];
    ++in.matches;
    ++c.matches;
    if (!counts && 2 * in.matches < in.segments) return in_full;
    if (c.number == in_full && (counts || c.matches > 1)) {
      c.number = next_++;
      plan.added.push_back(std::exchange(c.offsets, {}));
    }
    return c.number;
  }
  Candidate& c = in.candidates.emplace_back();
  std::int64_t last = 0;
  for (const Event& e : segment) {
    last = std::max(last, e.time_ns - segment.front().time_ns);
    c.offsets.push_back(last);
  }
  // A wavelet is at most twice as long as its segment, and the coder stores the times as well.
  const bool has_wave = method_.similarity == Similarity::avg_wave || method_.similarity == Similarity::haar_wave;
  const std::size_t bytes = 128 + 8 * segment.size() + 8 * (has_wave ? 3 : 1) * stamps_.size();
  in.bytes += bytes;
  bytes_ += bytes;
  if (!counts && in.candidates.size() >= limits_.most_kept) {
    in.vain = in.matches < in.candidates.size() ? std::min(in.vain + 1, longest_rest + 1) : 0;
    if (in.vain > 0) in.rest = limits_.most_kept << (in.vain - 1);
    restart(in);
  }
  return in_full;
}

/// Makes room for a quarter of the limit.
void WindowReducer::drop_oldest() {
  if (bytes_ <= limits_.most_bytes) return;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_use;
  for (const auto& [structure, c] : classes_) by_use.emplace_back(c.last_used, structure);
  std::sort(by_use.begin(), by_use.end());
  for (const auto& [used, structure] : by_use) {
    if (bytes_ <= limits_.most_bytes / 4 * 3) break;
    restart(classes_.at(structure));
    classes_.erase(structure);
    bytes_ -= bytes_of_class;
  }
}

WindowReducer::Plan WindowReducer::plan(const trace::Place& place, std::span<const Event> events, std::int64_t end_ns) {
  Plan plan;
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < events.size(); ++i)
    if (i == 0 || events[i].kind == Kind::step) begins.push_back(i);
  if (events.size() > trace::most_reduced_events || begins.size() > trace::most_segments) return plan;
  ++windows_;
  for (std::size_t s = 0; s < begins.size(); ++s) {
    const bool last = s + 1 == begins.size();
    const auto segment = events.subspan(begins[s], (last ? events.size() : begins[s + 1]) - begins[s]);
    stamps_of(segment, last ? end_ns : events[begins[s + 1]].time_ns, stamps_);
    if (segment.size() < limits_.least_events) {
      plan.representatives.push_back(in_full);
      continue;
    }
    const std::uint64_t structure = structure_of(place, segment);
    plan.representatives.push_back(find(class_of(structure), structure, segment, plan));
  }
  drop_oldest();
  if (std::all_of(plan.representatives.begin(), plan.representatives.end(), [](auto r) { return r == in_full; }))
    plan.representatives.clear();
  else
    plan.forgotten = std::exchange(forgotten_, {});
  return plan;
}

}  // namespace effort::reduction
