// The expensive parts of clustering, as Kokkos kernels.
//
// The algorithms of this folder are written once, on host data, and call Kernels.  Only the implementation (kernels/)
// is compiled for each execution space.  Results do not depend on the space, its number of threads or the instruction
// set: every number results from the same operations in the same order, and a multiplication is fused with an addition
// only where the kernels say so.
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

/// The nearest medoids of every row (an object that counts in the objective).
struct Standing {
  std::vector<std::int32_t> nearest;  ///< [rows] slot of the nearest medoid
  std::vector<std::int32_t> order;    ///< [rows] row numbers, grouped by nearest medoid
  std::vector<double> first, second;  ///< [rows] distances to the nearest and the second nearest
  std::vector<double> loss;           ///< [k] what removing a medoid would cost
};

/// A swap of the medoid of a slot for a candidate, and the change in cost.
struct Change {
  double amount = 0;
  std::int32_t candidate = -1;  ///< -1: none
  std::int32_t slot = -1;
};

/// Kernels on one table of distances, which is borrowed.  On a device the constructor copies it there.
template <typename T>
class TableKernels {
 public:
  virtual ~TableKernels() = default;

  /// sums[h] = sum over all rows of the distance to candidate h.
  virtual void sums(std::span<double> sums) const = 0;
  /// gains[h] = sum over all rows j of max(0, nearest[j] - distance to candidate h).
  virtual void gains(std::span<const double> nearest, std::span<double> gains) const = 0;
  /// The swap with one of the candidates first .. last - 1 that lowers the cost most; ties go to the first.  None if no
  /// swap lowers it (FastPAM1, Schubert & Rousseeuw 2019, algorithm 2).
  /// @param taken  [columns] not 0 for medoids
  virtual Change best_swap(const Standing& standing, std::span<const char> taken, std::size_t first,
                           std::size_t last) const = 0;
  /// least[h] = change in cost by the best swap with candidate h.
  virtual void least_changes(const Standing& standing, std::span<double> least) const = 0;
  /// Sum, minimum and maximum of the distances to each column over the rows of each stratum, each [k][columns].  For a
  /// stratum without rows these are 0, the largest finite number and 0.
  virtual void strata(std::span<const std::int32_t> labels, std::span<double> sums, std::span<double> least,
                      std::span<double> most) const = 0;
};

/// Kernels on host data.  May be called from any thread; throws std::bad_alloc.
class Kernels {
 public:
  virtual ~Kernels() = default;

  /// Distances of every row of `rows` to every row of `candidates`.
  virtual DistanceTable distances(const RowsOf<double>& rows, const RowsOf<double>& candidates) const = 0;
  virtual Table<float> distances(const RowsOf<float>& rows, const RowsOf<float>& candidates) const = 0;
  /// Distances between all pairs of `objects`; each is computed once.
  virtual DistanceTable all_distances(const RowsOf<double>& objects) const = 0;
  virtual Table<float> all_distances(const RowsOf<float>& objects) const = 0;
  /// Assigns every object to its nearest medoid, for several sets of medoids in one pass over the data.  n may be 0.
  virtual Assignment assign(const Signatures& objects, const MedoidSets& medoids, FixedUnit unit) const = 0;
  /// Sets `nearest` (ties go to the first), `first` and `second` of each row.
  /// @param columns  [k][rows] distances to the medoids
  /// @param bound    upper limit of `second`
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
  /// @param set  instruction set on the host, for tests
  explicit KernelsOn(const Space& space, simd::InstructionSet set = simd::best()) : space_(space), set_(set) {}

  using Kernels::all_distances;
  using Kernels::distances;
  DistanceTable distances(const RowsOf<double>& rows, const RowsOf<double>& candidates) const override;
  Table<float> distances(const RowsOf<float>& rows, const RowsOf<float>& candidates) const override;
  DistanceTable all_distances(const RowsOf<double>& objects) const override;
  Table<float> all_distances(const RowsOf<float>& objects) const override;
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
