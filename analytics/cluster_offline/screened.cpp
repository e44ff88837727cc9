#include "analytics/cluster_offline/screened.hpp"

#include "analytics/cluster/kernels/table.hpp"
#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster/nearest_medoids.hpp"
#include "analytics/cluster_offline/single_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace effort::cluster {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::size_t most_candidates = 256;
constexpr std::size_t most_columns = std::size_t{1} << 16;  // beyond, the bounds are too wide
constexpr double unit = 0x1p-24;                            // relative error of rounding to single precision
// Relative error of the kernels' sums: four roundings of each term, and one for each addition before the sum goes on in
// double precision.
constexpr double sum_rounding = (4 + rows_at_once<float>)*unit;

std::vector<double> column_means(const Signatures& objects) {
  std::vector<double> means(objects.d, 0.0);
  for (std::size_t i = 0; i < objects.n; ++i)
    for (std::size_t j = 0; j < objects.d; ++j) means[j] += objects.row(i)[j];
  for (double& mean : means) mean /= static_cast<double>(objects.n);
  return means;
}

class Screened {
 public:
  Screened(const Kernels& kernels, const Signatures& objects, std::size_t k)
      : kernels_(kernels),
        objects_(objects),
        single_(objects, column_means(objects), 1),
        table_(kernels.all_distances(RowsOf<float>{single_.values.data(), objects.n, objects.d})),
        on_table_(kernels.on(table_)),
        state_(kernels, objects.n, k),
        taken_(objects.n, 0),
        values_(objects.n) {
    // Differences, squares, d additions and the root.  The 1.01 covers products of errors.
    relative_ = 1.01 * unit * (0.5 * static_cast<double>(objects.d) + 4);
    // Squares below 2^-126 may be lost in every column.
    const double lost = std::sqrt(static_cast<double>(objects.d)) * 0x1p-63;
    for (const double norm : single_.norms) moved_.push_back(1.01 * unit * norm + lost);
    all_moved_ = std::accumulate(moved_.begin(), moved_.end(), 0.0);
  }

  /// Returns false if too many candidates are equally good.
  bool build() {
    std::vector<double> nearest(objects_.n, std::numeric_limits<double>::max());
    for (std::size_t slot = 0; slot < state_.k(); ++slot) {
      double error = 0;
      if (slot == 0) {
        on_table_->sums(values_);
      } else {
        on_table_->gains(nearest, values_);
        for (double& value : values_) value = -value;
        error = (relative_ + sum_rounding) * std::accumulate(nearest.begin(), nearest.end(), 0.0);
      }
      const Ids ids = contenders(error, slot == 0 ? relative_ + sum_rounding : 0, std::numeric_limits<double>::max());
      if (ids.size() > most_candidates) return false;
      const DistanceTable exact = distances_to(ids);
      std::vector<double> gains(ids.size());
      slot == 0 ? kernels_.on(exact)->sums(gains) : kernels_.on(exact)->gains(nearest, gains);
      const auto best =
          slot == 0 ? std::min_element(gains.begin(), gains.end()) : std::max_element(gains.begin(), gains.end());
      medoids_.push_back(0);
      place(slot, ids, static_cast<std::size_t>(best - gains.begin()), exact);
      for (std::size_t j = 0; j < objects_.n; ++j) nearest[j] = std::min(nearest[j], state_.column(slot)[j]);
    }
    return true;
  }

  /// Swaps until none improves; returns false if too many candidates are equally good.
  bool swap(int max_swaps) {
    double before = std::numeric_limits<double>::max();
    state_.update();
    for (int swaps = 0; swaps < max_swaps && state_.cost() < before; ++swaps) {
      const Standing& standing = state_.standing();
      on_table_->least_changes(standing, values_);
      // Distances beyond the second nearest medoid do not affect a change.
      const double reach = std::accumulate(standing.second.begin(), standing.second.end(), 0.0);
      const Ids ids = contenders((relative_ + sum_rounding) * reach, 0, 0);
      if (ids.size() > most_candidates) return false;
      if (ids.empty()) return true;
      const DistanceTable exact = distances_to(ids);
      const Change change = kernels_.on(exact)->best_swap(standing, std::vector<char>(ids.size(), 0), 0, ids.size());
      if (!improves<double>(change, state_.cost())) return true;
      before = state_.cost();
      taken_[static_cast<std::size_t>(medoids_[static_cast<std::size_t>(change.slot)])] = 0;
      place(static_cast<std::size_t>(change.slot), ids, static_cast<std::size_t>(change.candidate), exact);
      state_.update();
    }
    return true;
  }

  const Ids& medoids() const { return medoids_; }

 private:
  /// The candidates, ascending, whose value may be both the least and below the limit.  If there are too many, more
  /// than most_candidates are returned.
  /// @param error  error of each value, apart from the rounding of rows
  /// @param share  its error relative to the value itself
  Ids contenders(double error, double share, double limit) const {
    const auto within = [&](std::size_t h) {
      return error + share * std::abs(values_[h]) + all_moved_ + static_cast<double>(objects_.n) * moved_[h];
    };
    for (std::size_t h = 0; h < objects_.n; ++h)
      if (!taken_[h]) limit = std::min(limit, values_[h] + within(h));
    Ids ids;
    for (std::size_t h = 0; h < objects_.n && ids.size() <= most_candidates; ++h)
      if (!taken_[h] && values_[h] - within(h) <= limit) ids.push_back(static_cast<std::int32_t>(h));
    return ids;
  }

  DistanceTable distances_to(const Ids& ids) const {
    const std::vector<double> rows = rows_of(RowsOf<double>{objects_.values.data(), objects_.n, objects_.d}, ids);
    return kernels_.distances(objects_, Signatures{rows, ids.size(), objects_.d});
  }

  /// Makes one of the candidates the medoid of a slot.
  void place(std::size_t slot, const Ids& ids, std::size_t candidate, const DistanceTable& exact) {
    medoids_[slot] = ids[candidate];
    taken_[static_cast<std::size_t>(ids[candidate])] = 1;
    for (std::size_t j = 0; j < objects_.n; ++j) state_.column(slot)[j] = exact.row(j)[candidate];
  }

  const Kernels& kernels_;
  const Signatures& objects_;
  const SingleRows single_;
  const Table<float> table_;
  const std::unique_ptr<TableKernels<float>> on_table_;
  NearestMedoids state_;
  std::vector<char> taken_;
  std::vector<double> values_;  // [n] the value to be minimised, for each candidate, from the table
  std::vector<double> moved_;   // [n] bound of the distance by which rounding moves a row
  double all_moved_ = 0, relative_ = 0;
  Ids medoids_;
};

}  // namespace

std::vector<std::int32_t> screened_medoids(const Kernels& kernels, const Signatures& objects, int k, int max_swaps) {
  if (objects.d > most_columns) return {};
  Screened search(kernels, objects, static_cast<std::size_t>(k));
  // With k = 1, BUILD already finds the best medoid.
  return search.build() && (k == 1 || search.swap(max_swaps)) ? search.medoids() : Ids{};
}

}  // namespace effort::cluster
