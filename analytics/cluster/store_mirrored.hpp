// Blocks of distances into a table of all pairs.
#pragma once

#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/kmedoids.hpp"

#include <algorithm>
#include <cstddef>

namespace effort::cluster {

/// Writes a block [point][lane] of distances between `points` points and a tile of objects into rows first_point and
/// on, and mirrored into the objects' rows.  The tile ends with the table's columns.
template <typename T>
void store_mirrored(const T* block, std::size_t points, std::size_t first_point, std::size_t first_object,
                    Table<T>& table) {
  const std::size_t objects = std::min(kernels::lanes, table.columns() - first_object);
  for (std::size_t p = 0; p < points; ++p)
    std::copy_n(block + p * kernels::lanes, objects, table.row(first_point + p) + first_object);
  for (std::size_t l = 0; l < objects; ++l) {
    T* row = table.row(first_object + l) + first_point;
    for (std::size_t p = 0; p < points; ++p) row[p] = block[p * kernels::lanes + l];
  }
}

}  // namespace effort::cluster
