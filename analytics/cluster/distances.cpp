// Tables of distances.
#include "analytics/cluster/for_groups.hpp"
#include "analytics/cluster/kernels_of.hpp"
#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster/store_mirrored.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace effort::cluster {
namespace {

using kernels::lanes;

constexpr std::size_t tiles_at_once = 4;  // so that a block of points is read once for 64 objects

// Tiles of up to tiles_at_once * lanes consecutive objects, and how far each is filled.
struct TileGroup {
  std::size_t first = 0;
  std::size_t tiles = 0;

  template <typename T>
  void load(const RowsOf<T>& objects, std::size_t from, T* scratch) {
    first = from;
    tiles = std::min(tiles_at_once, ceil_div(objects.n - from, lanes));
    for (std::size_t t = 0; t < tiles; ++t) {
      const std::size_t object = first + t * lanes;
      kernels::load_tile(objects.row(object), objects.d, std::min(lanes, objects.n - object), objects.d,
                         scratch + t * lanes * objects.d);
    }
  }
};

RowsOf<double> rows_of_table(const Signatures& objects) { return {objects.values.data(), objects.n, objects.d}; }

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
               group.load(rows_of_table(objects), g * tiles_at_once * lanes, scratch);
               double* block = scratch + tiles_at_once * tile_size;
               for (std::size_t point = group.first; point < objects.n; point += lanes) {
                 const std::size_t points = std::min(lanes, objects.n - point);
                 for (std::size_t t = 0; t < group.tiles; ++t) {
                   const std::size_t object = group.first + t * lanes;
                   if (object > point) break;  // mirrored from the tile below the diagonal
                   kernel.squared(scratch + t * tile_size, objects.row(point), points, d, block);
                   kernel.root(block, points * lanes);
                   store_mirrored(block, points, point, object, table);
                 }
               }
             });
  return table;
}

template <typename T>
Table<T> distances_between(const Workers& workers, const RowsOf<T>& rows, const RowsOf<T>& candidates) {
  Table<T> table(rows.n, candidates.n);
  const std::size_t tile_size = lanes * candidates.d, d = candidates.d;
  for_groups<T>(workers, "effort::cluster::dissimilarity", candidates.n, tiles_at_once * lanes,
                tiles_at_once * tile_size + lanes * lanes, [&](std::size_t g, T* scratch) {
                  TileGroup group;
                  group.load(candidates, g * tiles_at_once * lanes, scratch);
                  T* block = scratch + tiles_at_once * tile_size;
                  for (std::size_t point = 0; point < rows.n; point += lanes) {
                    const std::size_t points = std::min(lanes, rows.n - point);
                    for (std::size_t t = 0; t < group.tiles; ++t) {
                      const std::size_t object = group.first + t * lanes;
                      const std::size_t count = std::min(lanes, candidates.n - object);
                      kernels::squared(scratch + t * tile_size, rows.row(point), points, d, block);
                      kernels::root(block, points * lanes);
                      for (std::size_t p = 0; p < points; ++p)
                        if (count == lanes)  // of known length: no call
                          std::memcpy(table.row(point + p) + object, block + p * lanes, lanes * sizeof(T));
                        else
                          std::copy_n(block + p * lanes, count, table.row(point + p) + object);
                    }
                  }
                });
  return table;
}

template Table<double> distances_between(const Workers&, const RowsOf<double>&, const RowsOf<double>&);
template Table<float> distances_between(const Workers&, const RowsOf<float>&, const RowsOf<float>&);

DistanceTable distances_between(const Workers& workers, const Signatures& rows, const Signatures& candidates) {
  return distances_between(workers, rows_of_table(rows), rows_of_table(candidates));
}

}  // namespace effort::cluster
