// The search for medoids on a table of distances, shared by PAM, CLARA's trials and the quality mode.
#pragma once

#include "analytics/cluster/kernels.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

namespace effort::cluster {

/// BUILD: adds k candidates one by one, each the one that lowers the cost most; ties go to the first.  The first i of
/// the result are the result for k = i.  Requires k <= columns.
template <typename T>
std::vector<std::int32_t> build_medoids(const Kernels& kernels, const Table<T>& distances, int k);

/// How SWAP chooses: the best of all swaps each time (as in R's original), or every swap that improves at once.
enum class SwapRule { steepest, eager };

/// Whether a swap lowers the cost by more than rounding errors of sums on a table of T.
template <typename T>
bool improves(const Change& change, double cost) {
  const double least = std::is_same_v<T, float> ? 8.0 * std::numeric_limits<float>::epsilon()
                                                : 16 * std::numeric_limits<double>::epsilon();
  return change.candidate >= 0 && change.amount < -least * cost;
}

/// When SWAP accepts a swap, and when it ends.
struct SwapLimits {
  std::size_t compared = 1024;  ///< candidates that are compared before the best swap among them is made
  int swaps = std::numeric_limits<int>::max();
  std::function<bool(const std::vector<std::int32_t>&)> ended = {};  ///< returns whether to stop at these medoids
};

/// SWAP, in place, until no swap lowers the cost by more than rounding errors.  Returns the number of swaps.
template <typename T>
int swap_medoids(const Kernels& kernels, const Table<T>& distances, std::vector<std::int32_t>& medoids,
                 const SwapLimits& limits);
int swap_medoids(const Kernels& kernels, const DistanceTable& distances, std::vector<std::int32_t>& medoids,
                 SwapRule rule, int max_swaps);

/// The change in cost by the best swap with each candidate, [columns].
template <typename T>
std::vector<double> swap_changes(const Kernels& kernels, const Table<T>& distances, std::vector<std::int32_t> medoids);

}  // namespace effort::cluster
