// The common part of the searches of the quality mode: local optima on a table, and draws.
#pragma once

#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster_offline/quality_search.hpp"
#include "analytics/sampling/draw.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace effort::cluster {

using Ids = std::vector<std::int32_t>;

/// Streams of random numbers: the draws of one do not depend on those of another.
enum Stream : std::uint64_t {
  of_starts = 1 << 10,
  of_centred = 1 << 12,  // of members
  of_random = 1 << 15,
  of_recombined = 1 << 16,
  of_judges = 1 << 17,
  of_far = 1 << 20,
  of_members = 1 << 21,
  of_any = 1 << 22
};

/// The nearest of some columns of a table for every row.
struct Nearest {
  std::vector<double> distance;
  Ids slot;
  double cost = 0;
};

template <typename T>
Nearest nearest_of(const Table<T>& table, const Ids& columns) {
  Nearest result;
  result.distance.resize(table.rows());
  result.slot.resize(table.rows());
  for (std::size_t j = 0; j < table.rows(); ++j) {
    const T* row = table.row(j);
    T least = row[columns[0]];
    std::int32_t best = 0;
    for (std::size_t slot = 1; slot < columns.size(); ++slot) {  // no branches: they would be unpredictable
      const T value = row[columns[slot]];
      best = value < least ? static_cast<std::int32_t>(slot) : best;
      least = value < least ? value : least;
    }
    result.distance[j] = least;
    result.slot[j] = best;
    result.cost += result.distance[j];
  }
  return result;
}

/// Draws `count` objects with the given weights; fewer if an object is drawn twice, none if all weights are 0.
Ids draw_weighted(const std::vector<double>& weights, std::size_t count, std::uint64_t seed, std::uint64_t stream);

/// The local optima found on a table, and their costs.
template <typename T>
class Optima {
 public:
  Optima(const Kernels& kernels, const Table<T>& table, std::size_t compared)
      : kernels_(kernels), table_(table), compared_(compared) {}

  void add(Ids medoids) {
    SwapLimits limits{compared_};
    limits.ended = [this](const Ids& reached) { return known(reached); };
    swap_medoids(kernels_, table_, medoids, limits);
    std::sort(medoids.begin(), medoids.end());
    const double cost = nearest_of(table_, medoids).cost;
    const bool again = !found_.empty() && medoids == best().medoids;
    found_.push_back({std::move(medoids), cost});
    if (found_.back().cost < found_[best_].cost) {
      best_ = found_.size() - 1;
      reached_ = 0;
    }
    reached_ += again || best_ == found_.size() - 1;
  }

  /// Searches from up to `count` independent sets; returns whether `enough` of them have led to the best.
  template <typename MakeSet>
  bool reached_often_enough(std::uint64_t count, int enough, MakeSet make_set) {
    reached_ = 0;
    for (std::uint64_t i = 0; i < count && reached_ < enough; ++i) add(make_set(i));
    return reached_ >= enough;
  }

  /// Searches from the best with a quarter of its medoids, and one more, moved elsewhere.
  void perturb(std::uint64_t seed, std::uint64_t stream) {
    Ids medoids = found_[best_].medoids;
    const std::size_t k = medoids.size(), moved = 1 + k / 4;
    for (std::size_t i = 0; i < moved; ++i) {
      const auto slot = sampling::keyed_random(seed, stream, 2 * i) % k;
      const auto to = static_cast<std::int32_t>(sampling::keyed_random(seed, stream, 2 * i + 1) % table_.columns());
      if (std::find(medoids.begin(), medoids.end(), to) == medoids.end()) medoids[slot] = to;
    }
    add(std::move(medoids));
  }

  const Start& best() const { return found_[best_]; }

  /// Each optimum once, by ascending cost.
  std::vector<Start> sorted() && {
    const auto less = [](const Start& a, const Start& b) {
      return a.cost < b.cost || (a.cost == b.cost && a.medoids < b.medoids);
    };
    std::sort(found_.begin(), found_.end(), less);
    const auto same = [](const Start& a, const Start& b) { return a.medoids == b.medoids; };
    found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
    return std::move(found_);
  }

 private:
  // Whether an optimum was found before: the search for it can stop there.
  bool known(Ids medoids) const {
    std::sort(medoids.begin(), medoids.end());
    return std::any_of(found_.begin(), found_.end(), [&](const Start& start) { return start.medoids == medoids; });
  }

  const Kernels& kernels_;
  const Table<T>& table_;
  std::size_t compared_;
  std::vector<Start> found_;
  std::size_t best_ = 0;
  int reached_ = 0;  // searches that led to the best, since reached_often_enough() began
};

}  // namespace effort::cluster
