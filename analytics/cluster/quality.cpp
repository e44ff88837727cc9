#include "analytics/cluster/quality.hpp"

#include "analytics/cluster/assignment.hpp"
#include "analytics/cluster/finish.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster/range.hpp"
#include "analytics/sampling/draw.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace effort::cluster {
namespace {

using kernels::lanes;
using Ids = std::vector<std::int32_t>;

constexpr std::size_t candidates_per_medoid = 8;
constexpr int refinements = 2;
constexpr std::size_t objects_per_sum = 1024;  // fixed, so that sums do not depend on the number of workers

// Medoids on all pairs, where the batch would be most of the objects.
Ids search_all(const Workers& workers, const Signatures& objects, int k) {
  const DistanceTable distances = all_distances(workers, objects);
  Ids medoids = build_medoids(workers, distances, k);
  swap_medoids(workers, distances, medoids, SwapRule::eager, std::numeric_limits<int>::max());
  return medoids;
}

struct Estimated {
  Ids medoids;
  std::vector<Ids> replacements;  // [k] the most promising ones of each medoid
};

// Medoids by the objective of a batch.
Estimated search_batch(const Workers& workers, const Signatures& objects, const QualityParameters& parameters,
                       std::size_t size) {
  const Ids batch = sampling::draw_without_replacement(static_cast<std::int64_t>(objects.n),
                                                       static_cast<std::int64_t>(size), parameters.seed, 0);
  const auto rows = rows_of(objects, batch);
  const Signatures members{rows, size, objects.d};
  Ids medoids;
  for (const std::int32_t i : build_medoids(workers, all_distances(workers, members), parameters.k))
    medoids.push_back(batch[static_cast<std::size_t>(i)]);
  DistanceTable distances = distances_between(workers, members, objects);
  // A member of the batch counts itself at no distance, which other candidates cannot match: so it counts as far.
  for (std::size_t j = 0; j < size; ++j)
    distances.row(j)[batch[j]] = *std::max_element(distances.row(j), distances.row(j) + objects.n);
  swap_medoids(workers, distances, medoids, SwapRule::eager, std::numeric_limits<int>::max());
  return {medoids, best_replacements(workers, distances, medoids, candidates_per_medoid)};
}

// The exact change of the cost by each single replacement.
class Replacements {
 public:
  Replacements(const Signatures& objects, const Estimated& estimated)
      : objects_(objects), k_(estimated.medoids.size()), points_(estimated.medoids) {
    for (std::size_t slot = 0; slot < k_; ++slot)
      for (const std::int32_t candidate : estimated.replacements[slot]) {
        points_.push_back(candidate);
        slot_.push_back(slot);
      }
    rows_ = rows_of(objects, points_);
  }

  std::size_t count() const { return slot_.size(); }
  std::size_t slot(std::size_t i) const { return slot_[i]; }
  std::int32_t candidate(std::size_t i) const { return points_[k_ + i]; }

  // [count()] sums over all objects of the distance to the nearest medoid after the replacement minus before.
  std::vector<double> changes(const Workers& workers) const {
    const std::size_t blocks = (objects_.n + objects_per_sum - 1) / objects_per_sum;
    const std::size_t pieces = std::min(blocks, workers.concurrency());
    std::vector<double> sums(blocks * count(), 0.0);
    std::vector<double> scratch(pieces * lanes * (objects_.d + points_.size()));
    workers.run("effort::cluster::refine", pieces, [&](std::size_t piece) {
      double* own = scratch.data() + piece * lanes * (objects_.d + points_.size());
      for (std::size_t block = piece; block < blocks; block += pieces) {
        const std::size_t end = std::min(objects_.n, (block + 1) * objects_per_sum);
        for (std::size_t first = block * objects_per_sum; first < end; first += lanes)
          add_tile(first, std::min(lanes, end - first), own, sums.data() + block * count());
      }
    });
    std::vector<double> total(count(), 0.0);
    for (std::size_t block = 0; block < blocks; ++block)
      for (std::size_t i = 0; i < count(); ++i) total[i] += sums[block * count() + i];
    return total;
  }

 private:
  void add_tile(std::size_t first, std::size_t count_here, double* scratch, double* sums) const {
    const auto& kernel = kernels::table();
    double* tile = scratch;
    double* distances = scratch + lanes * objects_.d;
    kernel.load_tile(objects_.row(first), objects_.d, count_here, objects_.d, tile);
    kernel.squared(tile, rows_.data(), points_.size(), objects_.d, distances);
    kernel.root(distances, points_.size() * lanes);
    for (std::size_t l = 0; l < count_here; ++l) {
      double nearest = std::numeric_limits<double>::max(), second = nearest;
      std::size_t at = 0;
      for (std::size_t slot = 0; slot < k_; ++slot) {
        const double distance = distances[slot * lanes + l];
        if (distance < nearest) {
          second = nearest;
          nearest = distance;
          at = slot;
        } else {
          second = std::min(second, distance);
        }
      }
      for (std::size_t i = 0; i < slot_.size(); ++i)
        sums[i] += std::min(distances[(k_ + i) * lanes + l], slot_[i] == at ? second : nearest) - nearest;
    }
  }

  const Signatures& objects_;
  std::size_t k_;
  Ids points_;                     // medoids, then candidates
  std::vector<std::size_t> slot_;  // of each candidate
  std::vector<double> rows_;
};

// The best replacement of each medoid by the exact cost; each must lower it on its own.
bool refine(const Workers& workers, const Signatures& objects, Estimated& estimated) {
  const Replacements replacements(objects, estimated);
  const std::vector<double> changes = replacements.changes(workers);
  std::vector<double> best(estimated.medoids.size(), 0.0);
  std::vector<std::int32_t> by(estimated.medoids.size(), -1);
  for (std::size_t i = 0; i < replacements.count(); ++i)
    if (const std::size_t slot = replacements.slot(i); changes[i] < best[slot]) {
      best[slot] = changes[i];
      by[slot] = replacements.candidate(i);
    }
  bool changed = false;
  for (std::size_t slot = 0; slot < by.size(); ++slot) {
    const bool free = std::find(estimated.medoids.begin(), estimated.medoids.end(), by[slot]) == estimated.medoids.end();
    if (by[slot] < 0 || !free) continue;
    estimated.medoids[slot] = by[slot];
    changed = true;
  }
  return changed;
}

struct Costed {
  Ids medoids;
  Assignment assignment;
  double cost = 0;
};

Costed evaluate(const Workers& workers, const Signatures& objects, Ids medoids) {
  std::sort(medoids.begin(), medoids.end());
  const auto rows = rows_of(objects, medoids);
  MedoidSets sets{{rows, medoids.size(), objects.d}, medoids.size(), {{}}};
  for (std::size_t slot = 0; slot < medoids.size(); ++slot) sets.sets[0].push_back(static_cast<std::int32_t>(slot));
  const std::uint64_t largest = kernels::table().largest_bits(objects.values.data(), objects.values.size());
  FixedUnit unit;
  unit.bits = FixedUnit::bits_for(static_cast<std::int64_t>(objects.n));
  unit.limit_exponent = limit_of(largest, objects.d);
  Costed result{std::move(medoids), assign(workers, objects, sets, unit), 0};
  result.cost = unit.value(result.assignment.cost[0]) / static_cast<double>(objects.n);
  return result;
}

std::size_t batch_size(const QualityParameters& parameters, std::size_t n) {
  if (parameters.batch > 0) return std::min(n, static_cast<std::size_t>(parameters.batch));
  const std::size_t values = std::size_t{1} << 25;  // of the table, unless that would be less than `few`
  const std::size_t few = 256, many = 512, per_medoid = 32;
  const std::size_t least = std::clamp(values / n, few, many);
  return std::min(n, std::max(least, per_medoid * static_cast<std::size_t>(parameters.k)));
}

Costed search(const Workers& workers, const Signatures& objects, const QualityParameters& parameters) {
  const std::size_t batch = batch_size(parameters, objects.n);
  if (objects.n <= 4 * batch) return evaluate(workers, objects, search_all(workers, objects, parameters.k));
  Estimated estimated = search_batch(workers, objects, parameters, batch);
  Costed best = evaluate(workers, objects, estimated.medoids);
  for (int i = 0; i < refinements && refine(workers, objects, estimated); ++i) {
    Costed next = evaluate(workers, objects, estimated.medoids);
    if (next.cost >= best.cost) break;
    best = std::move(next);
  }
  return best;
}

}  // namespace

template <typename ExecutionSpace>
Clustering quality(const ExecutionSpace& space, const Signatures& signatures, const QualityParameters& parameters) {
  check_signatures(signatures);
  check_k(parameters.k, static_cast<std::int64_t>(signatures.n));
  if (parameters.batch < 0 || (parameters.batch > 0 && parameters.batch < parameters.k))
    throw std::invalid_argument("the batch is too small (" + std::to_string(parameters.batch) +
                                " objects): it must hold at least k, or 0");
  if (parameters.k > 16384)
    throw std::invalid_argument("too many strata (" + std::to_string(parameters.k) + "): at most 16384");
  const KokkosWorkers<ExecutionSpace> workers(space);
  const InRange range(signatures);
  Costed found = search(workers, range.signatures(), parameters);
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

}  // namespace effort::cluster
