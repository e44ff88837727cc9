#include "analytics/cluster/kmedoids.hpp"

#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/nearest_medoids.hpp"

#include <algorithm>
#include <limits>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace effort::cluster {
namespace {

using kernels::lanes;
using kernels::swap_width;

constexpr std::size_t tiles_at_once = 4;  // so that a block of points is read once for 64 objects

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// Tiles of up to tiles_at_once * lanes consecutive objects, and how far each is filled.
struct TileGroup {
  std::size_t first = 0;
  std::size_t tiles = 0;

  void load(const Signatures& objects, std::size_t from, double* scratch) {
    first = from;
    tiles = std::min(tiles_at_once, ceil_div(objects.n - from, lanes));
    for (std::size_t t = 0; t < tiles; ++t) {
      const std::size_t object = first + t * lanes;
      kernels::table().load_tile(objects.row(object), objects.d, std::min(lanes, objects.n - object), objects.d,
                                 scratch + t * lanes * objects.d);
    }
  }
};

// Calls body(group, scratch) for every group of `group_size` out of n, spread round robin over the workers, each
// with `scratch_size` doubles of its own.
template <typename Body>
void for_groups(const Workers& workers, const char* label, std::size_t n, std::size_t group_size,
                std::size_t scratch_size, const Body& body) {
  const std::size_t groups = ceil_div(n, group_size);
  const std::size_t pieces = std::min(groups, workers.concurrency());
  std::vector<double> scratch(pieces * scratch_size);
  workers.run(label, pieces, [&](std::size_t piece) {
    for (std::size_t g = piece; g < groups; g += pieces) body(g, scratch.data() + piece * scratch_size);
  });
}

// Writes a block out[p][lane] of distances into the table, as rows first_point + p, and mirrored.
void store_mirrored(const double* block, std::size_t points, std::size_t first_point, std::size_t first_object,
                    std::size_t objects, DistanceTable& table) {
  for (std::size_t p = 0; p < points; ++p)
    std::copy_n(block + p * lanes, objects, table.row(first_point + p) + first_object);
  for (std::size_t l = 0; l < objects; ++l) {
    double* row = table.row(first_object + l) + first_point;
    for (std::size_t p = 0; p < points; ++p) row[p] = block[p * lanes + l];
  }
}

}  // namespace

template <typename T>
Table<T>::Table(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns) {
  constexpr std::size_t page = 4096, huge_page = std::size_t{1} << 21;
  stride_ = ceil_div(columns, lanes) * lanes;
  if (stride_ * sizeof(T) % page == 0) stride_ += lanes;  // rows must not all fall into the same cache sets
  std::size_t bytes = std::max<std::size_t>(rows * stride_ * sizeof(T), 64);
  const std::size_t alignment = bytes >= 4 * huge_page ? huge_page : 64;
  bytes = ceil_div(bytes, alignment) * alignment;
  values_.reset(static_cast<T*>(std::aligned_alloc(alignment, bytes)));
  if (!values_) throw std::bad_alloc();
#ifdef __linux__
  if (alignment == huge_page) madvise(values_.get(), bytes, MADV_HUGEPAGE);  // a wish: without it, it is only slower
#endif
}

template class Table<double>;
template class Table<float>;

DistanceTable all_distances(const Workers& workers, const Signatures& objects) {
  DistanceTable table(objects.n, objects.n);
  const std::size_t tile_size = lanes * objects.d, d = objects.d;
  const auto& kernel = kernels::table();
  for_groups(workers, "effort::cluster::dissimilarity", objects.n, tiles_at_once * lanes,
             tiles_at_once * tile_size + lanes * lanes, [&](std::size_t g, double* scratch) {
               TileGroup group;
               group.load(objects, g * tiles_at_once * lanes, scratch);
               double* block = scratch + tiles_at_once * tile_size;
               for (std::size_t point = group.first; point < objects.n; point += lanes) {
                 const std::size_t points = std::min(lanes, objects.n - point);
                 for (std::size_t t = 0; t < group.tiles; ++t) {
                   const std::size_t object = group.first + t * lanes;
                   if (object > point) break;  // mirrored from the tile below the diagonal
                   kernel.squared(scratch + t * tile_size, objects.row(point), points, d, block);
                   kernel.root(block, points * lanes);
                   store_mirrored(block, points, point, object, std::min(lanes, objects.n - object), table);
                 }
               }
             });
  return table;
}

DistanceTable distances_between(const Workers& workers, const Signatures& rows, const Signatures& candidates) {
  DistanceTable table(rows.n, candidates.n);
  const std::size_t tile_size = lanes * candidates.d, d = candidates.d;
  const auto& kernel = kernels::table();
  for_groups(workers, "effort::cluster::dissimilarity", candidates.n, tiles_at_once * lanes,
             tiles_at_once * tile_size + lanes * lanes, [&](std::size_t g, double* scratch) {
               TileGroup group;
               group.load(candidates, g * tiles_at_once * lanes, scratch);
               double* block = scratch + tiles_at_once * tile_size;
               for (std::size_t point = 0; point < rows.n; point += lanes) {
                 const std::size_t points = std::min(lanes, rows.n - point);
                 for (std::size_t t = 0; t < group.tiles; ++t) {
                   const std::size_t object = group.first + t * lanes;
                   const std::size_t count = std::min(lanes, candidates.n - object);
                   kernel.squared(scratch + t * tile_size, rows.row(point), points, d, block);
                   kernel.root(block, points * lanes);
                   for (std::size_t p = 0; p < points; ++p)
                     std::copy_n(block + p * lanes, count, table.row(point + p) + object);
                 }
               }
             });
  return table;
}

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

std::vector<std::int32_t> build_medoids(const Workers& workers, const DistanceTable& distances, int k) {
  const auto& kernel = kernels::table();
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
        kernel.sum_rows(distances.row(0), distances.stride(), rows, first, width, gains.data() + first);
      else
        kernel.build_gains(distances.row(0), distances.stride(), rows, nearest.data(), first, width,
                           gains.data() + first);
    });
    if (i == 0)
      for (double& gain : gains) gain = -gain;
    const std::int32_t chosen = best_candidate(gains, taken);
    taken[static_cast<std::size_t>(chosen)] = 1;
    medoids.push_back(chosen);
    for (std::size_t j = 0; j < rows; ++j) nearest[j] = std::min(nearest[j], distances.row(j)[chosen]);
  }
  return medoids;
}

namespace {

// The state of SWAP on a table.
class SwapState {
 public:
  SwapState(const DistanceTable& distances, std::vector<std::int32_t>& medoids)
      : distances_(distances), medoids_(medoids), state_(distances.rows(), medoids.size()), taken_(distances.columns(), 0) {
    for (std::size_t slot = 0; slot < medoids.size(); ++slot) {
      fetch(slot);
      taken_[static_cast<std::size_t>(medoids_[slot])] = 1;
    }
    for (std::size_t j = 0; medoids.size() == 1 && j < distances.rows(); ++j)
      bound_ = std::max(bound_, *std::max_element(distances.row(j), distances.row(j) + distances.columns()));
    state_.update(bound_);
  }

  struct Change {
    double amount = 0;
    std::int32_t candidate = -1;
    std::int32_t slot = -1;
  };

  // Calls visit(candidate, slot, change of the cost) for the candidates first .. first + width - 1 that are no medoids;
  // scratch holds scratch_size() numbers.
  template <typename Visit>
  void for_changes(std::size_t first, std::size_t width, double* scratch, const Visit& visit) const {
    const std::size_t k = state_.k();
    double* shared = scratch;
    double* removal = scratch + swap_width;
    std::fill_n(shared, width, 0.0);
    for (std::size_t slot = 0; slot < k; ++slot) std::fill_n(removal + slot * swap_width, width, state_.loss()[slot]);
    kernels::table().swap_changes(state_.swap_rows(distances_.row(0), distances_.stride()), first, width, shared, removal);
    for (std::size_t h = 0; h < width; ++h)
      if (!taken_[first + h])
        for (std::size_t slot = 0; slot < k; ++slot) visit(first + h, slot, shared[h] + removal[slot * swap_width + h]);
  }

  // The best swap with one of these candidates.
  Change best_of(std::size_t first, std::size_t width, double* scratch) const {
    Change best;
    for_changes(first, width, scratch, [&](std::size_t candidate, std::size_t slot, double amount) {
      if (amount < best.amount)
        best = {amount, static_cast<std::int32_t>(candidate), static_cast<std::int32_t>(slot)};
    });
    return best;
  }

  double cost() const { return state_.cost(); }

  bool improves(const Change& change) const {
    return change.candidate >= 0 && change.amount < -16 * std::numeric_limits<double>::epsilon() * state_.cost();
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
  void fetch(std::size_t slot) {
    double* to = state_.column(slot);
    for (std::size_t j = 0; j < distances_.rows(); ++j) to[j] = distances_.row(j)[medoids_[slot]];
  }

  const DistanceTable& distances_;
  std::vector<std::int32_t>& medoids_;
  NearestMedoids state_;
  std::vector<char> taken_;
  double bound_ = 0;
};

// The best swap among the candidates of tiles first_tile .. last_tile - 1.
SwapState::Change best_swap(const Workers& workers, const SwapState& state, std::size_t columns, std::size_t first_tile,
                            std::size_t last_tile) {
  std::vector<SwapState::Change> best(last_tile - first_tile);
  for_groups(workers, "effort::cluster::swap", last_tile - first_tile, 1, state.scratch_size(),
             [&](std::size_t g, double* scratch) {
               const std::size_t first = (first_tile + g) * swap_width;
               best[g] = state.best_of(first, std::min(swap_width, columns - first), scratch);
             });
  SwapState::Change result;
  for (const auto& change : best)
    if (change.amount < result.amount) result = change;
  return result;
}

}  // namespace

int swap_medoids(const Workers& workers, const DistanceTable& distances, std::vector<std::int32_t>& medoids,
                 SwapRule rule, int max_swaps) {
  constexpr std::size_t eager_tiles = 4;  // candidates that are compared before one is taken; fixed: the result must
                                          // not depend on the number of workers
  const std::size_t tiles = ceil_div(distances.columns(), swap_width);
  const std::size_t step = rule == SwapRule::steepest ? tiles : std::min(eager_tiles, tiles);
  const std::size_t steps = ceil_div(tiles, step);
  if (medoids.size() >= distances.columns()) return 0;
  SwapState state(distances, medoids);
  int swaps = 0;
  std::size_t unimproved = 0;
  for (std::size_t i = 0; unimproved < steps && swaps < max_swaps; i = (i + 1) % steps) {
    const auto change =
        best_swap(workers, state, distances.columns(), i * step, std::min(tiles, (i + 1) * step));
    const double before = state.cost();
    if (state.improves(change)) {
      state.apply(change);
      ++swaps;
    }
    // A gain of rounding noise only (identical objects, cost 0) would be found again and again.
    unimproved = state.cost() < before ? 0 : unimproved + 1;
  }
  return swaps;
}

std::vector<std::vector<std::int32_t>> best_replacements(const Workers& workers, const DistanceTable& distances,
                                                         std::vector<std::int32_t> medoids, std::size_t count) {
  const std::size_t k = medoids.size(), columns = distances.columns();
  const SwapState state(distances, medoids);
  std::vector<double> changes(k * columns, std::numeric_limits<double>::max());
  for_groups(workers, "effort::cluster::replacements", columns, swap_width, state.scratch_size(),
             [&](std::size_t g, double* scratch) {
               const std::size_t first = g * swap_width;
               state.for_changes(first, std::min(swap_width, columns - first), scratch,
                                 [&](std::size_t candidate, std::size_t slot, double amount) {
                                   changes[slot * columns + candidate] = amount;
                                 });
             });
  std::vector<std::vector<std::int32_t>> best(k);
  const std::size_t most = std::min(count, columns - std::min(columns, k));
  std::vector<std::int32_t> candidates(columns);
  for (std::size_t slot = 0; slot < k; ++slot) {
    const double* change = changes.data() + slot * columns;
    for (std::size_t h = 0; h < columns; ++h) candidates[h] = static_cast<std::int32_t>(h);
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(most), candidates.end(),
                      [&](std::int32_t a, std::int32_t b) {
                        return change[a] < change[b] || (change[a] == change[b] && a < b);
                      });
    best[slot].assign(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(most));
  }
  return best;
}

}  // namespace effort::cluster
