// The inner loops: squared distances of sixteen objects at a time, swap evaluation, sums of distances.
// Every variant (SSE2, AVX2, AVX-512, or whatever the compiler makes of it elsewhere) does the same operations on every
// element in the same order, and fuses a multiplication with an addition where it is written here and nowhere else, so
// all give the same bits, also in single precision.
#pragma once

#include <cstddef>
#include <cstdint>

namespace effort::cluster::kernels {

/// Objects in a tile: the lanes that are worked on together.
inline constexpr std::size_t lanes = 16;

/// Candidates whose swaps are evaluated together.
inline constexpr std::size_t swap_width = 256;

/// Rows whose terms are added in single precision before they are added to a sum in double precision.
inline constexpr int single_rows = 8;

/// Where SWAP stands: for each row (an object that counts in the objective) the nearest and the second nearest medoid.
template <typename T>
struct SwapRowsOf {
  const T* distances;  ///< [rows][stride]: row j holds the distances of j to all candidates
  std::size_t stride;
  std::size_t rows;
  const std::int32_t* order;    ///< [rows] the rows, those of one nearest medoid after the other
  const std::int32_t* nearest;  ///< [rows] slot of the nearest medoid
  const double* first;          ///< [rows] its distance
  const double* second;         ///< [rows] distance to the second nearest
};

using SwapRows = SwapRowsOf<double>;

/// Distances as fixed-point numbers in two words: d * scale = high + low / resolution, both integers held in doubles.
struct FixedPoint {
  double scale;       ///< a power of two
  double resolution;  ///< a power of two
};

/// What is added up per lane.
struct TrialSums {
  double* high;         ///< [lanes] whole parts
  double* low;          ///< [lanes] scaled rests
  std::int64_t* sizes;  ///< [k][lanes] members: a lane's own counters, so that none waits for its neighbour's
};

/// One set of kernels.
struct Table {
  /// tile[j * lanes + l] = rows[l * stride + j]; lanes beyond `count` repeat the last row.
  void (*load_tile)(const double* rows, std::size_t stride, std::size_t count, std::size_t d, double* tile);

  /// out[p * lanes + l] = sum over j, ascending, of (tile[j * lanes + l] - points[p * d + j])^2, each square added
  /// without a rounding of its own (fused).
  void (*squared)(const double* tile, const double* points, std::size_t n_points, std::size_t d, double* out);

  /// The largest bit pattern of |value|: at least 0x7ff0000000000000 when one is infinite or not a number.
  std::uint64_t (*largest_bits)(const double* values, std::size_t count);

  /// The lanes' objects, of which the first `count` are there, to the nearest of k medoids, the first of equals, given
  /// their squared distances squared[slots[i] * lanes + l].  Adds the distances to the sums (whole parts and scaled
  /// rests: exact while sums stay below 2^53) and the members, and sets labels[0 .. count - 1].  Returns the largest of
  /// the distances.
  double (*assign)(const double* squared, const std::int32_t* slots, std::size_t k, std::size_t count, FixedPoint fixed,
                   const TrialSums& sums, std::uint16_t* labels);

  /// In place square root of `count` values.
  void (*root)(double* values, std::size_t count);

  /// For each of `count` values: sums[i] += values[i], least[i] and most[i] the smaller and the larger of both.
  void (*add_row)(const double* values, std::size_t count, double* sums, double* least, double* most);

  /// sums[h] += distance of every row to candidate first + h, rows ascending.
  void (*sum_rows)(const double* distances, std::size_t stride, std::size_t rows, std::size_t first, std::size_t width,
                   double* sums);

  /// gains[h] += max(0, nearest[j] - distance(j, first + h)) over rows j ascending.
  void (*build_gains)(const double* distances, std::size_t stride, std::size_t rows, const double* nearest,
                      std::size_t first, std::size_t width, double* gains);

  /// first[j] and second[j] = the smallest and the second smallest (at most `bound`) of columns[slot * rows + j] over k
  /// slots; nearest[j] = the first slot that has the smallest.
  void (*two_nearest)(const double* columns, std::size_t rows, std::size_t k, double bound, double* first,
                      double* second, std::int32_t* nearest);

  /// What a swap with candidate first + h changes: shared[h] whatever the medoid, removal[slot * swap_width + h] in
  /// addition when it replaces that slot's (FastPAM1, Schubert & Rousseeuw 2019, algorithm 2).
  void (*swap_changes)(const SwapRows& rows, std::size_t first, std::size_t width, double* shared, double* removal);

  /// The same in single precision.
  void (*load_tile_single)(const float* rows, std::size_t stride, std::size_t count, std::size_t d, float* tile);
  void (*squared_single)(const float* tile, const float* points, std::size_t n_points, std::size_t d, float* out);
  void (*root_single)(float* values, std::size_t count);

  /// The same on distances in single precision: terms of up to single_rows rows are added in single precision, the rest
  /// in double precision.
  void (*sum_rows_single)(const float* distances, std::size_t stride, std::size_t rows, std::size_t first,
                          std::size_t width, double* sums);
  void (*build_gains_single)(const float* distances, std::size_t stride, std::size_t rows, const double* nearest,
                             std::size_t first, std::size_t width, double* gains);
  /// Times `sign`; removal[slot * removal_stride + h].
  void (*swap_changes_single)(const SwapRowsOf<float>& rows, std::size_t first, std::size_t width, double sign,
                              double* shared, double* removal, std::size_t removal_stride);
};

/// The fastest set this processor runs.
const Table& table();

/// Sets that this processor runs, for tests: at most three.
std::size_t available(const Table* (&tables)[3]);

}  // namespace effort::cluster::kernels
