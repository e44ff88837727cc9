// The segments of one thread, some of which are kept to represent all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analytics/reduction/methods.hpp"

namespace effort::reduction {

/// Decides, one segment after the other, whether a kept one is similar (Mohror & Karavanic 2009, section 3.1).  Only
/// segments of equal structure are compared.  The first similar one is taken.  The paper does not say whether the first
/// or the nearest; its loop ends at the first.
///
/// With Similarity::bounded, no stamp of a representative is off by more than the tolerance, and neither is the sum of
/// the errors so far, for any stamp of a class: errors are fed back, as in error diffusion, so that they do not add up.
/// Of up to 32 candidates with the nearest ends, the one that leaves the smallest sums is taken.
class Representatives {
 public:
  /// @param tolerance_ns  of Similarity::bounded: largest error of a stamp
  explicit Representatives(const Method& method, double tolerance_ns = 0);

  /// @param structure  segments are compared if it is equal; then they have the same number of stamps
  /// @param stamps     ns since the segment's start, ascending; the last one is its end.  At least one.
  /// @return number of its representative, from 0
  /// Cost: O(stamps x kept segments of the class), usually far less: those with ends that are too different are
  /// skipped.
  std::uint32_t add(std::uint64_t structure, std::span<const double> stamps);

  std::size_t size() const { return first_.size() - 1; }
  std::size_t classes() const { return classes_.size(); }
  /// The stamps of a representative.  With iter_avg they are the means of all segments so far.
  std::span<const double> stamps(std::uint32_t number) const {
    return {stamps_.data() + first_[number], first_[number + 1] - first_[number]};
  }

 private:
  struct Class {
    std::vector<std::uint32_t> kept;
    std::vector<double> ends;     ///< [kept] last stamp, with bounded ascending; of wavelets the first coefficient
    std::vector<double> largest;  ///< [kept] by which T is multiplied
    std::vector<double> errors;   ///< [stamps] sums of bounded
    double count = 0;             ///< segments so far, of iter_avg
  };

  std::uint32_t keep(Class& into, std::span<const double> stamps, double end, double largest);
  std::uint32_t first_similar(Class& in, std::span<const double> stamps);
  std::uint32_t first_similar_wave(Class& in, std::span<const double> stamps);
  std::uint32_t nearest(Class& in, std::span<const double> stamps);
  std::uint32_t average(Class& in, std::span<const double> stamps);
  bool similar(std::span<const double> x, std::span<const double> y, double limit) const;

  Method method_;
  double tolerance_;
  std::unordered_map<std::uint64_t, Class> classes_;
  std::vector<std::size_t> first_ = {0};  ///< [kept + 1]
  std::vector<double> stamps_;
  std::vector<double> waves_;  ///< transforms of all kept segments
  std::vector<std::size_t> first_wave_ = {0};
  std::vector<double> wave_;   ///< of the segment at hand
  std::vector<double> means_;  ///< scratch of its transform
};

}  // namespace effort::reduction
