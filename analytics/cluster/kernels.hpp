// The computations that take a clustering's time, as Kokkos kernels.
//
// The algorithms of this folder are written once, for data of the host, and call Kernels; only what stands behind it
// (kernels/) is compiled for each execution space.  Results do not depend on the space, its number of threads or the
// instruction set: every number is the result of the same operations in the same order, and a multiplication is fused
// with an addition where the kernels say so and nowhere else.
#pragma once

#include "analytics/cluster/assignment.hpp"
#include "analytics/cluster/clustering.hpp"
#include "analytics/cluster/table.hpp"
#include "analytics/simd/widest.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace effort::cluster {

/// How every row (an object that counts in the objective) stands among the medoids.
struct Standing {
  std::vector<std::int32_t> nearest;  ///< [rows] slot of the nearest medoid
  std::vector<std::int32_t> order;    ///< [rows] the rows, those of one medoid after the other
  std::vector<double> first, second;  ///< [rows] distances to the nearest and the second nearest
  std::vector<double> loss;           ///< [k] what removing a medoid would cost
};

/// A swap of the medoid of a slot for a candidate, and what it adds to the cost.
struct Change {
  double amount = 0;
  std::int32_t candidate = -1;  ///< -1: none
  std::int32_t slot = -1;
};

/// Kernels on one table of distances, which is borrowed; a device gets a copy when this is made.
template <typename T>
class TableKernels {
 public:
  virtual ~TableKernels() = default;

  /// sums[h] = sum over all rows of the distance to candidate h.
  virtual void sums(std::span<double> sums) const = 0;
  /// gains[h] = sum over all rows j of max(0, nearest[j] - distance to candidate h).
  virtual void gains(std::span<const double> nearest, std::span<double> gains) const = 0;
  /// The swap with one of the candidates first .. last - 1 that lowers the cost most, the first of equals; none where
  /// none does (FastPAM1, Schubert & Rousseeuw 2019, algorithm 2).
  /// @param taken  [columns] not 0: is a medoid
  virtual Change best_swap(const Standing& standing, std::span<const char> taken, std::size_t first,
                           std::size_t last) const = 0;
  /// least[h] = what the best swap with candidate h adds to the cost.
  virtual void least_changes(const Standing& standing, std::span<double> least) const = 0;
  /// For every stratum s and column h, over the rows whose label is s: the sum, the least (at most the largest finite
  /// number) and the largest (at least 0) of the distances, each [k][columns].
  virtual void strata(std::span<const std::int32_t> labels, std::span<double> sums, std::span<double> least,
                      std::span<double> most) const = 0;
};

/// Kernels on data of the host.  May be called from any thread; throws std::bad_alloc.
class Kernels {
 public:
  virtual ~Kernels() = default;

  /// Distances of every row of `rows` to every row of `candidates`.
  virtual DistanceTable distances(const RowsOf<double>& rows, const RowsOf<double>& candidates) const = 0;
  virtual Table<float> distances(const RowsOf<float>& rows, const RowsOf<float>& candidates) const = 0;
  /// Distances between all pairs of `objects`; each is computed once.
  virtual DistanceTable all_distances(const RowsOf<double>& objects) const = 0;
  /// Every object to its nearest medoid, for several sets of medoids in one read.  n may be 0.
  virtual Assignment assign(const Signatures& objects, const MedoidSets& medoids, FixedUnit unit) const = 0;
  /// Fills nearest (the first of equals), first and second of `standing` for each of its rows.
  /// @param columns  [k][rows] distances to the medoids
  /// @param bound    the most that `second` can be
  virtual void two_nearest(std::span<const double> columns, double bound, Standing& standing) const = 0;
  virtual std::unique_ptr<TableKernels<double>> on(const Table<double>& table) const = 0;
  virtual std::unique_ptr<TableKernels<float>> on(const Table<float>& table) const = 0;

  DistanceTable distances(const Signatures& rows, const Signatures& candidates) const {
    return distances(RowsOf<double>{rows.values.data(), rows.n, rows.d},
                     RowsOf<double>{candidates.values.data(), candidates.n, candidates.d});
  }
  DistanceTable all_distances(const Signatures& objects) const {
    return all_distances(RowsOf<double>{objects.values.data(), objects.n, objects.d});
  }
};

/// The kernels on an execution space instance.
template <typename Space>
class KernelsOn final : public Kernels {
 public:
  /// @param set  for tests: what a host's kernels run in
  explicit KernelsOn(const Space& space, simd::InstructionSet set = simd::best()) : space_(space), set_(set) {}

  using Kernels::all_distances;
  using Kernels::distances;
  DistanceTable distances(const RowsOf<double>& rows, const RowsOf<double>& candidates) const override;
  Table<float> distances(const RowsOf<float>& rows, const RowsOf<float>& candidates) const override;
  DistanceTable all_distances(const RowsOf<double>& objects) const override;
  Assignment assign(const Signatures& objects, const MedoidSets& medoids, FixedUnit unit) const override;
  void two_nearest(std::span<const double> columns, double bound, Standing& standing) const override;
  std::unique_ptr<TableKernels<double>> on(const Table<double>& table) const override;
  std::unique_ptr<TableKernels<float>> on(const Table<float>& table) const override;

 private:
  Space space_;
  simd::InstructionSet set_;
};

}  // namespace effort::cluster

/// Instantiates MACRO(space) for every space the analytics are built for.
#ifdef KOKKOS_ENABLE_OPENMP
#define EFFORT_FOR_EACH_SPACE(MACRO) MACRO(Kokkos::Serial) MACRO(Kokkos::OpenMP)
#else
#define EFFORT_FOR_EACH_SPACE(MACRO) MACRO(Kokkos::Serial)
#endif
