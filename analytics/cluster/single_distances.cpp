#include "analytics/cluster/single_distances.hpp"

#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/store_mirrored.hpp"

#include <algorithm>
#include <cmath>

namespace effort::cluster {
namespace {

using kernels::lanes;

constexpr double half_unit = 0x1p-24;  // what rounding to single precision changes at most, relatively
constexpr std::size_t points_at_once = 64;

std::vector<double> column_means(const Signatures& objects) {
  std::vector<double> means(objects.d, 0.0);
  for (std::size_t i = 0; i < objects.n; ++i)
    for (std::size_t j = 0; j < objects.d; ++j) means[j] += objects.row(i)[j];
  for (double& mean : means) mean /= static_cast<double>(objects.n);
  return means;
}

// Rows around the means, rounded; and what the rounding moves each by: the bound of the errors of its distances.
std::vector<float> rounded_rows(const Signatures& objects, std::vector<double>& absolute) {
  const std::vector<double> means = column_means(objects);
  // A square below the normal numbers may be lost: at most 2^-126 in each column.
  const double lost = std::sqrt(static_cast<double>(objects.d)) * 0x1p-63;
  std::vector<float> rows(objects.n * objects.d);
  for (std::size_t i = 0; i < objects.n; ++i) {
    double squares = 0;
    for (std::size_t j = 0; j < objects.d; ++j) {
      const double value = objects.row(i)[j] - means[j];
      rows[i * objects.d + j] = static_cast<float>(value);
      squares += value * value;
    }
    absolute.push_back(1.01 * half_unit * std::sqrt(squares) + lost);
  }
  return rows;
}

// Tiles of the objects, each [d][lanes], one after the other.
std::vector<float> tiles_of(const std::vector<float>& rows, std::size_t n, std::size_t d) {
  const std::size_t tiles = (n + lanes - 1) / lanes;
  std::vector<float> result(tiles * lanes * d);
  for (std::size_t t = 0; t < tiles; ++t)
    kernels::table().load_tile_single(rows.data() + t * lanes * d, d, std::min(lanes, n - t * lanes), d,
                                      result.data() + t * lanes * d);
  return result;
}

}  // namespace

SingleDistances all_distances_single(const Workers& workers, const Signatures& objects) {
  const std::size_t n = objects.n, d = objects.d;
  SingleDistances result{Table<float>(n, n), 0, {}};
  // Differences, squares, d additions, the root; a part of 2^-20 of all that for products of these errors.
  result.relative = 1.01 * half_unit * (0.5 * static_cast<double>(d) + 4);
  const std::vector<float> rows = rounded_rows(objects, result.absolute);
  const std::vector<float> tiles = tiles_of(rows, n, d);
  const auto& kernel = kernels::table();
  // Blocks of points against the tiles up to their own: each pair once.
  const std::size_t blocks = (n + points_at_once - 1) / points_at_once;
  workers.run("effort::cluster::dissimilarity", blocks, [&](std::size_t b) {
    const std::size_t begin = (blocks - 1 - b) * points_at_once;  // the longest first
    const std::size_t end = std::min(n, begin + points_at_once);
    float block[lanes * lanes];
    for (std::size_t object = 0; object < end; object += lanes)
      for (std::size_t point = std::max(begin, object); point < end; point += lanes) {
        const std::size_t count = std::min(lanes, end - point);
        kernel.squared_single(tiles.data() + object * d, rows.data() + point * d, count, d, block);
        kernel.root_single(block, count * lanes);
        store_mirrored(block, count, point, object, result.table);
      }
  });
  return result;
}

}  // namespace effort::cluster
