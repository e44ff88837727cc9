#include "analytics/cluster_offline/quality.hpp"

#include "analytics/cluster/assignment.hpp"
#include "analytics/cluster/finish.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster/range.hpp"
#include "analytics/cluster_offline/quality_search.hpp"
#include "analytics/cluster_offline/single_rows.hpp"
#include "analytics/sampling/draw.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace effort::cluster {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::size_t few = 1024;   // up to this many objects, all starts use all of them
constexpr std::size_t some = 2048;  // up to this many, the best starts are refined on all pairs

struct Costed {
  Ids medoids;
  Assignment assignment;
  double cost = 0;
};

Costed evaluate(const Kernels& kernels, const Signatures& objects, Ids medoids) {
  std::sort(medoids.begin(), medoids.end());
  const auto rows = rows_of(objects, medoids);
  MedoidSets sets{{rows, medoids.size(), objects.d}, medoids.size(), {{}}};
  for (std::size_t slot = 0; slot < medoids.size(); ++slot) sets.sets[0].push_back(static_cast<std::int32_t>(slot));
  const std::uint64_t largest = largest_bits(objects.values);
  FixedUnit unit;
  unit.bits = FixedUnit::bits_for(static_cast<std::int64_t>(objects.n));
  unit.limit_exponent = limit_of(largest, objects.d);
  Costed result{std::move(medoids), kernels.assign(objects, sets, unit), 0};
  result.cost = unit.value(result.assignment.cost[0]) / static_cast<double>(objects.n);
  return result;
}

std::vector<double> column_medians(const Signatures& objects) {
  std::vector<double> medians, column(objects.n);
  for (std::size_t j = 0; j < objects.d; ++j) {
    for (std::size_t i = 0; i < objects.n; ++i) column[i] = objects.row(i)[j];
    const auto middle = column.begin() + static_cast<std::ptrdiff_t>(objects.n / 2);
    std::nth_element(column.begin(), middle, column.end());
    medians.push_back(*middle);
  }
  return medians;
}

// Refines in single precision if its rounding is small against the cost, else in double precision.
Ids refine(const Kernels& kernels, const Signatures& objects, const Signatures& sample, double sample_cost,
           const std::vector<Ids>& starts, std::uint64_t seed) {
  constexpr double most_lost = 1e-4;  // of the cost
  const std::uint64_t largest = largest_bits(objects.values);
  if (sample_cost > 0) {
    const double factor = std::ldexp(1.0, -std::ilogb(std::bit_cast<double>(largest)));
    const SingleRows single(objects, column_medians(sample), factor);
    const double mean_norm =
        std::accumulate(single.norms.begin(), single.norms.end(), 0.0) / static_cast<double>(objects.n);
    if (mean_norm * std::numeric_limits<float>::epsilon() <= most_lost * factor * sample_cost)
      return refine_starts(kernels, RowsOf<float>{single.values.data(), objects.n, objects.d}, starts, seed);
  }
  return refine_starts(kernels, RowsOf<double>{objects.values.data(), objects.n, objects.d}, starts, seed);
}

Ids search(const Kernels& kernels, const Signatures& objects, const QualityParameters& parameters) {
  const int starts = parameters.starts > 0 ? parameters.starts : 12;
  const auto k = static_cast<std::size_t>(parameters.k);
  const std::size_t wanted = std::clamp<std::size_t>(24 * k, 512, 4096);
  const std::size_t size = std::min(objects.n, objects.n <= std::max(few, wanted) ? objects.n : std::max(wanted, k));
  const Ids ids = sampling::draw_without_replacement(static_cast<std::int64_t>(objects.n),
                                                     static_cast<std::int64_t>(size), parameters.seed, 0);
  const auto rows = rows_of(objects, ids);
  const Signatures sample{rows, size, objects.d};
  std::vector<Ids> sets;
  double cost = 0;
  for (Start& start : search_starts(kernels, kernels.all_distances(sample), parameters.k, starts, parameters.seed)) {
    if (sets.empty()) cost = start.cost / static_cast<double>(size);
    for (std::int32_t& medoid : start.medoids) medoid = ids[static_cast<std::size_t>(medoid)];
    sets.push_back(std::move(start.medoids));
  }
  if (size == objects.n) return sets[0];
  if (objects.n <= some) return best_of_starts(kernels, kernels.all_distances(objects), sets, parameters.seed).medoids;
  return refine(kernels, objects, sample, cost, sets, parameters.seed);
}

}  // namespace

template <typename ExecutionSpace>
Clustering quality(const ExecutionSpace& space, const Signatures& signatures, const QualityParameters& parameters) {
  check_signatures(signatures);
  check_k(parameters.k, static_cast<std::int64_t>(signatures.n));
  if (parameters.starts < 0) throw std::invalid_argument("starts is negative: pass a number of searches, or 0");
  if (parameters.k > 4096)
    throw std::invalid_argument("too many strata for the quality mode (" + std::to_string(parameters.k) +
                                "): at most 4096");
  const KernelsOn<ExecutionSpace> kernels(space);
  const InRange range(signatures);
  Costed found = evaluate(kernels, range.signatures(), search(kernels, range.signatures(), parameters));
  Clustering result;
  result.k = parameters.k;
  result.labels.assign(found.assignment.labels.begin(), found.assignment.labels.end());
  result.cost = range.unscaled(found.cost);
  label_medoids(result, found.medoids);
  count_sizes(result);
  const auto rows = rows_of(signatures, found.medoids);
  result.lone = lone_strata(result.sizes, {rows, found.medoids.size(), signatures.d});
  result.medoids = std::move(found.medoids);
  return result;
}

#define EFFORT_INSTANTIATE(Space) \
  template Clustering quality(const Space&, const Signatures&, const QualityParameters&);
EFFORT_FOR_EACH_SPACE(EFFORT_INSTANTIATE)
#undef EFFORT_INSTANTIATE

}  // namespace effort::cluster
