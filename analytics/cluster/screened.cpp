// PAM on a table in single precision, whose answers are checked in double precision.
#include "analytics/cluster/finish.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster/nearest_medoids.hpp"
#include "analytics/cluster/single_distances.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace effort::cluster {
namespace {

using kernels::swap_width;
using Ids = std::vector<std::int32_t>;

constexpr std::size_t most_candidates = 256;
constexpr std::size_t most_columns = std::size_t{1} << 16;  // beyond, single precision says too little
constexpr std::size_t tile_width = 512;

// What sums of single_rows terms in single precision lose, relative to the sum of their bounds: two roundings of each
// of a term's two operations and bounds, and one per addition.
constexpr double sum_rounding = (4 + kernels::single_rows) * 0x1p-24;

template <typename Body>
void for_tiles(const Workers& workers, std::size_t n, const Body& body) {
  workers.run("effort::cluster::screen", (n + tile_width - 1) / tile_width,
              [&](std::size_t tile) { body(tile * tile_width, std::min(tile_width, n - tile * tile_width)); });
}

// What the swaps with every candidate change, kept up from swap to swap: only rows whose nearest or second nearest
// medoid is another one, or elsewhere, are looked at again.
class Changes {
 public:
  Changes(const Workers& workers, const SingleDistances& distances, std::size_t k)
      : workers_(workers), distances_(distances), n_(distances.table.rows()), shared_(n_), removal_(k * n_) {}

  // Follows a new state.
  void follow(const NearestMedoids& state) {
    const auto& now = state.standing();
    Ids changed = now.order;
    double off = 0;
    if (!before_.order.empty()) {
      const auto same = [&](std::int32_t j) { return now.same(before_, static_cast<std::size_t>(j)); };
      std::erase_if(changed, same);
      std::erase_if(before_.order, same);
      for (const std::int32_t j : changed) {
        const auto row = static_cast<std::size_t>(j);
        off += sum_rounding * (now.second[row] + before_.second[row]);
      }
    }
    const double whole = sum_rounding * state.second_cost();
    if (before_.order.empty() || off_ + off > most_drift * whole) {
      std::fill(shared_.begin(), shared_.end(), 0.0);
      std::fill(removal_.begin(), removal_.end(), 0.0);
      before_.order.clear();
      changed = now.order;
      off_ = 0;
      off = whole;
    }
    off_ += off;
    for_tiles(workers_, n_, [&](std::size_t first, std::size_t width) {
      add(before_, before_.order, first, width, -1);
      add(now, changed, first, width, 1);
    });
    before_ = now;
  }

  // The least change with a candidate, whichever medoid it replaces.
  double least(const NearestMedoids& state, std::size_t candidate) const {
    double least = std::numeric_limits<double>::max();
    for (std::size_t slot = 0; slot < state.k(); ++slot)
      least = std::min(least, state.loss()[slot] + removal_[slot * n_ + candidate]);
    return least + shared_[candidate];
  }

  // How far sums of single precision may be off by now.
  double off() const { return off_; }

 private:
  static constexpr double most_drift = 8;

  void add(const Standing& standing, const Ids& order, std::size_t first, std::size_t width, double sign) {
    const auto& table = distances_.table;
    kernels::table().swap_changes_single({table.row(0), table.stride(), order.size(), order.data(),
                                          standing.nearest.data(), standing.first.data(), standing.second.data()},
                                         first, width, sign, shared_.data() + first, removal_.data() + first, n_);
  }

  const Workers& workers_;
  const SingleDistances& distances_;
  std::size_t n_;
  std::vector<double> shared_, removal_;  // [n], [k][n]
  Standing before_;
  double off_ = 0;
};

class Screened {
 public:
  Screened(const Workers& workers, const Signatures& objects, std::size_t k)
      : workers_(workers),
        objects_(objects),
        distances_(all_distances_single(workers, objects)),
        state_(objects.n, k),
        taken_(objects.n, 0),
        nearest_(objects.n, std::numeric_limits<double>::max()) {
    const auto& absolute = distances_.absolute;
    absolute_ = std::accumulate(absolute.begin(), absolute.end(), 0.0);
  }

  // False where too many candidates are equally good.
  bool build() {
    std::vector<double> losses(objects_.n);  // with every candidate, up to a constant
    for (std::size_t slot = 0; slot < state_.k(); ++slot) {
      std::fill(losses.begin(), losses.end(), 0.0);
      add_losses(slot, losses);
      const double reach = slot == 0 ? 0 : std::accumulate(nearest_.begin(), nearest_.end(), 0.0);
      const Ids candidates = least_of(losses, [&](std::size_t h) {
        const double terms = slot == 0 ? losses[h] : reach;
        return distances_.relative * terms + sum_rounding * terms;
      });
      if (candidates.size() > most_candidates) return false;
      take(slot, candidates);
    }
    state_.update();
    return true;
  }

  // Steepest swaps until none improves; false where too many candidates are equally good.
  bool swap(int max_swaps) {
    Changes changes(workers_, distances_, state_.k());
    std::vector<double> least(objects_.n);
    for (int swaps = 0; swaps < max_swaps; ++swaps) {
      changes.follow(state_);
      for (std::size_t h = 0; h < objects_.n; ++h) least[h] = changes.least(state_, h);
      // A change depends on distances only as far as they are below the second nearest medoid's.
      const double off = distances_.relative * state_.second_cost() + changes.off();
      const Ids candidates = least_of(
          least, [&](std::size_t) { return off; }, 0);
      if (candidates.size() > most_candidates) return false;
      if (candidates.empty() || !improve(candidates)) return true;
    }
    return true;
  }

  const Ids& medoids() const { return medoids_; }

 private:
  void add_losses(std::size_t slot, std::vector<double>& losses) const {
    const auto& kernel = kernels::table();
    const auto& table = distances_.table;
    for_tiles(workers_, objects_.n, [&](std::size_t first, std::size_t width) {
      double* sums = losses.data() + first;
      if (slot == 0) {
        kernel.sum_rows_single(table.row(0), table.stride(), objects_.n, first, width, sums);
      } else {
        kernel.build_gains_single(table.row(0), table.stride(), objects_.n, nearest_.data(), first, width, sums);
        for (std::size_t h = 0; h < width; ++h) sums[h] = -sums[h];
      }
    });
  }

  // Candidates whose value may be the least of all, and below a limit, when each is known to `off(candidate)` and its
  // distances' absolute errors; one more than most_candidates where there are too many.
  template <typename Off>
  Ids least_of(const std::vector<double>& values, const Off& off,
               double limit = std::numeric_limits<double>::max()) const {
    const auto n = static_cast<double>(objects_.n);
    const auto error = [&](std::size_t h) { return off(h) + absolute_ + n * distances_.absolute[h]; };
    for (std::size_t h = 0; h < values.size(); ++h)
      if (!taken_[h]) limit = std::min(limit, values[h] + error(h));
    Ids candidates;
    for (std::size_t h = 0; h < values.size() && candidates.size() <= most_candidates; ++h)
      if (!taken_[h] && values[h] - error(h) <= limit) candidates.push_back(static_cast<std::int32_t>(h));
    return candidates;
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

  // The best swap with one of these candidates, if it improves.
  bool improve(const Ids& candidates) {
    const DistanceTable exact = exact_distances(candidates);
    const std::size_t k = state_.k();
    double best = -16 * std::numeric_limits<double>::epsilon() * state_.cost();
    std::size_t by = 0, slot_of = k;
    std::vector<double> scratch((k + 1) * swap_width);
    double* removal = scratch.data() + swap_width;
    for (std::size_t first = 0; first < candidates.size(); first += swap_width) {
      const std::size_t width = std::min(swap_width, candidates.size() - first);
      std::fill_n(scratch.data(), width, 0.0);
      for (std::size_t slot = 0; slot < k; ++slot) std::fill_n(removal + slot * swap_width, width, state_.loss()[slot]);
      kernels::table().swap_changes(state_.swap_rows(exact.row(0), exact.stride()), first, width, scratch.data(),
                                    removal);
      for (std::size_t h = 0; h < width; ++h)
        for (std::size_t slot = 0; slot < k; ++slot) {
          const double change = scratch[h] + removal[slot * swap_width + h];
          if (change >= best) continue;
          best = change;
          by = first + h;
          slot_of = slot;
        }
    }
    if (slot_of == k) return false;
    taken_[static_cast<std::size_t>(medoids_[slot_of])] = 0;
    medoids_[slot_of] = candidates[by];
    set_column(slot_of, exact, by);
    state_.update();
    return true;
  }

  const Workers& workers_;
  const Signatures& objects_;
  const SingleDistances distances_;
  NearestMedoids state_;
  std::vector<char> taken_;
  std::vector<double> nearest_;
  double absolute_ = 0;
  Ids medoids_;
};

}  // namespace

std::vector<std::int32_t> screened_medoids(const Workers& workers, const Signatures& objects, int k, int max_swaps) {
  if (objects.d > most_columns) return {};
  Screened search(workers, objects, static_cast<std::size_t>(k));
  if (!search.build()) return {};
  if (k > 1 && !search.swap(max_swaps)) return {};
  return search.medoids();
}

}  // namespace effort::cluster
