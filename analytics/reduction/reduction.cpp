#include "analytics/reduction/reduction.hpp"

#include <algorithm>
#include <cmath>

#include "analytics/communication/call_tree.hpp"
#include "analytics/reduction/representatives.hpp"

namespace effort::reduction {

using communication::Call;
using communication::WaitTotals;

namespace {

std::int64_t stamp_ns(const communication::Record& record, const Stamp& stamp) {
  const Call& call = record.calls[stamp.call];
  return stamp.ends ? call.end_ns : call.begin_ns;
}

}  // namespace

std::vector<Violation> violations(const WaitTotals& full, const WaitTotals& reduced, double may_be_off) {
  constexpr double counts = 0.01, may_become = 0.02;  // shares of all waiting
  std::int64_t all = 0;
  for (const auto& ranks : full)
    for (const std::int64_t ns : ranks) all += ns;
  std::vector<Violation> out;
  for (std::size_t cause = 0; cause < full.size(); ++cause) {
    for (std::size_t rank = 0; rank < full[cause].size(); ++rank) {
      const std::int64_t before = full[cause][rank], after = reduced[cause][rank];
      const auto share = [&](std::int64_t ns) {
        return static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(all, 1));
      };
      const bool good = share(before) >= counts
                            ? std::abs(static_cast<double>(after - before)) <= may_be_off * static_cast<double>(before)
                            : share(after) < may_become || after <= before;
      if (!good)
        out.push_back({static_cast<communication::Cause>(cause), static_cast<std::int32_t>(rank), before, after});
    }
  }
  return out;
}

Reducer::Reducer(const communication::Record& record, const Segments& segments)
    : full_(record), rebuilt_(record), segments_(segments), location_of_(communication::call_tree(record).location_of) {
  waits_ = totals();
}

WaitTotals Reducer::totals() {
  return communication::total_waits(rebuilt_, communication::find_waits(rebuilt_), location_of_);
}

Reduced Reducer::reduce(const Method& method) {
  if (method.similarity != Similarity::bounded) return reduce_with(method, 0);
  const auto within = [&](const Reduced& r) { return violations(waits_, r.waits, method.threshold).empty(); };
  // There cannot be fewer than one segment of each class.
  if (Reduced out = reduce_with({Similarity::iter_avg, 0}, 0); within(out)) {
    out.method = method;
    return out;
  }
  std::int64_t longest = 0;
  for (const Segment& s : segments_.segments) longest = std::max(longest, s.end_ns - s.begin_ns);
  double tolerance = static_cast<double>(longest), factor = 2;
  Reduced best = reduce_with(method, 0);
  while (tolerance >= 1) {
    if (Reduced out = reduce_with(method, tolerance); within(out)) {
      best = std::move(out);
      break;
    }
    tolerance /= factor;
  }
  // Between the last tolerance that was too large and this one.
  constexpr int refinements = 4;
  for (int i = 0; i < refinements && tolerance >= 1; ++i) {
    factor = std::sqrt(factor);
    Reduced out = reduce_with(method, tolerance * factor);
    if (!within(out)) continue;
    tolerance *= factor;
    if (out.size_bytes < best.size_bytes) best = std::move(out);
  }
  return best;
}

Reduced Reducer::reduce_with(const Method& method, double tolerance) {
  Reduced out;
  out.method = method;
  out.segments = segments_.segments.size();
  std::vector<std::uint32_t> representative(segments_.segments.size());
  std::vector<double> stamps;
  std::vector<double> errors;
  errors.reserve(segments_.stamps.size());
  for (std::size_t first = 0; first < segments_.segments.size();) {
    const std::uint32_t location = segments_.segments[first].location;
    Representatives kept(method, tolerance);
    std::size_t end = first;
    for (; end < segments_.segments.size() && segments_.segments[end].location == location; ++end) {
      const Segment& segment = segments_.segments[end];
      stamps.clear();
      for (std::size_t i = segment.first; i < segment.end; ++i)
        stamps.push_back(static_cast<double>(stamp_ns(full_, segments_.stamps[i]) - segment.begin_ns));
      stamps.push_back(static_cast<double>(segment.end_ns - segment.begin_ns));
      const std::size_t before = kept.size();
      representative[end] = kept.add(segment.structure, stamps);
      const std::uint64_t bytes =
          bytes_per_event * (segment.end - segment.first) + bytes_per_exchange * segment.ends_of_messages;
      out.full_bytes += bytes;
      out.size_bytes += bytes_per_execution + (kept.size() > before ? bytes : 0);
    }
    out.stored += kept.size();
    out.classes += kept.classes();
    for (; first < end; ++first) {
      const Segment& segment = segments_.segments[first];
      const std::span<const double> as = kept.stamps(representative[first]);
      for (std::size_t i = segment.first; i < segment.end; ++i) {
        const Stamp& stamp = segments_.stamps[i];
        Call& call = rebuilt_.calls[stamp.call];
        const std::int64_t at = segment.begin_ns + std::llround(as[i - segment.first]);
        errors.push_back(std::abs(static_cast<double>(at - stamp_ns(full_, stamp))));
        (stamp.ends ? call.end_ns : call.begin_ns) = at;
      }
    }
  }
  for (Call& call : rebuilt_.calls) call.end_ns = std::max(call.begin_ns, call.end_ns);
  if (!errors.empty()) {
    const auto at = errors.begin() + static_cast<std::ptrdiff_t>((errors.size() - 1) * 9 / 10);
    std::nth_element(errors.begin(), at, errors.end());
    out.distance90_ns = std::llround(*at);
  }
  if (out.segments > out.classes)
    out.degree = static_cast<double>(out.segments - out.stored) / static_cast<double>(out.segments - out.classes);
  rebuilt_.clock_error_ns = full_.clock_error_ns + 2 * out.distance90_ns;
  out.waits = totals();
  out.violations = violations(waits_, out.waits);
  return out;
}

}  // namespace effort::reduction
