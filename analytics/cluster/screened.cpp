// PAM on a table in single precision, whose answers are checked in double precision.
#include "analytics/cluster/finish.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster/nearest_medoids.hpp"

#include <algorithm>
#include <limits>

namespace effort::cluster {
namespace {

using kernels::swap_width;
using Ids = std::vector<std::int32_t>;

// Rounding a distance to single precision changes it by at most 2^-24 of itself (half a unit in the last place); three
// times that leaves room for the sums' own roundings, which are 2^-53 per addition, and for subnormal numbers.
constexpr double rounding = 3 * 0x1p-24;
constexpr std::size_t most_candidates = 256;

class Screened {
 public:
  Screened(const Workers& workers, const Signatures& objects, std::size_t k)
      : workers_(workers), objects_(objects), table_(all_distances_single(workers, objects)), state_(objects.n, k),
        taken_(objects.n, 0), nearest_(objects.n, std::numeric_limits<double>::max()) {}

  // False where too many candidates are equally good.
  bool build() {
    const std::size_t k = state_.k(), n = objects_.n;
    std::vector<double> gains(n);
    for (std::size_t slot = 0; slot < k; ++slot) {
      std::fill(gains.begin(), gains.end(), 0.0);
      for_tiles([&](std::size_t first, std::size_t width) {
        add_gains(slot, table_.row(0), table_.stride(), first, width, gains.data() + first);
      });
      double best = -std::numeric_limits<double>::max(), reach = 0;
      for (std::size_t h = 0; h < n; ++h) {
        if (slot == 0) gains[h] = -gains[h];
        if (!taken_[h]) best = std::max(best, gains[h]);
      }
      for (std::size_t j = 0; slot > 0 && j < n; ++j) reach += nearest_[j];
      const double least = best - 2 * rounding * (slot == 0 ? -best : reach);
      Ids candidates;
      for (std::size_t h = 0; h < n && candidates.size() <= most_candidates; ++h)
        if (!taken_[h] && gains[h] >= least) candidates.push_back(static_cast<std::int32_t>(h));
      if (candidates.size() > most_candidates) return false;
      take(slot, candidates);
    }
    state_.update();
    return true;
  }

  // Steepest swaps until none improves; false where too many candidates are equally good.
  bool swap(int max_swaps) {
    for (int swaps = 0; swaps < max_swaps; ++swaps) {
      const auto candidates = promising();
      if (candidates.size() > most_candidates) return false;
      if (candidates.empty() || !improve(candidates)) return true;
    }
    return true;
  }

  const Ids& medoids() const { return medoids_; }

 private:
  template <typename Body>
  void for_tiles(const Body& body) const {
    const std::size_t tiles = (objects_.n + swap_width - 1) / swap_width;
    workers_.run("effort::cluster::screen", tiles, [&](std::size_t tile) {
      body(tile * swap_width, std::min(swap_width, objects_.n - tile * swap_width));
    });
  }

  void add_gains(std::size_t slot, const float* distances, std::size_t stride, std::size_t first, std::size_t width,
                 double* gains) const {
    const auto& kernel = kernels::table();
    if (slot == 0)
      kernel.sum_rows_single(distances, stride, objects_.n, first, width, gains);
    else
      kernel.build_gains_single(distances, stride, objects_.n, nearest_.data(), first, width, gains);
  }

  DistanceTable exact_distances(const Ids& candidates) const {
    const auto rows = rows_of(objects_, candidates);
    return distances_between(workers_, objects_, {rows, candidates.size(), objects_.d});
  }

  // The best of the candidates by exact gains, the first of equals, becomes the medoid of a slot.
  void take(std::size_t slot, const Ids& candidates) {
    const DistanceTable exact = exact_distances(candidates);
    const auto& kernel = kernels::table();
    std::vector<double> gains(candidates.size(), 0.0);
    if (slot == 0)
      kernel.sum_rows(exact.row(0), exact.stride(), objects_.n, 0, gains.size(), gains.data());
    else
      kernel.build_gains(exact.row(0), exact.stride(), objects_.n, nearest_.data(), 0, gains.size(), gains.data());
    const auto best = static_cast<std::size_t>(
        (slot == 0 ? std::min_element(gains.begin(), gains.end()) : std::max_element(gains.begin(), gains.end())) -
        gains.begin());
    medoids_.push_back(candidates[best]);
    set_column(slot, exact, best);
    for (std::size_t j = 0; j < objects_.n; ++j) nearest_[j] = std::min(nearest_[j], state_.column(slot)[j]);
  }

  void set_column(std::size_t slot, const DistanceTable& exact, std::size_t candidate) {
    taken_[static_cast<std::size_t>(medoids_[slot])] = 1;
    for (std::size_t j = 0; j < objects_.n; ++j) state_.column(slot)[j] = exact.row(j)[candidate];
  }

  // What a swap changes, for candidates first .. first + width - 1 of a table; visit(candidate, slot, change).
  template <typename T, typename Changes, typename Visit>
  void for_changes(const T* distances, std::size_t stride, std::size_t first, std::size_t width, Changes changes,
                   const Visit& visit) const {
    const std::size_t k = state_.k();
    std::vector<double> scratch((k + 1) * swap_width, 0.0);
    double* removal = scratch.data() + swap_width;
    for (std::size_t slot = 0; slot < k; ++slot) std::fill_n(removal + slot * swap_width, width, state_.loss()[slot]);
    changes(state_.swap_rows(distances, stride), first, width, scratch.data(), removal);
    for (std::size_t h = 0; h < width; ++h)
      for (std::size_t slot = 0; slot < k; ++slot) visit(first + h, slot, scratch[h] + removal[slot * swap_width + h]);
  }

  // Candidates that may be in the best swap, one more than most_candidates where there are too many.
  Ids promising() const {
    const std::size_t n = objects_.n;
    std::vector<double> least(n, std::numeric_limits<double>::max());  // best change with each candidate
    for_tiles([&](std::size_t first, std::size_t width) {
      for_changes(table_.row(0), table_.stride(), first, width, kernels::table().swap_changes_single,
                  [&](std::size_t h, std::size_t, double change) { least[h] = std::min(least[h], change); });
    });
    double best = std::numeric_limits<double>::max();
    for (std::size_t h = 0; h < n; ++h)
      if (!taken_[h]) best = std::min(best, least[h]);
    // A change depends on distances only as far as they are below the second nearest medoid's; one that is in truth
    // below 0 is below `reach` here.
    const double reach = rounding * state_.second_cost();
    const double limit = std::min(best + 2 * reach, reach);
    Ids candidates;
    for (std::size_t h = 0; h < n && candidates.size() <= most_candidates; ++h)
      if (!taken_[h] && least[h] <= limit) candidates.push_back(static_cast<std::int32_t>(h));
    return candidates;
  }

  bool improve(const Ids& candidates) {
    const DistanceTable exact = exact_distances(candidates);
    double best = -16 * std::numeric_limits<double>::epsilon() * state_.cost();
    std::size_t by = 0, slot_of = state_.k();
    for (std::size_t first = 0; first < candidates.size(); first += swap_width)
      for_changes(exact.row(0), exact.stride(), first, std::min(swap_width, candidates.size() - first),
                  kernels::table().swap_changes, [&](std::size_t h, std::size_t slot, double change) {
                    if (change >= best) return;
                    best = change;
                    by = h;
                    slot_of = slot;
                  });
    if (slot_of == state_.k()) return false;
    taken_[static_cast<std::size_t>(medoids_[slot_of])] = 0;
    medoids_[slot_of] = candidates[by];
    set_column(slot_of, exact, by);
    state_.update();
    return true;
  }

  const Workers& workers_;
  const Signatures& objects_;
  Table<float> table_;
  NearestMedoids state_;
  std::vector<char> taken_;
  std::vector<double> nearest_;
  Ids medoids_;
};

}  // namespace

std::vector<std::int32_t> screened_medoids(const Workers& workers, const Signatures& objects, int k, int max_swaps) {
  Screened search(workers, objects, static_cast<std::size_t>(k));
  if (!search.build()) return {};
  if (k > 1 && !search.swap(max_swaps)) return {};
  return search.medoids();
}

}  // namespace effort::cluster
