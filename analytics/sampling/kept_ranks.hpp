// Chooses the ranks of a window that are worth keeping in detail, once the window's loads and strata are known.
#pragma once

#include "analytics/sampling/planned_sample.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::sampling {

/// Why a rank is kept: a set of these.  The values are those of trace files (record::trace::Reason).
enum Reason : std::uint16_t {
  reason_sample = 1 << 0,       ///< drawn with a known probability; only these enter estimates
  reason_medoid = 1 << 1,       ///< represents its stratum
  reason_critical = 1 << 2,     ///< had the largest load
  reason_outlier = 1 << 3,      ///< its load is far from those of its stratum
  reason_pin = 1 << 4,          ///< requested by the user
  reason_rebalance = 1 << 5,    ///< least loaded in a window with a rebalance (the most loaded is critical)
  reason_jump = 1 << 6,         ///< its load changed most in a window in which the loads changed abruptly
  reason_mispredicted = 1 << 7  ///< farthest from its prediction, in a window that was predicted badly
};

/// Whether a rank was kept only because it stands for others.  The events of such a rank may be reduced to those of
/// similar steps.  The events of the others should show what really happened.
constexpr bool stands_for_others(std::uint16_t reasons) {
  return reasons != 0 && (reasons & ~(reason_sample | reason_medoid)) == 0;
}

/// A window as all nodes know it.
struct WindowFacts {
  std::span<const double> load;           ///< [n] finite, not negative
  std::span<const std::int32_t> stratum;  ///< [n] 0..strata-1
  int strata = 1;
  std::span<const std::int32_t> medoids;  ///< [strata]
  std::span<const double> before;         ///< [n] loads of the previous window; empty: not known
  std::span<const double> predicted;      ///< [n] for this window; empty: not known
  std::span<const std::int32_t> pinned;   ///< ascending; others than 0..n-1 are ignored
  bool rebalanced = false;                ///< a rebalance took place in it
  bool jumped = false;                    ///< the loads changed abruptly
  std::int64_t window = 0;                ///< number of the window, for the draw
};

/// A sample, before or after its window.
struct DrawnSample {
  PlannedSample plan;
  std::vector<std::int32_t> ranks;  ///< ascending
};

struct KeptRanks {
  struct Rank {
    std::int32_t rank = 0;
    std::uint16_t reasons = 0;
    double probability = 0;    ///< of being drawn
    std::int32_t stratum = 0;  ///< part of the sample that it belongs to
  };
  struct Stratum {
    std::int32_t population = 0, sample = 0;
  };
  std::vector<Rank> ranks;      ///< ascending
  std::vector<Stratum> strata;  ///< the parts of the sample
  Reached reached;              ///< accuracy of the first target's mean

  /// Whether something happened in the window that concerns all ranks: a rebalance or a jump.
  bool concerns_all_ranks() const;
  /// Whether ranks were drawn.
  bool has_sample() const;
};

/// Draws the sample that estimates the targets' means (plan_sample), and adds ranks that are of interest in
/// themselves.  Without groups, the critical rank and the outliers form a separate part that is taken whole, if that
/// saves ranks.  A single rank of huge load would make the others look alike, and estimates from a sample that may miss
/// it are not normally distributed.  If not all ranks are affordable, pinned ones come first, then the sample, then the
/// others in the order of Reason.  A sample that does not fit is drawn smaller, and the error reached says so.  Depends
/// on its arguments alone, so every node gets the same.
/// @param targets     at least one, [n] values each
/// @param affordable  the most ranks to keep, at least 0
/// Time O(n); memory O(n).
/// @throws std::invalid_argument as plan_samples()
KeptRanks choose_ranks(const WindowFacts& window, std::span<const Target> targets, std::span<const Group> groups,
                       std::int64_t affordable);

/// The same with a sample that was drawn before, which is kept whole.  The accuracy reached is not computed.
KeptRanks choose_ranks(const WindowFacts& window, const DrawnSample& sample, std::int64_t affordable);

}  // namespace effort::sampling
