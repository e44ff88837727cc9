#include "analytics/cluster/quality_search.hpp"

#include "analytics/cluster/middles.hpp"
#include "analytics/cluster/sort_first.hpp"
#include "analytics/sampling/draw.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace effort::cluster {
namespace {

using Ids = std::vector<std::int32_t>;

// Streams of random numbers: draws of one do not depend on those of another.
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

/// Where every object stands among some columns of a table.
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
    for (std::size_t slot = 1; slot < columns.size(); ++slot) {  // no branches: which is nearest cannot be foreseen
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

// `count` draws with the given weights; fewer where an object is drawn twice, none where all weights are 0.
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

void make_set(Ids& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

Ids positions_of(const Ids& set, const Ids& some) {
  Ids positions;
  for (const std::int32_t id : some)
    positions.push_back(static_cast<std::int32_t>(std::lower_bound(set.begin(), set.end(), id) - set.begin()));
  return positions;
}

// Medoids by distance: each with a probability proportional to the distance to those before (Arthur & Vassilvitskii
// 2007, with distances instead of squares).
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

}  // namespace

namespace {

// Local optima of a table, and what each costs.
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

  // Searches from up to `count` sets that do not depend on each other; whether `enough` of them have led to the best.
  template <typename MakeSet>
  bool agree(std::uint64_t count, int enough, MakeSet make_set) {
    reached_ = 0;
    for (std::uint64_t i = 0; i < count && reached_ < enough; ++i) add(make_set(i));
    return reached_ >= enough;
  }

  // Searches on from the best with some of its medoids elsewhere, a quarter and one.
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

  // Each once, by ascending cost.
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
  // An optimum that was found before need not be found to be one again.
  bool known(Ids medoids) const {
    std::sort(medoids.begin(), medoids.end());
    return std::any_of(found_.begin(), found_.end(), [&](const Start& start) { return start.medoids == medoids; });
  }

  const Kernels& kernels_;
  const Table<T>& table_;
  std::size_t compared_;
  std::vector<Start> found_;
  std::size_t best_ = 0;
  int reached_ = 0;  // searches that led to the best, since agree() began
};

}  // namespace

namespace {

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

// From BUILD's medoids on; `table` is `all` in either precision.
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
  // Sums of a few distances are rounded in single precision: that must be little beside the cost, also where one is
  // large.
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

namespace {

template <typename T>
class Refinement {
 public:
  Refinement(const Kernels& kernels, const RowsOf<T>& objects, std::size_t k, std::uint64_t seed)
      : kernels_(kernels), objects_(objects), judged_(objects), k_(k), seed_(seed) {
    const std::size_t columns = most_entries / objects.n, others = 2 * k + far_drawn + farthest;
    per_stratum_ = std::clamp<std::size_t>(columns > others ? (columns - others) / k : 0, 2, 12);
    const std::size_t recombined = any_recombined + 16 * k + others;
    per_recombined_ = std::clamp<std::size_t>(columns > recombined ? (columns - recombined) / (centred * k) : 0, 2, 8);
  }

  // Medoids, and all objects among them.
  struct Placed {
    Ids medoids;
    Nearest standing;
  };

  const Ids& medoids() const { return medoids_; }

  // Judges by some of the objects, where these are much fewer.
  void judge_by_some() {
    if (!much_fewer(judges())) return;
    some_ = draw_judges(0);
    judged_ = {some_.data(), judges(), objects_.d};
  }

  void judge_by_all() { judged_ = objects_; }

  // Swaps among the medoids of all starts, objects in the middle of the first few starts' strata, some far away and
  // any: from the starts, BUILD and random medoids, and on from the best unless random ones lead there too.  Returns a
  // few of the local optima that are best for all objects, the best first.
  std::vector<Placed> recombine(std::span<const Ids> starts) {
    constexpr std::size_t tried = 16, random = 8, perturbed = 8;
    constexpr int enough = 3;  // random sets that lead to the best: more searches would find nothing better
    Ids all;
    for (const Ids& start : starts) all.insert(all.end(), start.begin(), start.end());
    make_set(all);
    add_any(any_recombined, 0, all);
    const Nearest nearest = standing(starts[0]);
    add_far_drawn(nearest, 0, all);
    add_farthest(nearest, all);
    for (std::size_t i = 0; i < std::min(centred, starts.size()); ++i)
      add_middles(i == 0 ? nearest : standing(starts[i]), of_centred + i, per_recombined_, all);
    make_set(all);
    const Table<T> table = distances(judged_, all);
    Optima<T> optima(kernels_, table, compared);
    for (std::size_t i = 0; i < std::min(tried, starts.size()); ++i) optima.add(positions_of(all, starts[i]));
    const bool cheap = k_ <= 32;  // from nothing, k swaps and more are to be made
    if (cheap) optima.add(build_medoids(kernels_, table, static_cast<int>(k_)));
    const bool agreed = cheap && optima.agree(random, enough, [&](std::uint64_t i) {
      return sampling::draw_without_replacement(static_cast<std::int64_t>(all.size()), static_cast<std::int64_t>(k_),
                                                seed_, of_random + i);
    });
    for (std::uint64_t i = 0; !agreed && i < perturbed; ++i) optima.perturb(seed_, of_recombined + i);
    return best_for_all(all, std::move(optima).sorted());
  }

  void begin(Placed placed) {
    medoids_ = std::move(placed.medoids);
    standing_ = std::move(placed.standing);
  }

  Placed state() {
    if (!standing_) standing_ = standing(medoids_);
    return {medoids_, *standing_};
  }

  // Swaps with objects in the middle of the strata and `any` others; whether they lowered the cost noticeably.
  bool improve(std::uint64_t round, std::size_t any) {
    constexpr double noticeable = 1e-3;
    const bool by_all = judged_.n == objects_.n;
    Ids candidates = medoids_;
    if (!standing_) standing_ = standing(medoids_);
    add_any(any, round, candidates);
    add_middles(*standing_, round, per_stratum_, candidates);
    if (by_all) {
      add_far_drawn(*standing_, round, candidates);
      make_set(candidates);
      if (much_fewer(judges())) candidates = promising(candidates, round);
      add_farthest(*standing_, candidates);
    }
    make_set(candidates);
    const Table<T> table = distances(judged_, candidates);
    Ids slots = positions_of(candidates, medoids_);
    const double before = by_all ? standing_->cost : nearest_of(table, slots).cost;
    swap_medoids(kernels_, table, slots, SwapLimits{compared});
    std::sort(slots.begin(), slots.end());
    Nearest judged = nearest_of(table, slots);
    const double after = judged.cost;
    if (after < before) {
      take(candidates, slots);
      if (by_all) standing_ = std::move(judged);
    }
    return after < (1 - noticeable) * before;
  }

 private:
  static constexpr std::size_t most_entries = std::size_t{1} << 28;  // of a table
  static constexpr std::size_t compared = 64;                        // candidates before one is taken
  static constexpr std::size_t far_drawn = 16, farthest = 16;
  static constexpr std::size_t any_recombined = 96;
  static constexpr std::size_t centred = 4;         // starts, from the middle of whose strata candidates are taken
  static constexpr std::size_t finalists = 3;       // optima that are improved
  static constexpr std::size_t promising_each = 5;  // candidates that all objects judge, for each stratum

  // Objects that judge for all, where these are much more.
  std::size_t judges() const { return std::max<std::size_t>(2048, 256 * k_); }
  bool much_fewer(std::size_t count) const { return objects_.n > 4 * count; }
  std::vector<T> draw_judges(std::uint64_t round) const {
    return rows_of(objects_,
                   sampling::draw_without_replacement(static_cast<std::int64_t>(objects_.n),
                                                      static_cast<std::int64_t>(judges()), seed_, of_judges + round));
  }

  Table<T> distances(const RowsOf<T>& objects, const Ids& ids) const {
    const std::vector<T> rows = rows_of(objects_, ids);
    return kernels_.distances(objects, RowsOf<T>{rows.data(), ids.size(), objects.d});
  }

  // All objects among some medoids.
  Nearest standing(const Ids& medoids) const {
    Ids slots(k_);
    std::iota(slots.begin(), slots.end(), 0);
    return nearest_of(distances(objects_, medoids), slots);
  }

  // Of the first few, some that are best for all objects.
  std::vector<Placed> best_for_all(const Ids& candidates, const std::vector<Start>& sorted) const {
    const std::size_t count = std::min<std::size_t>(sorted.size(), judged_.n == objects_.n ? finalists : 8);
    Ids columns;
    for (std::size_t i = 0; i < count; ++i)
      columns.insert(columns.end(), sorted[i].medoids.begin(), sorted[i].medoids.end());
    make_set(columns);
    const Table<T> table = distances(objects_, ids_at(candidates, columns));
    std::vector<Placed> best;
    for (std::size_t i = 0; i < count; ++i)
      best.push_back(
          {ids_at(candidates, sorted[i].medoids), nearest_of(table, positions_of(columns, sorted[i].medoids))});
    std::stable_sort(best.begin(), best.end(),
                     [](const Placed& a, const Placed& b) { return a.standing.cost < b.standing.cost; });
    if (best.size() > finalists) best.erase(best.begin() + finalists, best.end());
    return best;
  }

  static Ids ids_at(const Ids& candidates, const Ids& slots) {
    Ids ids;
    for (const std::int32_t slot : slots) ids.push_back(candidates[static_cast<std::size_t>(slot)]);
    return ids;
  }

  // The candidates at ascending slots become the state.
  void take(const Ids& candidates, const Ids& slots) {
    standing_.reset();
    medoids_ = ids_at(candidates, slots);
  }

  void add_any(std::size_t count, std::uint64_t round, Ids& candidates) const {
    const Ids drawn = sampling::draw_without_replacement(static_cast<std::int64_t>(objects_.n),
                                                         static_cast<std::int64_t>(std::min(count, objects_.n)), seed_,
                                                         of_any + round);
    candidates.insert(candidates.end(), drawn.begin(), drawn.end());
  }

  // Objects drawn by their distance from the medoids: groups that samples have missed.
  void add_far_drawn(const Nearest& nearest, std::uint64_t round, Ids& candidates) const {
    const Ids drawn = draw_weighted(nearest.distance, far_drawn + k_, seed_, of_far + round);
    candidates.insert(candidates.end(), drawn.begin(), drawn.end());
  }

  // The objects farthest from the medoids: they may stand alone.
  void add_farthest(const Nearest& nearest, Ids& candidates) const {
    Ids order(objects_.n);
    std::iota(order.begin(), order.end(), 0);
    const auto farther = [&](std::int32_t a, std::int32_t b) {
      const double x = nearest.distance[static_cast<std::size_t>(a)], y = nearest.distance[static_cast<std::size_t>(b)];
      return x > y || (x == y && a < b);
    };
    const std::size_t count = std::min(farthest, order.size());
    sort_first(order, count, farther);
    candidates.insert(candidates.end(), order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // The medoids and those candidates that do best by judges of this round's own: what is left to all objects.
  Ids promising(const Ids& candidates, std::uint64_t round) const {
    const std::vector<T> some = draw_judges(round);
    const Table<T> table = distances({some.data(), judges(), objects_.d}, candidates);
    const std::vector<double> changes = swap_changes(kernels_, table, positions_of(candidates, medoids_));
    Ids order(candidates.size());
    std::iota(order.begin(), order.end(), 0);
    const std::size_t count = std::min(order.size(), promising_each * k_);
    sort_first(order, count, [&](std::int32_t a, std::int32_t b) {
      const double x = changes[static_cast<std::size_t>(a)], y = changes[static_cast<std::size_t>(b)];
      return x < y || (x == y && a < b);
    });
    Ids result = medoids_;
    for (std::size_t i = 0; i < count; ++i) result.push_back(candidates[static_cast<std::size_t>(order[i])]);
    return result;
  }

  void add_middles(const Nearest& nearest, std::uint64_t round, std::size_t each, Ids& candidates) const {
    std::vector<Ids> members(k_);
    for (std::size_t j = 0; j < objects_.n; ++j)
      members[static_cast<std::size_t>(nearest.slot[j])].push_back(static_cast<std::int32_t>(j));
    for (std::size_t slot = 0; slot < k_; ++slot) {
      const Ids middle =
          middle_members(kernels_, objects_, std::move(members[slot]), each, seed_, of_members + (round << 32) + slot);
      candidates.insert(candidates.end(), middle.begin(), middle.end());
    }
  }

  const Kernels& kernels_;
  const RowsOf<T>& objects_;
  RowsOf<T> judged_;     // those whose distances are the cost
  std::vector<T> some_;  // rows of them
  std::size_t k_;
  std::size_t per_stratum_ = 0, per_recombined_ = 0;  // candidates from the middle of a stratum
  std::uint64_t seed_;
  Ids medoids_;
  std::optional<Nearest> standing_;  // of all objects among the medoids, where it is known
};

}  // namespace

template <typename T>
std::vector<std::int32_t> refine_starts(const Kernels& kernels, const RowsOf<T>& objects, std::span<const Ids> starts,
                                        std::uint64_t seed) {
  constexpr std::uint64_t rounds = 4;
  Refinement<T> refinement(kernels, objects, starts[0].size(), seed);
  refinement.judge_by_some();
  typename Refinement<T>::Placed best;
  best.standing.cost = std::numeric_limits<double>::max();
  std::uint64_t round = 0;                               // ever another: each draws anew
  for (auto& finalist : refinement.recombine(starts)) {  // which is best shows only when each is good of its kind
    refinement.begin(std::move(finalist));
    for (const std::uint64_t last = round + 3; ++round <= last && refinement.improve(round, 64 + 4 * starts[0].size());)
      continue;
    if (auto state = refinement.state(); state.standing.cost < best.standing.cost) best = std::move(state);
  }
  refinement.begin(std::move(best));
  refinement.judge_by_all();
  for (const std::uint64_t last = round + rounds; ++round <= last && refinement.improve(round, 8);) continue;
  return refinement.medoids();
}

template std::vector<std::int32_t> refine_starts(const Kernels&, const RowsOf<double>&, std::span<const Ids>,
                                                 std::uint64_t);
template std::vector<std::int32_t> refine_starts(const Kernels&, const RowsOf<float>&, std::span<const Ids>,
                                                 std::uint64_t);

}  // namespace effort::cluster
