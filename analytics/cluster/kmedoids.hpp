// The search for medoids on a table of distances: what PAM, CLARA's trials and the quality mode share.
#pragma once

#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/pam.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace effort::cluster {

/// BUILD: k candidates, each the one that lowers the cost most; the first of equals.  The first i of the result are
/// what BUILD gives for i.  Needs k <= columns.
template <typename T>
std::vector<std::int32_t> build_medoids(const Kernels& kernels, const Table<T>& distances, int k);

/// When SWAP takes a swap, and when it ends.
struct SwapLimits {
  std::size_t compared = 1024;  ///< candidates that are compared before the best of them is taken
  int swaps = std::numeric_limits<int>::max();
  std::function<bool(const std::vector<std::int32_t>&)> ended =
      {};  ///< these medoids are where to end, without another look
};

/// SWAP, in place, until no swap lowers the cost (by more than some roundings of it).
/// Returns the number of swaps made.
template <typename T>
int swap_medoids(const Kernels& kernels, const Table<T>& distances, std::vector<std::int32_t>& medoids,
                 const SwapLimits& limits);
int swap_medoids(const Kernels& kernels, const DistanceTable& distances, std::vector<std::int32_t>& medoids,
                 SwapRule rule, int max_swaps);

/// What the best swap with each candidate would add to the cost, [columns].
template <typename T>
std::vector<double> swap_changes(const Kernels& kernels, const Table<T>& distances, std::vector<std::int32_t> medoids);

}  // namespace effort::cluster
