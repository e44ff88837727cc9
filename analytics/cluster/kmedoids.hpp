// The search for medoids on a table of distances: what PAM, CLARA's trials and the quality mode share.
#pragma once

#include "analytics/cluster/clustering.hpp"
#include "analytics/cluster/pam.hpp"
#include "analytics/cluster/workers.hpp"

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace effort::cluster {

/// Distances of `rows` objects (those that count in the objective) to `columns` candidates; row-major.
template <typename T>
class Table {
 public:
  /// Leaves the values unset.  Throws std::bad_alloc.
  Table(std::size_t rows, std::size_t columns);

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::size_t stride() const { return stride_; }
  T* row(std::size_t j) { return values_.get() + j * stride_; }
  const T* row(std::size_t j) const { return values_.get() + j * stride_; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::size_t rows_, columns_, stride_;
  std::unique_ptr<T[], Free> values_;
};

using DistanceTable = Table<double>;

/// Borrowed rows, as Signatures, of either precision.
template <typename T>
struct RowsOf {
  const T* values = nullptr;
  std::size_t n = 0;
  std::size_t d = 0;

  const T* row(std::size_t i) const { return values + i * d; }
};

/// The rows of the given objects, one after the other.
template <typename T>
std::vector<T> rows_of(const RowsOf<T>& objects, const std::vector<std::int32_t>& ids) {
  std::vector<T> rows;
  rows.reserve(ids.size() * objects.d);
  for (const std::int32_t id : ids) {
    const T* row = objects.row(static_cast<std::size_t>(id));
    rows.insert(rows.end(), row, row + objects.d);
  }
  return rows;
}

/// Distances between all pairs of `objects`; each is computed once.
DistanceTable all_distances(const Workers& workers, const Signatures& objects);

/// Distances of every row of `rows` to every row of `candidates`.
DistanceTable distances_between(const Workers& workers, const Signatures& rows, const Signatures& candidates);
template <typename T>
Table<T> distances_between(const Workers& workers, const RowsOf<T>& rows, const RowsOf<T>& candidates);

/// BUILD: k candidates, each the one that lowers the cost most; the first of equals.  The first i of the result are
/// what BUILD gives for i.  Needs k <= columns.
template <typename T>
std::vector<std::int32_t> build_medoids(const Workers& workers, const Table<T>& distances, int k);

/// When SWAP takes a swap, and when it ends.
struct SwapLimits {
  std::size_t compared = 1024;  ///< candidates that are compared before the best of them is taken
  int swaps = std::numeric_limits<int>::max();
  std::function<bool(const std::vector<std::int32_t>&)> ended =
      {};  ///< these medoids are where to end, without another look
};

/// SWAP, in place, until no swap lowers the cost (by more than some roundings of it).
/// Returns the number of swaps made.
template <typename T>
int swap_medoids(const Workers& workers, const Table<T>& distances, std::vector<std::int32_t>& medoids,
                 const SwapLimits& limits);
int swap_medoids(const Workers& workers, const DistanceTable& distances, std::vector<std::int32_t>& medoids,
                 SwapRule rule, int max_swaps);

/// What the best swap with each candidate would add to the cost, [columns].
template <typename T>
std::vector<double> swap_changes(const Workers& workers, const Table<T>& distances, std::vector<std::int32_t> medoids);

/// BUILD and steepest SWAP on all pairs of many objects: distances in single precision, with bounds of their errors,
/// show which candidates can be the best one, and these are compared by their exact distances.  The result is what
/// build_medoids and swap_medoids give.
/// @param objects  values of magnitude 1 (their distances must be neither too large nor too small for single precision)
/// @return empty where so many candidates are equally good that this does not pay: use the exact table then
std::vector<std::int32_t> screened_medoids(const Workers& workers, const Signatures& objects, int k, int max_swaps);

}  // namespace effort::cluster
