#include "analytics/cluster/pam.hpp"

#include "analytics/cluster/finish.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster/range.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

namespace effort::cluster {

void check_table_size(std::size_t n) {
  constexpr std::size_t most = 65536;
  if (n > most)
    throw std::invalid_argument("too many objects for a table of all distances (" + std::to_string(n) + ", at most " +
                                std::to_string(most) + "): use CLARA or the quality mode");
}

void label_medoids(Clustering& clustering, std::span<const std::int32_t> medoids) {
  for (std::size_t slot = 0; slot < medoids.size(); ++slot)
    clustering.labels[static_cast<std::size_t>(medoids[slot])] = static_cast<std::int32_t>(slot);
}

void count_sizes(Clustering& clustering) {
  clustering.sizes.assign(static_cast<std::size_t>(clustering.k), 0);
  for (const std::int32_t label : clustering.labels) ++clustering.sizes[static_cast<std::size_t>(label)];
}

std::vector<std::int32_t> lone_strata(std::span<const std::int64_t> sizes, const Signatures& medoids) {
  std::vector<std::int32_t> lone;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) continue;
    const auto same = [&](std::size_t j) {
      return j != i && std::equal(medoids.row(i), medoids.row(i) + medoids.d, medoids.row(j));
    };
    bool coincides = false;
    for (std::size_t j = 0; j < sizes.size() && !coincides; ++j) coincides = same(j);
    if (!coincides) lone.push_back(static_cast<std::int32_t>(i));
  }
  return lone;
}

std::vector<double> rows_of(const Signatures& signatures, std::span<const std::int32_t> ids) {
  std::vector<double> rows;
  rows.reserve(ids.size() * signatures.d);
  for (const std::int32_t id : ids) {
    const double* row = signatures.row(static_cast<std::size_t>(id));
    rows.insert(rows.end(), row, row + signatures.d);
  }
  return rows;
}

namespace {

// Labels, cost and sizes for medoids, from the objects' distances to them.
Clustering around(const Workers& workers, const Signatures& signatures, std::vector<std::int32_t> medoids,
                  const InRange& range) {
  std::sort(medoids.begin(), medoids.end());
  const std::size_t k = medoids.size();
  const std::vector<double> scaled = rows_of(range.signatures(), medoids);
  const DistanceTable distances = distances_between(workers, range.signatures(), {scaled, k, signatures.d});
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

std::vector<std::int32_t> search(const Workers& workers, const Signatures& objects, const PamParameters& parameters) {
  constexpr std::size_t large = 1024;  // below, the exact table stays in the cache
  if (objects.n >= large && parameters.swap == SwapRule::steepest) {
    const std::uint64_t largest = kernels::table().largest_bits(objects.values.data(), objects.values.size());
    const int exponent = largest == 0 ? 0 : -std::ilogb(std::bit_cast<double>(largest));
    const InRange unit(objects, exponent);
    auto medoids = screened_medoids(workers, unit.signatures(), parameters.k, parameters.max_swaps);
    if (!medoids.empty()) return medoids;
  }
  const DistanceTable distances = all_distances(workers, objects);
  auto medoids = build_medoids(workers, distances, parameters.k);
  swap_medoids(workers, distances, medoids, parameters.swap, parameters.max_swaps);
  return medoids;
}

}  // namespace

template <typename ExecutionSpace>
Clustering pam(const ExecutionSpace& space, const Signatures& signatures, const PamParameters& parameters) {
  check_signatures(signatures);
  check_k(parameters.k, static_cast<std::int64_t>(signatures.n));
  check_table_size(signatures.n);
  if (parameters.max_swaps < 0) throw std::invalid_argument("max_swaps is negative: use 0 for BUILD alone");
  const KokkosWorkers<ExecutionSpace> workers(space);
  const InRange range(signatures);
  return around(workers, signatures, search(workers, range.signatures(), parameters), range);
}

#define EFFORT_INSTANTIATE(Space) template Clustering pam(const Space&, const Signatures&, const PamParameters&);
EFFORT_FOR_EACH_SPACE(EFFORT_INSTANTIATE)

}  // namespace effort::cluster
