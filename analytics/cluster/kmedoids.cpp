#include "analytics/cluster/kmedoids.hpp"

#include "analytics/cluster/nearest_medoids.hpp"

#include <algorithm>
#include <limits>

namespace effort::cluster {

namespace {

// The first candidate that is not taken and has the largest value.
std::int32_t best_candidate(const std::vector<double>& values, const std::vector<char>& taken) {
  std::int32_t best = -1;
  for (std::size_t h = 0; h < values.size(); ++h)
    if (!taken[h] && (best < 0 || values[h] > values[static_cast<std::size_t>(best)]))
      best = static_cast<std::int32_t>(h);
  return best;
}

}  // namespace

template <typename T>
std::vector<std::int32_t> build_medoids(const Kernels& kernels, const Table<T>& distances, int k) {
  const std::size_t columns = distances.columns(), rows = distances.rows();
  const auto on_table = kernels.on(distances);
  std::vector<double> gains(columns);
  std::vector<double> nearest(rows, std::numeric_limits<double>::max());
  std::vector<char> taken(columns, 0);
  std::vector<std::int32_t> medoids;
  for (int i = 0; i < k; ++i) {
    i == 0 ? on_table->sums(gains) : on_table->gains(nearest, gains);
    if (i == 0)
      for (double& gain : gains) gain = -gain;
    const std::int32_t chosen = best_candidate(gains, taken);
    taken[static_cast<std::size_t>(chosen)] = 1;
    medoids.push_back(chosen);
    for (std::size_t j = 0; j < rows; ++j) nearest[j] = std::min<double>(nearest[j], distances.row(j)[chosen]);
  }
  return medoids;
}

template std::vector<std::int32_t> build_medoids(const Kernels&, const Table<double>&, int);
template std::vector<std::int32_t> build_medoids(const Kernels&, const Table<float>&, int);

namespace {

// The state of SWAP on a table.
template <typename T>
class SwapState {
 public:
  SwapState(const Kernels& kernels, const Table<T>& distances, std::vector<std::int32_t>& medoids)
      : kernels_(kernels.on(distances)),
        distances_(distances),
        medoids_(medoids),
        state_(kernels, distances.rows(), medoids.size()),
        taken_(distances.columns(), 0) {
    for (std::size_t slot = 0; slot < medoids.size(); ++slot) {
      fetch(slot);
      taken_[static_cast<std::size_t>(medoids_[slot])] = 1;
    }
    for (std::size_t j = 0; medoids.size() == 1 && j < distances.rows(); ++j)
      bound_ = std::max<double>(bound_, *std::max_element(distances.row(j), distances.row(j) + distances.columns()));
    state_.update(bound_);
  }

  // The best swap with one of the candidates first .. last - 1.
  Change best_swap(std::size_t first, std::size_t last) const {
    return kernels_->best_swap(state_.standing(), taken_, first, last);
  }

  // The change in cost by the best swap with each candidate.
  void least_changes(std::vector<double>& least) const { kernels_->least_changes(state_.standing(), least); }

  double cost() const { return state_.cost(); }

  void apply(const Change& change) {
    const auto slot = static_cast<std::size_t>(change.slot);
    taken_[static_cast<std::size_t>(medoids_[slot])] = 0;
    taken_[static_cast<std::size_t>(change.candidate)] = 1;
    medoids_[slot] = change.candidate;
    fetch(slot);
    state_.update(bound_);
  }

 private:
  void fetch(std::size_t slot) {
    double* to = state_.column(slot);
    for (std::size_t j = 0; j < distances_.rows(); ++j) to[j] = distances_.row(j)[medoids_[slot]];
  }

  std::unique_ptr<TableKernels<T>> kernels_;
  const Table<T>& distances_;
  std::vector<std::int32_t>& medoids_;
  NearestMedoids state_;
  std::vector<char> taken_;
  double bound_ = 0;
};

}  // namespace

template <typename T>
int swap_medoids(const Kernels& kernels, const Table<T>& distances, std::vector<std::int32_t>& medoids,
                 const SwapLimits& limits) {
  const std::size_t columns = distances.columns();
  const std::size_t step = std::min(columns, limits.compared);  // fixed: the result must not depend on the space
  const std::size_t steps = ceil_div(columns, step);
  if (medoids.size() >= columns) return 0;
  SwapState<T> state(kernels, distances, medoids);
  int swaps = 0;
  std::size_t unimproved = 0;
  for (std::size_t i = 0; unimproved < steps && swaps < limits.swaps; i = (i + 1) % steps) {
    const Change change = state.best_swap(i * step, std::min(columns, (i + 1) * step));
    const double before = state.cost();
    if (improves<T>(change, state.cost())) {
      state.apply(change);
      ++swaps;
      if (limits.ended && limits.ended(medoids)) break;
    }
    // Gains that are rounding noise (identical objects, cost 0) would be found again and again.
    unimproved = state.cost() < before ? 0 : unimproved + 1;
  }
  return swaps;
}

template int swap_medoids(const Kernels&, const Table<double>&, std::vector<std::int32_t>&, const SwapLimits&);
template int swap_medoids(const Kernels&, const Table<float>&, std::vector<std::int32_t>&, const SwapLimits&);

template <typename T>
std::vector<double> swap_changes(const Kernels& kernels, const Table<T>& distances, std::vector<std::int32_t> medoids) {
  const SwapState<T> state(kernels, distances, medoids);
  std::vector<double> least(distances.columns());
  state.least_changes(least);
  return least;
}

template std::vector<double> swap_changes(const Kernels&, const Table<double>&, std::vector<std::int32_t>);
template std::vector<double> swap_changes(const Kernels&, const Table<float>&, std::vector<std::int32_t>);

int swap_medoids(const Kernels& kernels, const DistanceTable& distances, std::vector<std::int32_t>& medoids,
                 SwapRule rule, int max_swaps) {
  constexpr std::size_t eagerly = 1024;
  const std::size_t compared = rule == SwapRule::steepest ? distances.columns() : eagerly;
  return swap_medoids(kernels, distances, medoids, SwapLimits{compared, max_swaps});
}

}  // namespace effort::cluster
