// Tables of distances.
#pragma once

#include "analytics/cluster/kernels/tile.hpp"
#include "analytics/simd/in_space.hpp"

#include <algorithm>
#include <cstddef>

namespace effort::cluster {

/// Distances of rows to candidates.  A team works on a group of tiles of candidates, so that each block of rows is read
/// once for all of them.
template <typename Space, typename T>
struct DistanceKernel {
  static constexpr std::size_t tiles_at_once = 4;

  std::size_t n, columns, d, stride, teams;
  bool symmetric;  ///< rows and candidates are the same: each distance is computed once
  simd::Array<Space, const T> rows, candidates;
  simd::Array<Space, T> out, tiles;  ///< out: [n][stride], tiles: [teams][scratch_size(d)]

  static constexpr std::size_t scratch_size(std::size_t d) { return tiles_at_once * lanes * d; }
  static constexpr std::size_t group_size = tiles_at_once * lanes;

  template <typename Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const auto rank = static_cast<std::size_t>(team.league_rank());
    T* const tile = tiles.data() + rank * scratch_size(d);
    for (std::size_t begin = rank * group_size; begin < columns; begin += teams * group_size) {
      const std::size_t end = begin + group_size < columns ? begin + group_size : columns;
      simd::barrier(team);
      for (std::size_t object = begin; object < end; object += lanes)
        load_tile(team, candidates.data() + object * d, object + lanes < columns ? lanes : columns - object, d,
                  tile + (object - begin) * d);
      for (std::size_t point = symmetric ? begin : 0; point < n; point += lanes)
        for (std::size_t object = begin; object < end; object += lanes) {
          if (symmetric && object > point) break;  // mirrored from the other side of the diagonal
          block(team, tile + (object - begin) * d, point, object);
        }
    }
  }

  /// Distances of up to `lanes` rows to a tile.
  template <typename Team>
  KOKKOS_INLINE_FUNCTION void block(const Team& team, const T* tile, std::size_t point, std::size_t object) const {
    const std::size_t points = point + lanes < n ? lanes : n - point;
    T* const to = out.data() + point * stride + object;  // the table has room for whole tiles
    simd::for_each_pack<T>(team, lanes, [=, this](std::size_t l, auto width) {
      squared<width>(tile + l, rows.data() + point * d, points, d, [=, this](std::size_t p, const auto& squares) {
        auto distance = squares;
        simd::take_root<T, width>(distance);
        simd::store(to + p * stride + l, distance);
      });
    });
    if (!symmetric) return;
    simd::barrier(team);
    const std::size_t objects = object + lanes < columns ? lanes : columns - object;
    T* const mirrored = out.data() + object * stride + point;
    simd::for_each(team, objects, [=, this](std::size_t l) {
      for (std::size_t p = 0; p < points; ++p) mirrored[l * stride + p] = to[p * stride + l];
    });
  }
};

}  // namespace effort::cluster
