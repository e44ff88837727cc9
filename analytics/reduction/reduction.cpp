#include "analytics/reduction/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "analytics/communication/call_tree.hpp"
#include "analytics/reduction/representatives.hpp"
#include "analytics/reduction/shared_steps.hpp"

namespace effort::reduction {

using communication::Call;
using communication::WaitTotals;

namespace {

/// Shares of all waiting: a rank's waiting by one cause is a trend from the first on; other waiting must stay below the
/// second.
constexpr double counts = 0.01, may_become = 0.02;

double total_ns(const WaitTotals& waits) {
  std::int64_t sum = 0;
  for (const auto& ranks : waits)
    for (const std::int64_t ns : ranks) sum += ns;
  return static_cast<double>(sum);
}

std::int64_t stamp_ns(const communication::Record& record, const Stamp& stamp) {
  const Call& call = record.calls[stamp.call];
  return stamp.ends ? call.end_ns : call.begin_ns;
}

}  // namespace

std::vector<Violation> violations(const WaitTotals& full, const WaitTotals& reduced, double may_be_off) {
  const double all = std::max(1.0, total_ns(full));
  std::vector<Violation> out;
  for (std::size_t cause = 0; cause < full.size(); ++cause) {
    for (std::size_t rank = 0; rank < full[cause].size(); ++rank) {
      const std::int64_t before = full[cause][rank], after = reduced[cause][rank];
      const auto share = [&](std::int64_t ns) { return static_cast<double>(ns) / all; };
      const bool good = share(before) >= counts
                            ? std::abs(static_cast<double>(after - before)) <= may_be_off * static_cast<double>(before)
                            : share(after) < may_become || after <= before;
      if (!good)
        out.push_back({static_cast<communication::Cause>(cause), static_cast<std::int32_t>(rank), before, after});
    }
  }
  return out;
}

namespace {

std::uint64_t bytes_of(const Segment& segment) {
  return bytes_per_event * (segment.end - segment.first) + bytes_per_exchange * segment.ends_of_messages;
}

void store(const Segment& segment, Reduced& out) {
  ++out.stored;
  ++out.stored_of[segment.context];
  out.size_bytes += bytes_of(segment);
}

/// The value that 90 % are within; 0 if there are none.  Reorders them.
std::int64_t percentile90(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * 9 / 10);
  std::nth_element(values.begin(), at, values.end());
  return std::llround(*at);
}

}  // namespace

Reducer::Reducer(const communication::Record& record, const Segments& segments)
    : full_(record),
      rebuilt_(record),
      segments_(segments),
      location_of_(communication::call_tree(record).location_of),
      waits_(communication::total_waits(record, communication::find_waits(record), location_of_)) {}

Reduced Reducer::reduce(const Method& method) {
  return method.similarity == Similarity::bounded ? reduce_bounded(method.threshold) : reduce_with(method);
}

Reduced Reducer::reduce_bounded(double threshold) {
  const Method method{Similarity::bounded, threshold};
  std::optional<Reduced> best;
  const auto offer = [&](Reduced&& candidate) {
    const bool good = violations(waits_, candidate.waits, threshold).empty();
    if (good && (!best || candidate.size_bytes < best->size_bytes)) best = std::move(candidate);
    return good;
  };
  // There cannot be fewer than one segment of each class.
  if (!offer(reduce_with({Similarity::iter_avg, 0}))) {
    try_tolerances(offer);
    try_steps(threshold, offer);
    for (std::size_t s = 0; s < n_similarities; ++s) {
      const auto other = static_cast<Similarity>(s);
      if (other != Similarity::bounded && other != Similarity::iter_avg)
        offer(reduce_with({other, default_threshold(other)}));
    }
  }
  if (!best) best = reduce_with(method);  // all segments that differ
  best->method = method;
  return *best;
}

/// From the longest segment downwards by factors of 2, until the waits are right; then between the last tolerance that
/// was too large and this one.
template <typename Offer>
void Reducer::try_tolerances(const Offer& offer) {
  constexpr int refinements = 4;
  const Method method{Similarity::bounded, 0};
  double tolerance = 1, factor = 2;
  for (const Segment& s : segments_.segments)
    tolerance = std::max(tolerance, static_cast<double>(s.end_ns - s.begin_ns));
  while (tolerance >= 1 && !offer(reduce_with(method, tolerance))) tolerance /= factor;
  for (int i = 0; i < refinements && tolerance >= 1; ++i) {
    factor = std::sqrt(factor);
    if (offer(reduce_with(method, tolerance * factor))) tolerance *= factor;
  }
}

/// The begin times of segments are exact, so ranks are offset against each other differently than in the representative
/// step, and their waiting times change.  The ratio is learned for each rank and cause.  It is changed slowly, because
/// a small change of it may change many choices.
template <typename Offer>
void Reducer::try_steps(double threshold, const Offer& offer) {
  constexpr double most_attempts = 60, most_comparisons = 1e11, pace = 0.1;
  const SharedSteps steps(full_, segments_, communication::find_waits(full_), location_of_);
  if (!steps.exist()) return;
  const double total = total_ns(waits_);
  std::vector<double> allowed, gain(steps.entries().size(), 1);
  for (const SharedSteps::Entry& e : steps.entries()) {
    const auto own = static_cast<double>(waits_[e.cause][e.rank]);
    allowed.push_back(own >= counts * total ? threshold * own : may_become * total - own);
  }
  const double attempts = std::min(most_attempts, most_comparisons / std::max(1.0, steps.cost()));
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    Reduced out = reduce_steps(steps, allowed, gain);
    const WaitTotals waits = out.waits;
    if (offer(std::move(out))) return;
    for (std::size_t i = 0; i < gain.size(); ++i) {
      const SharedSteps::Entry& e = steps.entries()[i];
      const std::int64_t found = waits[e.cause][e.rank];
      if (found > 0)
        gain[i] *= std::pow(static_cast<double>(found) / static_cast<double>(waits_[e.cause][e.rank]), pace);
    }
  }
}

/// The stamps of a segment since its start, and its end.  Valid until the next call.
std::span<const double> Reducer::stamps_of(const Segment& segment) {
  stamps_.clear();
  for (std::size_t i = segment.first; i < segment.end; ++i)
    stamps_.push_back(static_cast<double>(stamp_ns(full_, segments_.stamps[i]) - segment.begin_ns));
  stamps_.push_back(static_cast<double>(segment.end_ns - segment.begin_ns));
  return stamps_;
}

/// Gives the segment the stamps of its representative.
void Reducer::rebuild(const Segment& segment, std::span<const double> as) {
  for (std::size_t i = segment.first; i < segment.end; ++i) {
    const Stamp& stamp = segments_.stamps[i];
    Call& call = rebuilt_.calls[stamp.call];
    const std::int64_t at = segment.begin_ns + std::llround(as[i - segment.first]);
    errors_.push_back(std::abs(static_cast<double>(at - stamp_ns(full_, stamp))));
    (stamp.ends ? call.end_ns : call.begin_ns) = at;
  }
}

Reduced Reducer::reduce_with(const Method& method, double tolerance) {
  Reduced out;
  out.method = method;
  out.stored_of.assign(segments_.contexts.size(), 0);
  std::vector<std::uint32_t> representative(segments_.segments.size());
  for (std::size_t first = 0; first < segments_.segments.size();) {
    const std::uint32_t location = segments_.segments[first].location;
    Representatives kept(method, tolerance);
    std::size_t end = first;
    for (; end < segments_.segments.size() && segments_.segments[end].location == location; ++end) {
      const Segment& segment = segments_.segments[end];
      const std::size_t before = kept.size();
      representative[end] = kept.add(segment.structure, stamps_of(segment));
      if (kept.size() > before) store(segment, out);
    }
    out.classes += kept.classes();
    for (; first < end; ++first) rebuild(segments_.segments[first], kept.stamps(representative[first]));
  }
  judge(out);
  return out;
}

Reduced Reducer::reduce_steps(const SharedSteps& steps, std::span<const double> allowed, std::span<const double> gain) {
  const std::vector<std::uint32_t> representative = steps.representatives(allowed, gain);
  Reduced out;
  out.stored_of.assign(segments_.contexts.size(), 0);
  std::set<std::pair<std::uint32_t, std::uint64_t>> classes;
  for (std::uint32_t i = 0; i < representative.size(); ++i) {
    const Segment& segment = segments_.segments[i];
    rebuild(segment, stamps_of(segments_.segments[representative[i]]));
    classes.emplace(segment.location, segment.structure);
    if (representative[i] == i) store(segment, out);
  }
  out.classes = classes.size();
  judge(out);
  return out;
}

/// By how much 90 % of the differences between the end of a send and the start of its receive are off.
std::int64_t Reducer::differences_off() {
  const auto difference = [](const communication::Record& record, const communication::Message& m) {
    return static_cast<double>(record.calls[m.receive_start].begin_ns - record.calls[m.send_done].end_ns);
  };
  std::vector<double> off;
  for (const communication::Message& m : full_.messages)
    if (m.send_done != communication::none && m.receive_start != communication::none)
      off.push_back(std::abs(difference(rebuilt_, m) - difference(full_, m)));
  return percentile90(off);
}

/// Completes the result once all segments are rebuilt.
void Reducer::judge(Reduced& out) {
  out.segments = segments_.segments.size();
  out.size_bytes += bytes_per_execution * out.segments;
  for (const Segment& segment : segments_.segments) out.full_bytes += bytes_of(segment);
  if (out.segments > out.classes)
    out.degree = static_cast<double>(out.segments - out.stored) / static_cast<double>(out.segments - out.classes);
  out.distance90_ns = percentile90(errors_);
  errors_.clear();
  for (Call& call : rebuilt_.calls) call.end_ns = std::max(call.begin_ns, call.end_ns);
  rebuilt_.clock_error_ns = full_.clock_error_ns + differences_off();
  out.waits = communication::total_waits(rebuilt_, communication::find_waits(rebuilt_), location_of_);
  out.violations = violations(waits_, out.waits);
}

}  // namespace effort::reduction
