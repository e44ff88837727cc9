// Tiles of objects and their distances to points.
#pragma once

#include "analytics/cluster/table.hpp"
#include "analytics/simd/pack.hpp"
#include "analytics/simd/team.hpp"

#include <cstddef>

namespace effort::cluster {

/// tile[j * lanes + l] = rows[l * d + j]; lanes beyond `count` repeat the last row.  Ends with a barrier.
template <typename Team, typename T>
KOKKOS_INLINE_FUNCTION void load_tile(const Team& team, const T* rows, std::size_t count, std::size_t d, T* tile) {
  constexpr std::size_t block = 8;  // one cache line of every row at a time
  const auto row = [=](std::size_t l) { return rows + (l < count ? l : count - 1) * d; };
  const std::size_t whole = d / block;
  simd::for_each(team, whole * lanes / 2, [=](std::size_t i) {
    const std::size_t j = i / (lanes / 2) * block, l = i % (lanes / 2) * 2;
    const T *a = row(l) + j, *b = row(l + 1) + j;
    T* to = tile + j * lanes + l;
#pragma GCC unroll 8
    for (std::size_t at = 0; at < block; ++at) {
      to[at * lanes] = a[at];
      to[at * lanes + 1] = b[at];
    }
  });
  simd::for_each(team, (d - whole * block) * lanes, [=](std::size_t i) {
    const std::size_t j = whole * block + i / lanes, l = i % lanes;
    tile[j * lanes + l] = row(l)[j];
  });
  simd::barrier(team);
}

/// Squared distances of a pack of objects to `Points` points.  Squares are added in ascending j, fused with the
/// addition.
/// @param tile  the pack's first object in a tile
/// @param use   use(p, pack of squares)
template <int Points, std::size_t Width, typename T, typename Use>
KOKKOS_FORCEINLINE_FUNCTION void squared_group(const T* tile, const T* points, std::size_t d, const Use& use) {
  using Pack = simd::Pack<T, Width>;
  Pack sum[Points] = {};
  for (std::size_t j = 0; j < d; ++j) {
    Pack x;
    simd::load(x, tile + j * lanes);
#pragma GCC unroll 16
    for (int p = 0; p < Points; ++p) {
      const Pack difference = x - points[static_cast<std::size_t>(p) * d + j];
      simd::add_product<T, Width>(sum[p], difference, difference);
    }
  }
#pragma GCC unroll 16
  for (int p = 0; p < Points; ++p) use(static_cast<std::size_t>(p), sum[p]);
}

/// Enough independent sums to hide the latency of an addition; more would only make more code.
inline constexpr int points_at_once = 8;

template <int Points, std::size_t Width, typename T, typename Use>
KOKKOS_FORCEINLINE_FUNCTION void squared_some(const T* tile, const T* points, std::size_t n, std::size_t d,
                                              const Use& use) {
  if constexpr (Points > 0) {
    if (n == static_cast<std::size_t>(Points))
      squared_group<Points, Width>(tile, points, d, use);
    else
      squared_some<Points - 1, Width>(tile, points, n, d, use);
  }
}

/// The same for any number of points, in groups of nearly equal size: with only a few sums, each addition would wait
/// for the previous one.
template <std::size_t Width, typename T, typename Use>
KOKKOS_FORCEINLINE_FUNCTION void squared(const T* tile, const T* points, std::size_t n, std::size_t d, const Use& use) {
  for (std::size_t p = 0, count; p < n; p += count) {
    count = ceil_div(n - p, ceil_div(n - p, points_at_once));
    squared_some<points_at_once, Width>(tile, points + p * d, count, d,
                                        [&](std::size_t i, const auto& squares) { use(p + i, squares); });
  }
}

}  // namespace effort::cluster
