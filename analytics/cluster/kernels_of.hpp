// The kernels that exist in both precisions, by the type of their numbers.
#pragma once

#include "analytics/cluster/kernels.hpp"

namespace effort::cluster::kernels {

inline void load_tile(const double* rows, std::size_t stride, std::size_t count, std::size_t d, double* tile) {
  table().load_tile(rows, stride, count, d, tile);
}
inline void load_tile(const float* rows, std::size_t stride, std::size_t count, std::size_t d, float* tile) {
  table().load_tile_single(rows, stride, count, d, tile);
}

inline void squared(const double* tile, const double* points, std::size_t n_points, std::size_t d, double* out) {
  table().squared(tile, points, n_points, d, out);
}
inline void squared(const float* tile, const float* points, std::size_t n_points, std::size_t d, float* out) {
  table().squared_single(tile, points, n_points, d, out);
}

inline void root(double* values, std::size_t count) { table().root(values, count); }
inline void root(float* values, std::size_t count) { table().root_single(values, count); }

inline void sum_rows(const double* distances, std::size_t stride, std::size_t rows, std::size_t first,
                     std::size_t width, double* sums) {
  table().sum_rows(distances, stride, rows, first, width, sums);
}
inline void sum_rows(const float* distances, std::size_t stride, std::size_t rows, std::size_t first, std::size_t width,
                     double* sums) {
  table().sum_rows_single(distances, stride, rows, first, width, sums);
}

inline void build_gains(const double* distances, std::size_t stride, std::size_t rows, const double* nearest,
                        std::size_t first, std::size_t width, double* gains) {
  table().build_gains(distances, stride, rows, nearest, first, width, gains);
}
inline void build_gains(const float* distances, std::size_t stride, std::size_t rows, const double* nearest,
                        std::size_t first, std::size_t width, double* gains) {
  table().build_gains_single(distances, stride, rows, nearest, first, width, gains);
}

/// removal[slot * swap_width + h], as swap_changes of Table.
inline void swap_changes(const SwapRows& rows, std::size_t first, std::size_t width, double* shared, double* removal) {
  table().swap_changes(rows, first, width, shared, removal);
}
inline void swap_changes(const SwapRowsOf<float>& rows, std::size_t first, std::size_t width, double* shared,
                         double* removal) {
  table().swap_changes_single(rows, first, width, 1, shared, removal, swap_width);
}

}  // namespace effort::cluster::kernels
