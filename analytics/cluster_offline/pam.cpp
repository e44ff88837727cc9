#include "analytics/cluster_offline/pam.hpp"

#include "analytics/cluster/finish.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster/range.hpp"
#include "analytics/cluster_offline/screened.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace effort::cluster {

namespace {

// Labels, cost and sizes for given medoids.
Clustering around(const Kernels& kernels, const Signatures& signatures, std::vector<std::int32_t> medoids,
                  const InRange& range) {
  std::sort(medoids.begin(), medoids.end());
  const std::size_t k = medoids.size();
  const std::vector<double> scaled = rows_of(range.signatures(), medoids);
  const DistanceTable distances = kernels.distances(range.signatures(), {scaled, k, signatures.d});
  Clustering result;
  result.k = static_cast<int>(k);
  result.labels.resize(signatures.n);
  double sum = 0;
  for (std::size_t i = 0; i < signatures.n; ++i) {
    const double* row = distances.row(i);
    const double* best = std::min_element(row, row + k);
    result.labels[i] = static_cast<std::int32_t>(best - row);
    sum += *best;
  }
  result.cost = range.unscaled(sum / static_cast<double>(signatures.n));
  label_medoids(result, medoids);
  count_sizes(result);
  const std::vector<double> rows = rows_of(signatures, medoids);
  result.lone = lone_strata(result.sizes, {rows, k, signatures.d});
  result.medoids = std::move(medoids);
  return result;
}

std::vector<std::int32_t> search(const Kernels& kernels, const Signatures& objects, const PamParameters& parameters) {
  constexpr std::size_t large = 1024;  // below, the table in double precision stays in the cache
  if (objects.n >= large && parameters.swap == SwapRule::steepest) {
    const std::uint64_t largest = largest_bits(objects.values);
    const InRange unit(objects, largest == 0 ? 0 : -std::ilogb(std::bit_cast<double>(largest)));
    auto medoids = screened_medoids(kernels, unit.signatures(), parameters.k, parameters.max_swaps);
    if (!medoids.empty()) return medoids;
  }
  const DistanceTable distances = kernels.all_distances(objects);
  auto medoids = build_medoids(kernels, distances, parameters.k);
  swap_medoids(kernels, distances, medoids, parameters.swap, parameters.max_swaps);
  return medoids;
}

}  // namespace

template <typename ExecutionSpace>
Clustering pam(const ExecutionSpace& space, const Signatures& signatures, const PamParameters& parameters) {
  check_signatures(signatures);
  check_k(parameters.k, static_cast<std::int64_t>(signatures.n));
  check_table_size(signatures.n);
  if (parameters.max_swaps < 0) throw std::invalid_argument("max_swaps is negative: use 0 for BUILD alone");
  const KernelsOn<ExecutionSpace> kernels(space);
  const InRange range(signatures);
  return around(kernels, signatures, search(kernels, range.signatures(), parameters), range);
}

#define EFFORT_INSTANTIATE(Space) template Clustering pam(const Space&, const Signatures&, const PamParameters&);
EFFORT_FOR_EACH_SPACE(EFFORT_INSTANTIATE)
#undef EFFORT_INSTANTIATE

}  // namespace effort::cluster
