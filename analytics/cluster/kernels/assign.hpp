// Assigns objects to their nearest medoids, for several sets of medoids in one pass over the data.
#pragma once

#include "analytics/cluster/kernels/tile.hpp"
#include "analytics/simd/in_space.hpp"

#include <cstddef>
#include <cstdint>

namespace effort::cluster {

template <typename Space>
struct AssignKernel {
  template <typename T>
  using Array = simd::Array<Space, T>;

  std::size_t n, d, k, trials, points, teams;
  double scale, resolution;  ///< distance * scale = high + low / resolution, both integers held in doubles
  Array<const double> objects, medoids;
  Array<const std::int32_t> sets;  ///< [trials][k] medoids
  Array<std::uint16_t> labels;     ///< [trials][n]
  /// Each lane of each team has its own sums and counters, so that no lane waits for the store of another.
  Array<std::int64_t> high_sums, low_sums;  ///< [teams][trials][lanes]
  Array<std::int64_t> sizes;                ///< [teams][trials][k][lanes]
  Array<double> largest_distances;          ///< [teams][lanes]
  Array<std::uint64_t> largest_bits;        ///< [teams] bit pattern of the largest magnitude of the values
  Array<double> scratch;                    ///< [teams][scratch_size()]

  static constexpr std::size_t tiles_per_flush = 1024;  // a sum of this many 2^42 per lane is exact in a double
  static std::size_t scratch_size(std::size_t d, std::size_t points, std::size_t trials) {
    return lanes * (d + points + 2 * trials);
  }

  /// A team's scratch memory.
  struct Part {
    double *tile, *squares, *high, *low;
  };

  template <typename Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const auto rank = static_cast<std::size_t>(team.league_rank());
    double* const own = scratch.data() + rank * lanes * (d + points + 2 * trials);
    const Part part{own, own + lanes * d, own + lanes * (d + points), own + lanes * (d + points + trials)};
    clear(team, part.high, 2 * trials * lanes);  // and low, which follows
    clear(team, high_sums.data() + rank * trials * lanes, trials * lanes);
    clear(team, low_sums.data() + rank * trials * lanes, trials * lanes);
    clear(team, sizes.data() + rank * trials * k * lanes, trials * k * lanes);
    clear(team, largest_distances.data() + rank * lanes, lanes);
    const std::size_t tiles = (n + lanes - 1) / lanes, begin = tiles * rank / teams, end = tiles * (rank + 1) / teams;
    std::uint64_t bits = 0;
    for (std::size_t i = begin; i < end; ++i) {
      simd::barrier(team);
      const std::uint64_t here = tile(team, rank, i * lanes, part);
      bits = here > bits ? here : bits;
      if ((i - begin) % tiles_per_flush == tiles_per_flush - 1) flush(team, rank, part);
    }
    flush(team, rank, part);
    simd::once(team, [=, this] { largest_bits(rank) = bits; });
  }

 private:
  template <typename Team, typename T>
  KOKKOS_INLINE_FUNCTION void clear(const Team& team, T* values, std::size_t count) const {
    simd::for_each(team, count, [=](std::size_t i) { values[i] = 0; });
  }

  template <typename Team>
  KOKKOS_INLINE_FUNCTION std::uint64_t tile(const Team& team, std::size_t rank, std::size_t first,
                                            const Part& part) const {
    const std::size_t count = first + lanes < n ? lanes : n - first;
    const double* const values = objects.data() + first * d;
    // This first pass reads in memory order, which the hardware prefetches; loading the tile does not.
    const std::uint64_t bits = simd::largest(team, count * d, [=](std::size_t i) { return magnitude(values[i]); });
    load_tile(team, values, count, d, part.tile);
    simd::prefetch(team, values + count * d, (first + 2 * lanes < n ? lanes : n - first - count) * d);
    simd::for_each_pack<double>(team, lanes, [=, this](std::size_t l, auto width) {
      squared<width>(part.tile + l, medoids.data(), points, d,
                     [=](std::size_t p, const auto& squares) { simd::store(part.squares + p * lanes + l, squares); });
      for (std::size_t t = 0; t < trials; ++t) trial<width>(rank, t, first, count, l, part);
    });
    return bits;
  }

  static KOKKOS_FORCEINLINE_FUNCTION std::uint64_t magnitude(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits & 0x7fffffffffffffff;
  }

  /// Assigns a pack of objects to the nearest medoids of one set; ties go to the first.
  template <std::size_t Width>
  KOKKOS_FORCEINLINE_FUNCTION void trial(std::size_t rank, std::size_t t, std::size_t first, std::size_t count,
                                         std::size_t l, const Part& part) const {
    using Pack = simd::Pack<double, Width>;
    using Indices = simd::Pack<std::int64_t, Width>;
    const std::int32_t* const slots = sets.data() + t * k;
    Pack distance;
    simd::load(distance, part.squares + static_cast<std::size_t>(slots[0]) * lanes + l);
    Indices nearest = {};
    for (std::size_t i = 1; i < k; ++i) {
      Pack value;
      simd::load(value, part.squares + static_cast<std::size_t>(slots[i]) * lanes + l);
      const auto closer = value < distance;
      distance = closer ? value : distance;
      const Indices here = Indices{} + static_cast<std::int64_t>(i);
      nearest = closer ? here : nearest;
    }
    simd::take_root<double, Width>(distance);
    std::int64_t index[Width];
    simd::store(index, nearest);
    const std::size_t there = l >= count ? 0 : count - l < Width ? count - l : Width;
    if (there < Width) {
      double kept[Width];
      simd::store(kept, distance);
      for (std::size_t i = there; i < Width; ++i) kept[i] = 0;
      simd::load(distance, kept);
    }
    std::int64_t* const members = sizes.data() + (rank * trials + t) * k * lanes + l;
    std::uint16_t* const to = labels.data() + t * n + first + l;
    for (std::size_t i = 0; i < there; ++i) {
      to[i] = static_cast<std::uint16_t>(index[i]);
      ++members[static_cast<std::size_t>(index[i]) * lanes + i];
    }
    add<Width>(distance, part.high + t * lanes + l, part.low + t * lanes + l);
    double* const largest = largest_distances.data() + rank * lanes + l;
    Pack most;
    simd::load(most, largest);
    most = distance > most ? distance : most;
    simd::store(largest, most);
  }

  /// Adds distances to sums of integers.
  template <std::size_t Width>
  KOKKOS_FORCEINLINE_FUNCTION void add(const simd::Pack<double, Width>& distance, double* high, double* low) const {
    constexpr double to_integer = 0x1.8p52;  // adding and subtracting it rounds to the nearest integer
    using Pack = simd::Pack<double, Width>;
    Pack high_sum, low_sum;
    simd::load(high_sum, high);
    simd::load(low_sum, low);
    const Pack scaled = distance * scale;
    const Pack whole = (scaled + to_integer) - to_integer;
    high_sum += whole;
    low_sum += (((scaled - whole) * resolution) + to_integer) - to_integer;
    simd::store(high, high_sum);
    simd::store(low, low_sum);
  }

  template <typename Team>
  KOKKOS_INLINE_FUNCTION void flush(const Team& team, std::size_t rank, const Part& part) const {
    constexpr double exact = 0x1p53;
    simd::barrier(team);
    simd::for_each(team, trials * lanes, [=, this](std::size_t i) {
      const double h = part.high[i], r = part.low[i];
      if (h < exact && r > -exact && r < exact) {  // else a value is bad, which the caller notices
        high_sums(rank * trials * lanes + i) += static_cast<std::int64_t>(h);
        low_sums(rank * trials * lanes + i) += static_cast<std::int64_t>(r);
      }
      part.high[i] = part.low[i] = 0;
    });
  }
};

}  // namespace effort::cluster
