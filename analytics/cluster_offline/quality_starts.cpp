// The starts of the quality mode: local optima on a table of all pairs.
#include "analytics/cluster_offline/optima.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace effort::cluster {

Ids draw_weighted(const std::vector<double>& weights, std::size_t count, std::uint64_t seed, std::uint64_t stream) {
  std::vector<double> sums(weights.size());
  std::partial_sum(weights.begin(), weights.end(), sums.begin());
  Ids drawn;
  for (std::size_t i = 0; sums.back() > 0 && i < count; ++i) {
    const double at = static_cast<double>(sampling::keyed_random(seed, stream, i) >> 11) * 0x1p-53 * sums.back();
    drawn.push_back(static_cast<std::int32_t>(std::min<std::ptrdiff_t>(
        std::upper_bound(sums.begin(), sums.end(), at) - sums.begin(), static_cast<std::ptrdiff_t>(sums.size()) - 1)));
  }
  return drawn;
}

namespace {

// k-means++ with distances instead of squares: each medoid is drawn with a probability proportional to the distance to
// those before (Arthur & Vassilvitskii 2007).
Ids spread_medoids(const DistanceTable& all, int k, std::uint64_t seed, std::uint64_t stream) {
  const auto n = static_cast<std::int64_t>(all.rows());
  Ids medoids = sampling::draw_without_replacement(n, 1, seed, stream);
  std::vector<double> nearest(all.row(static_cast<std::size_t>(medoids[0])),
                              all.row(static_cast<std::size_t>(medoids[0])) + n);
  for (int i = 1; i < k; ++i) {
    const Ids drawn = draw_weighted(nearest, 1, seed, stream + (static_cast<std::uint64_t>(i) << 32));
    if (drawn.empty() || nearest[static_cast<std::size_t>(drawn[0])] == 0) break;  // the rest coincides with medoids
    medoids.push_back(drawn[0]);
    for (std::size_t j = 0; j < nearest.size(); ++j)
      nearest[j] = std::min(nearest[j], all.row(static_cast<std::size_t>(drawn[0]))[j]);
  }
  for (std::int32_t i = 0; medoids.size() < static_cast<std::size_t>(k); ++i)
    if (std::find(medoids.begin(), medoids.end(), i) == medoids.end()) medoids.push_back(i);
  return medoids;
}

double largest_of(const DistanceTable& table) {
  double largest = 0;
  for (std::size_t j = 0; j < table.rows(); ++j)
    largest = std::max(largest, *std::max_element(table.row(j), table.row(j) + table.columns()));
  return largest;
}

Table<float> single_of(const DistanceTable& table, double factor) {
  Table<float> result(table.rows(), table.columns());
  for (std::size_t j = 0; j < table.rows(); ++j)
    for (std::size_t i = 0; i < table.columns(); ++i) result.row(j)[i] = static_cast<float>(table.row(j)[i] * factor);
  return result;
}

// Searches from BUILD's medoids and from drawn ones; `table` is `all` in either precision.
template <typename T>
std::vector<Start> search_from(const Kernels& kernels, const DistanceTable& all, const Table<T>& table,
                               const Ids& built, int starts, std::uint64_t seed) {
  Optima<T> optima(kernels, table, 128);
  const int k = static_cast<int>(built.size());
  for (int i = 0; i < starts; ++i) {
    const auto stream = of_starts + static_cast<std::uint64_t>(i);
    if (i == 0)
      optima.add(built);
    else if (i < (3 * starts + 3) / 4)
      optima.add(spread_medoids(all, k, seed, stream));
    else
      optima.perturb(seed, stream);
  }
  return std::move(optima).sorted();
}

}  // namespace

std::vector<Start> search_starts(const Kernels& kernels, const DistanceTable& all, int k, int starts,
                                 std::uint64_t seed) {
  const Ids built = build_medoids(kernels, all, k);
  const double cost = nearest_of(all, built).cost, largest = largest_of(all);
  // Single precision rounds sums of a few distances; even for the largest, this must be small against the cost.
  constexpr double most_lost = 1e-4;
  const double lost = static_cast<double>(all.rows()) * largest * std::numeric_limits<float>::epsilon();
  if (!(lost < most_lost * cost)) return search_from(kernels, all, all, built, starts, seed);
  const double factor = std::ldexp(1.0, -std::ilogb(largest));
  std::vector<Start> found = search_from(kernels, all, single_of(all, factor), built, starts, seed);
  for (Start& start : found) start.cost /= factor;
  return found;
}

Start best_of_starts(const Kernels& kernels, const DistanceTable& all, std::span<const Ids> starts,
                     std::uint64_t seed) {
  constexpr std::size_t tried = 8, perturbed = 8;
  Optima<double> optima(kernels, all, 256);
  for (std::size_t i = 0; i < std::min(tried, starts.size()); ++i) optima.add(starts[i]);
  for (std::uint64_t i = 0; i < perturbed; ++i) optima.perturb(seed, of_recombined + i);
  return optima.best();
}

}  // namespace effort::cluster
