// The search for medoids on a table of distances: what PAM, CLARA's trials and the quality mode share.
#pragma once

#include "analytics/cluster/clustering.hpp"
#include "analytics/cluster/pam.hpp"
#include "analytics/cluster/workers.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace effort::cluster {

/// Distances of `rows` objects (those that count in the objective) to `columns` candidates; row-major.
class DistanceTable {
 public:
  /// Leaves the values unset.  Throws std::bad_alloc.
  DistanceTable(std::size_t rows, std::size_t columns);

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::size_t stride() const { return stride_; }
  double* row(std::size_t j) { return values_.get() + j * stride_; }
  const double* row(std::size_t j) const { return values_.get() + j * stride_; }

 private:
  struct Free {
    void operator()(double* p) const { std::free(p); }
  };
  std::size_t rows_, columns_, stride_;
  std::unique_ptr<double[], Free> values_;
};

/// Distances between all pairs of `objects`; each is computed once.
DistanceTable all_distances(const Workers& workers, const Signatures& objects);

/// Distances of every row of `rows` to every row of `candidates`.
DistanceTable distances_between(const Workers& workers, const Signatures& rows, const Signatures& candidates);

/// BUILD: k candidates, each the one that lowers the cost most; the first of equals.  The first i of the result are
/// what BUILD gives for i.  Needs k <= columns.
std::vector<std::int32_t> build_medoids(const Workers& workers, const DistanceTable& distances, int k);

/// SWAP, in place, until no swap lowers the cost (by more than 16 roundings of it).
/// Returns the number of swaps made.
int swap_medoids(const Workers& workers, const DistanceTable& distances, std::vector<std::int32_t>& medoids,
                 SwapRule rule, int max_swaps);

/// For each medoid the candidates that would replace it best: up to `count` of those not taken, by ascending change of
/// the cost, [k] lists.
std::vector<std::vector<std::int32_t>> best_replacements(const Workers& workers, const DistanceTable& distances,
                                                         std::vector<std::int32_t> medoids, std::size_t count);

}  // namespace effort::cluster
