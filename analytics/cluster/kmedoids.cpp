#include "analytics/cluster/kmedoids.hpp"

#include "analytics/cluster/for_groups.hpp"
#include "analytics/cluster/kernels_of.hpp"
#include "analytics/cluster/nearest_medoids.hpp"

#include <algorithm>
#include <limits>

namespace effort::cluster {

using kernels::swap_width;

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
std::vector<std::int32_t> build_medoids(const Workers& workers, const Table<T>& distances, int k) {
  const std::size_t columns = distances.columns(), rows = distances.rows();
  std::vector<double> gains(columns);
  std::vector<double> nearest(rows, std::numeric_limits<double>::max());
  std::vector<char> taken(columns, 0);
  std::vector<std::int32_t> medoids;
  for (int i = 0; i < k; ++i) {
    std::fill(gains.begin(), gains.end(), 0.0);
    for_groups(workers, "effort::cluster::build", columns, swap_width, 0, [&](std::size_t g, double*) {
      const std::size_t first = g * swap_width, width = std::min(swap_width, columns - first);
      if (i == 0)
        kernels::sum_rows(distances.row(0), distances.stride(), rows, first, width, gains.data() + first);
      else
        kernels::build_gains(distances.row(0), distances.stride(), rows, nearest.data(), first, width,
                             gains.data() + first);
    });
    if (i == 0)
      for (double& gain : gains) gain = -gain;
    const std::int32_t chosen = best_candidate(gains, taken);
    taken[static_cast<std::size_t>(chosen)] = 1;
    medoids.push_back(chosen);
    for (std::size_t j = 0; j < rows; ++j) nearest[j] = std::min<double>(nearest[j], distances.row(j)[chosen]);
  }
  return medoids;
}

template std::vector<std::int32_t> build_medoids(const Workers&, const Table<double>&, int);
template std::vector<std::int32_t> build_medoids(const Workers&, const Table<float>&, int);

namespace {

// What a swap must at least gain: what adding up may have lost, in parts of the cost.
template <typename T>
constexpr double least_gain = 16 * std::numeric_limits<double>::epsilon();
template <>
constexpr double least_gain<float> = 8 * std::numeric_limits<float>::epsilon();

struct Change {
  double amount = 0;
  std::int32_t candidate = -1;
  std::int32_t slot = -1;
};

// The state of SWAP on a table.
template <typename T>
class SwapState {
 public:
  SwapState(const Table<T>& distances, std::vector<std::int32_t>& medoids)
      : distances_(distances),
        medoids_(medoids),
        state_(distances.rows(), medoids.size()),
        taken_(distances.columns(), 0) {
    for (std::size_t slot = 0; slot < medoids.size(); ++slot) {
      fetch(slot);
      taken_[static_cast<std::size_t>(medoids_[slot])] = 1;
    }
    for (std::size_t j = 0; medoids.size() == 1 && j < distances.rows(); ++j)
      bound_ = std::max<double>(bound_, *std::max_element(distances.row(j), distances.row(j) + distances.columns()));
    state_.update(bound_);
  }

  // The best swap with one of the candidates first .. first + width - 1; scratch holds scratch_size() numbers.
  Change best_of(std::size_t first, std::size_t width, double* scratch) const {
    Change best;
    for_changes(first, width, scratch, [&](std::size_t candidate, std::size_t slot, double amount) {
      if (!taken_[candidate] && amount < best.amount)
        best = {amount, static_cast<std::int32_t>(candidate), static_cast<std::int32_t>(slot)};
    });
    return best;
  }

  // The least change with each of them.
  void least_changes(std::size_t first, std::size_t width, double* scratch, std::vector<double>& least) const {
    for_changes(first, width, scratch, [&](std::size_t candidate, std::size_t, double amount) {
      least[candidate] = std::min(least[candidate], amount);
    });
  }

  double cost() const { return state_.cost(); }

  bool improves(const Change& change) const {
    return change.candidate >= 0 && change.amount < -least_gain<T> * state_.cost();
  }

  void apply(const Change& change) {
    const auto slot = static_cast<std::size_t>(change.slot);
    taken_[static_cast<std::size_t>(medoids_[slot])] = 0;
    taken_[static_cast<std::size_t>(change.candidate)] = 1;
    medoids_[slot] = change.candidate;
    fetch(slot);
    state_.update(bound_);
  }

  std::size_t scratch_size() const { return (state_.k() + 1) * swap_width; }

 private:
  template <typename Body>
  void for_changes(std::size_t first, std::size_t width, double* scratch, const Body& body) const {
    const std::size_t k = state_.k();
    double* shared = scratch;
    double* removal = scratch + swap_width;
    std::fill_n(shared, width, 0.0);
    for (std::size_t slot = 0; slot < k; ++slot) std::fill_n(removal + slot * swap_width, width, state_.loss()[slot]);
    kernels::swap_changes(state_.swap_rows(distances_.row(0), distances_.stride()), first, width, shared, removal);
    for (std::size_t h = 0; h < width; ++h)
      for (std::size_t slot = 0; slot < k; ++slot) body(first + h, slot, shared[h] + removal[slot * swap_width + h]);
  }

  void fetch(std::size_t slot) {
    double* to = state_.column(slot);
    for (std::size_t j = 0; j < distances_.rows(); ++j) to[j] = distances_.row(j)[medoids_[slot]];
  }

  const Table<T>& distances_;
  std::vector<std::int32_t>& medoids_;
  NearestMedoids state_;
  std::vector<char> taken_;
  double bound_ = 0;
};

// The best swap among the candidates first .. last - 1, in tiles of at most `width`.
template <typename T>
Change best_swap(const Workers& workers, const SwapState<T>& state, std::size_t first, std::size_t last,
                 std::size_t width) {
  std::vector<Change> best(ceil_div(last - first, width));
  for_groups(workers, "effort::cluster::swap", best.size(), 1, state.scratch_size(),
             [&](std::size_t g, double* scratch) {
               const std::size_t begin = first + g * width;
               best[g] = state.best_of(begin, std::min(width, last - begin), scratch);
             });
  Change result;
  for (const Change& change : best)
    if (change.amount < result.amount) result = change;
  return result;
}

}  // namespace

template <typename T>
int swap_medoids(const Workers& workers, const Table<T>& distances, std::vector<std::int32_t>& medoids,
                 const SwapLimits& limits) {
  const std::size_t columns = distances.columns();
  const std::size_t step = std::min(columns, limits.compared);  // fixed: the result must not depend on the workers
  const std::size_t steps = ceil_div(columns, step);
  if (medoids.size() >= columns) return 0;
  SwapState<T> state(distances, medoids);
  int swaps = 0;
  std::size_t unimproved = 0;
  for (std::size_t i = 0; unimproved < steps && swaps < limits.swaps; i = (i + 1) % steps) {
    const Change change =
        best_swap(workers, state, i * step, std::min(columns, (i + 1) * step), std::min(step, swap_width));
    const double before = state.cost();
    if (state.improves(change)) {
      state.apply(change);
      ++swaps;
      if (limits.ended && limits.ended(medoids)) break;
    }
    // A gain of rounding noise only (identical objects, cost 0) would be found again and again.
    unimproved = state.cost() < before ? 0 : unimproved + 1;
  }
  return swaps;
}

template int swap_medoids(const Workers&, const Table<double>&, std::vector<std::int32_t>&, const SwapLimits&);
template int swap_medoids(const Workers&, const Table<float>&, std::vector<std::int32_t>&, const SwapLimits&);

template <typename T>
std::vector<double> swap_changes(const Workers& workers, const Table<T>& distances, std::vector<std::int32_t> medoids) {
  const SwapState<T> state(distances, medoids);
  const std::size_t columns = distances.columns();
  std::vector<double> least(columns, std::numeric_limits<double>::max());
  for_groups(workers, "effort::cluster::swap", columns, swap_width, state.scratch_size(),
             [&](std::size_t g, double* scratch) {
               const std::size_t first = g * swap_width;
               state.least_changes(first, std::min(swap_width, columns - first), scratch, least);
             });
  return least;
}

template std::vector<double> swap_changes(const Workers&, const Table<double>&, std::vector<std::int32_t>);
template std::vector<double> swap_changes(const Workers&, const Table<float>&, std::vector<std::int32_t>);

int swap_medoids(const Workers& workers, const DistanceTable& distances, std::vector<std::int32_t>& medoids,
                 SwapRule rule, int max_swaps) {
  constexpr std::size_t eagerly = 4 * swap_width;
  const std::size_t compared = rule == SwapRule::steepest ? distances.columns() : eagerly;
  return swap_medoids(workers, distances, medoids, SwapLimits{compared, max_swaps});
}

}  // namespace effort::cluster
