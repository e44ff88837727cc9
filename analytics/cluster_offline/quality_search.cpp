#include "analytics/cluster_offline/quality_search.hpp"

#include "analytics/cluster_offline/middles.hpp"
#include "analytics/cluster_offline/optima.hpp"
#include "analytics/cluster_offline/sort_first.hpp"

#include <limits>
#include <numeric>
#include <optional>
#include <span>

namespace effort::cluster {
namespace {

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

  // Medoids, and the nearest one of every object.
  struct Placed {
    Ids medoids;
    Nearest standing;
  };

  const Ids& medoids() const { return medoids_; }

  // Evaluates costs on a sample of the objects, if it is much smaller.
  void judge_by_some() {
    if (!much_fewer(judges())) return;
    some_ = draw_judges(0);
    judged_ = {some_.data(), judges(), objects_.d};
  }

  void judge_by_all() { judged_ = objects_; }

  // Searches among the medoids of all starts, central objects of the first few starts' strata, remote objects and
  // random ones.  Starts from the given sets, BUILD and random medoids, and perturbs the best unless random sets lead
  // to it too. Returns the few local optima that cost least over all objects, the cheapest first.
  std::vector<Placed> recombine(std::span<const Ids> starts) {
    constexpr std::size_t tried = 16, random = 8, perturbed = 8;
    constexpr int enough = 3;  // random sets that lead to the best; further searches find nothing better
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
    const bool cheap = k_ <= 32;  // a search from random medoids makes k swaps and more
    if (cheap) optima.add(build_medoids(kernels_, table, static_cast<int>(k_)));
    const bool agreed = cheap && optima.reached_often_enough(random, enough, [&](std::uint64_t i) {
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

  // Swaps with central objects of the strata and `any` random ones; returns whether the cost fell noticeably.
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
  static constexpr std::size_t most_entries = std::size_t{1} << 28;  // most entries of a table
  static constexpr std::size_t compared = 64;                        // candidates compared before a swap
  static constexpr std::size_t far_drawn = 16, farthest = 16;
  static constexpr std::size_t any_recombined = 96;
  static constexpr std::size_t centred = 4;         // starts whose central objects become candidates
  static constexpr std::size_t finalists = 3;       // optima that are improved further
  static constexpr std::size_t promising_each = 5;  // candidates per stratum that are evaluated on all objects

  // Size of the sample that costs are evaluated on.
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

  // The nearest of some medoids for every object.
  Nearest standing(const Ids& medoids) const {
    Ids slots(k_);
    std::iota(slots.begin(), slots.end(), 0);
    return nearest_of(distances(objects_, medoids), slots);
  }

  // Those of the first few that cost least over all objects.
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

  // Makes the candidates at some ascending slots the medoids.
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

  // Draws objects by their distance from the medoids, to find groups that samples have missed.
  void add_far_drawn(const Nearest& nearest, std::uint64_t round, Ids& candidates) const {
    const Ids drawn = draw_weighted(nearest.distance, far_drawn + k_, seed_, of_far + round);
    candidates.insert(candidates.end(), drawn.begin(), drawn.end());
  }

  // Adds the objects farthest from the medoids, which may be strata of their own.
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

  // The medoids and the candidates that do best on a sample drawn for this round; only these are evaluated on all
  // objects.
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
  RowsOf<T> judged_;     // objects on which costs are evaluated
  std::vector<T> some_;  // their rows, if they are a sample
  std::size_t k_;
  std::size_t per_stratum_ = 0, per_recombined_ = 0;  // central objects per stratum
  std::uint64_t seed_;
  Ids medoids_;
  std::optional<Nearest> standing_;  // nearest medoid of every object, if known
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
  std::uint64_t round = 0;                               // every round draws new ones
  for (auto& finalist : refinement.recombine(starts)) {  // only refinement shows which is best
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
