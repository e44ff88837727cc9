// A trace reduced to representative segments, and the resulting loss.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analytics/communication/waits.hpp"
#include "analytics/reduction/methods.hpp"
#include "analytics/reduction/segments.hpp"

namespace effort::reduction {

/// Bytes of a plain file: an event is a number and a time, one end of a message or part in a collective has its
/// parameters, an execution of a segment is a number and a time.
inline constexpr std::uint64_t bytes_per_event = 12, bytes_per_exchange = 16, bytes_per_execution = 12;

/// A rank and cause of waiting for which the reduced trace leads to a wrong diagnosis.
struct Violation {
  communication::Cause cause = communication::Cause::late_sender;
  std::int32_t rank = 0;
  std::int64_t full_ns = 0, reduced_ns = 0;
};

/// Finds the waits of a reduced trace that would mislead.  A trend is retained if a cause's waiting on a rank is off by
/// at most the share `may_be_off`.  This applies to at least 1 % of all waiting; smaller waiting must stay below 2 %.
/// @param full, reduced  [causes][ranks] ns
std::vector<Violation> violations(const communication::WaitTotals& full, const communication::WaitTotals& reduced,
                                  double may_be_off = 0.2);

/// A method's result by the four criteria of Mohror & Karavanic 2009, section 4.3.
struct Reduced {
  Method method;
  std::uint64_t segments = 0, stored = 0;
  std::vector<std::uint64_t> stored_of;  ///< [Segments::contexts] those stored of each context
  std::uint64_t classes = 0;             ///< sets of segments that may match, each of one thread
  double degree = 1;                     ///< matches / (segments - classes); 1 if none can match
  std::uint64_t full_bytes = 0, size_bytes = 0;
  std::int64_t distance90_ns = 0;     ///< 90 % of the stamps of the rebuilt trace are off by at most this
  communication::WaitTotals waits;    ///< of the rebuilt trace: [causes][ranks] ns
  std::vector<Violation> violations;  ///< none: all performance trends are retained
};

class SharedSteps;

/// Reduces one trace by one method after the other.
class Reducer {
 public:
  /// Copies the record and keeps a reference to the segments.
  Reducer(const communication::Record& record, const Segments& segments);

  /// Time stamps of a rebuilt segment are those of its representative, after the segment's own start.  A call that
  /// would end before it begins gets no length.  find_waits() is told that clocks of the rebuilt trace are off by so
  /// much more that 90 % of the differences between the end of a send and the start of its receive are within it,
  /// whatever the method.
  ///
  /// Similarity::bounded looks for the fewest bytes with which no trend is off by more than its threshold: the mean of
  /// each class, Representatives with tolerances, SharedSteps, and the other methods with their default thresholds
  /// (docs/adr/0037).
  ///
  /// A trend is retained if a cause's waiting on a rank is off by at most 20 %.  This applies to at least 1 % of all
  /// waiting; smaller waiting must stay below 2 %.
  Reduced reduce(const Method& method);

  /// [causes][ranks] ns of the full trace.
  const communication::WaitTotals& waits() const { return waits_; }

 private:
  Reduced reduce_with(const Method& method, double tolerance_ns = 0);
  Reduced reduce_steps(const SharedSteps& steps, std::span<const double> allowed_ns, std::span<const double> gain);
  Reduced reduce_bounded(double threshold);
  template <typename Offer>
  void try_tolerances(const Offer& offer);
  template <typename Offer>
  void try_steps(double threshold, const Offer& offer);
  std::span<const double> stamps_of(const Segment& segment);
  void rebuild(const Segment& segment, std::span<const double> as);
  std::int64_t differences_off();
  void judge(Reduced& out);

  const communication::Record& full_;
  communication::Record rebuilt_;
  const Segments& segments_;
  std::vector<std::uint32_t> location_of_;
  communication::WaitTotals waits_;
  std::vector<double> stamps_, errors_;  ///< of the segment at hand; of all stamps so far
};

}  // namespace effort::reduction
