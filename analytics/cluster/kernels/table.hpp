// Sums over the rows of a table of distances, for all candidates side by side.
#pragma once

#include "analytics/cluster/kernels.hpp"
#include "analytics/simd/in_space.hpp"
#include "analytics/simd/pack.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace effort::cluster {

/// Candidates in a group, whose sums stay in the cache.  Wide groups read longer pieces of each row, which the hardware
/// prefetches.
inline constexpr std::size_t least_group = 256, largest_group = 1024;

/// The widest group size at which each of `threads` threads gets a group.
inline std::size_t group_for(std::size_t columns, std::size_t threads) {
  std::size_t group = least_group;
  while (group < largest_group && group < columns && ceil_div(columns, 2 * group) >= threads) group *= 2;
  return group;
}

/// Rows that are processed per visit of the sums.  In single precision their terms are summed first, then added to the
/// sum in double precision.  In double precision each term is added to the sum, in the order of rows.
template <typename T>
inline constexpr int rows_at_once = std::is_same_v<T, float> ? 8 : 4;

template <typename T>
KOKKOS_FORCEINLINE_FUNCTION T begin_sum(double sum) {
  return std::is_same_v<T, float> ? T(0) : static_cast<T>(sum);
}
template <typename T>
KOKKOS_FORCEINLINE_FUNCTION void end_sum(double& sum, T terms) {
  sum = std::is_same_v<T, float> ? sum + static_cast<double>(terms) : static_cast<double>(terms);
}

/// A table in the memory of a space.
template <typename Space, typename T>
struct TableOn {
  simd::Array<Space, const T> values;
  std::size_t rows, columns, stride;

  KOKKOS_FORCEINLINE_FUNCTION const T* row(std::size_t j) const { return values.data() + j * stride; }
};

/// Calls body(first, width) for the team's groups of columns out of first .. last - 1.
template <typename Team, typename Body>
KOKKOS_INLINE_FUNCTION void for_groups(const Team& team, std::size_t teams, std::size_t group, std::size_t first,
                                       std::size_t last, const Body& body) {
  const auto rank = static_cast<std::size_t>(team.league_rank());
  for (std::size_t at = first + rank * group; at < last; at += teams * group)
    body(at, at + group < last ? group : last - at);
}

/// Sums over rows of the distances to each candidate, or of its gains over the nearest medoids (BUILD).
template <typename Space, typename T, bool Gains>
struct SumKernel {
  TableOn<Space, T> table;
  std::size_t teams, group;
  simd::Array<Space, const double> nearest;  ///< [rows], for gains
  simd::Array<Space, double> sums;           ///< [columns]

  template <typename Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    for_groups(team, teams, group, 0, table.columns, [&](std::size_t first, std::size_t width) {
      double* const to = sums.data() + first;
      simd::for_each(team, width, [=](std::size_t h) { to[h] = 0; });
      constexpr int step = rows_at_once<T>;
      std::size_t j = 0;
      for (; j + step <= table.rows; j += step) add<step>(team, j, first, width, to);
      for (; j < table.rows; ++j) add<1>(team, j, first, width, to);
    });
  }

  template <int Rows, typename Team>
  KOKKOS_FORCEINLINE_FUNCTION void add(const Team& team, std::size_t j, std::size_t first, std::size_t width,
                                       double* to) const {
    struct {
      const T* row[Rows];
      T nearest[Rows];
    } of;
    for (int r = 0; r < Rows; ++r) {
      of.row[r] = table.row(j + static_cast<std::size_t>(r)) + first;
      of.nearest[r] = Gains ? static_cast<T>(nearest(j + static_cast<std::size_t>(r))) : T(0);
    }
    simd::for_each(team, width, [=](std::size_t h) {
      T sum = begin_sum<T>(to[h]);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) {
        const T gain = of.nearest[r] - of.row[r][h];
        sum += Gains ? (gain > 0 ? gain : 0) : of.row[r][h];
      }
      end_sum(to[h], sum);
    });
  }
};

/// The change in cost by swaps with each candidate (FastPAM1).
template <typename Space, typename T>
struct SwapKernel {
  TableOn<Space, T> table;
  std::size_t teams, group, k, first, last;
  simd::Array<Space, const std::int32_t> order, nearest;
  simd::Array<Space, const double> first_distance, second_distance, loss;
  simd::Array<Space, const char> taken;  ///< [columns]; empty: compute `least` instead of `best`
  simd::Array<Space, double> scratch;    ///< [teams][scratch_size(k, group)]
  simd::Array<Space, Change> best;       ///< [groups], the best swap of each
  simd::Array<Space, double> least;      ///< [columns], the least change with each candidate

  static std::size_t scratch_size(std::size_t k, std::size_t group) { return (k + 1) * group; }

  template <typename Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    double* const shared = scratch.data() + static_cast<std::size_t>(team.league_rank()) * (k + 1) * group;
    double* const removal = shared + group;  // [k][group] added to it if the slot's medoid is replaced
    for_groups(team, teams, group, first, last, [&](std::size_t begin, std::size_t width) {
      simd::barrier(team);
      simd::for_each(team, width, [=](std::size_t h) { shared[h] = 0; });
      for (std::size_t slot = 0; slot < k; ++slot) {
        double* const to = removal + slot * group;
        const double removed = loss(slot);
        simd::for_each(team, width, [=](std::size_t h) { to[h] = removed; });
      }
      add_rows(team, begin, width, shared, removal);
      simd::barrier(team);
      if (taken.extent(0) > 0)
        simd::once(team, [=, this] { best((begin - first) / group) = best_of(begin, width, shared); });
      else
        simd::for_each(team, width, [=, this](std::size_t h) { least(begin + h) = shared[h] + least_of(removal + h); });
    });
  }

 private:
  template <typename Team>
  KOKKOS_FORCEINLINE_FUNCTION void add_rows(const Team& team, std::size_t begin, std::size_t width, double* shared,
                                            double* removal) const {
    constexpr int step = rows_at_once<T>;
    for (std::size_t i = 0; i < table.rows;) {
      const std::int32_t slot = nearest(static_cast<std::size_t>(order(i)));
      double* const own = removal + static_cast<std::size_t>(slot) * group;
      if (i + step <= table.rows && nearest(static_cast<std::size_t>(order(i + step - 1))) == slot) {
        add<step>(team, i, begin, width, shared, own);
        i += step;
      } else {
        add<1>(team, i, begin, width, shared, own);
        i += 1;
      }
    }
  }

  template <int Rows, typename Team>
  KOKKOS_FORCEINLINE_FUNCTION void add(const Team& team, std::size_t i, std::size_t begin, std::size_t width,
                                       double* shared, double* removal) const {
    struct {
      const T* row[Rows];
      T first[Rows], second[Rows];
    } of;
    for (int r = 0; r < Rows; ++r) {
      const auto j = static_cast<std::size_t>(order(i + static_cast<std::size_t>(r)));
      of.row[r] = table.row(j) + begin;
      of.first[r] = static_cast<T>(first_distance(j));
      of.second[r] = static_cast<T>(second_distance(j));
    }
    simd::for_each(team, width, [=](std::size_t h) {
      T common = begin_sum<T>(shared[h]), own = begin_sum<T>(removal[h]);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) {
        const T distance = of.row[r][h], a = of.first[r], b = of.second[r];
        common += (distance < a ? distance : a) - a;  // the row moves to the candidate, whichever medoid is replaced
        const T kept = distance > a ? distance : a;
        own += (kept < b ? kept : b) - b;  // its own medoid is replaced: it moves to the candidate or the second
      }
      end_sum(shared[h], common);
      end_sum(removal[h], own);
    });
  }

  KOKKOS_FORCEINLINE_FUNCTION double least_of(const double* removal) const {
    double result = removal[0];
    for (std::size_t slot = 1; slot < k; ++slot)
      result = removal[slot * group] < result ? removal[slot * group] : result;
    return result;
  }

  KOKKOS_FORCEINLINE_FUNCTION Change best_of(std::size_t begin, std::size_t width, const double* shared) const {
    Change result;
    for (std::size_t h = 0; h < width; ++h) {
      if (taken(begin + h)) continue;
      for (std::size_t slot = 0; slot < k; ++slot) {
        const double amount = shared[h] + shared[(slot + 1) * group + h];
        if (amount < result.amount)
          result = {amount, static_cast<std::int32_t>(begin + h), static_cast<std::int32_t>(slot)};
      }
    }
    return result;
  }
};

/// Sum, least and largest distance of the rows of each stratum to every column.
template <typename Space, typename T>
struct StrataKernel {
  TableOn<Space, T> table;
  std::size_t teams, group, k;
  simd::Array<Space, const std::int32_t> labels;
  simd::Array<Space, double> sums, least, most;  ///< [k][columns]

  template <typename Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    for_groups(team, teams, group, 0, table.columns, [&](std::size_t first, std::size_t width) {
      for (std::size_t slot = 0; slot < k; ++slot) {
        double *const sum = sums.data() + slot * table.columns + first,
                      *const low = least.data() + slot * table.columns + first,
                      *const high = most.data() + slot * table.columns + first;
        simd::for_each(team, width, [=](std::size_t h) {
          sum[h] = high[h] = 0;
          low[h] = std::numeric_limits<double>::max();
        });
      }
      for (std::size_t j = 0; j < table.rows; ++j) {
        const std::size_t at = static_cast<std::size_t>(labels(j)) * table.columns + first;
        double *const sum = sums.data() + at, *const low = least.data() + at, *const high = most.data() + at;
        const T* const row = table.row(j) + first;
        simd::for_each(team, width, [=](std::size_t h) {
          const auto value = static_cast<double>(row[h]);
          sum[h] += value;
          low[h] = value < low[h] ? value : low[h];
          high[h] = value > high[h] ? value : high[h];
        });
      }
    });
  }
};

/// The two nearest medoids of every row.
template <typename Space>
struct NearestKernel {
  std::size_t rows, k, teams;
  double bound;                              ///< upper limit of the second distance
  simd::Array<Space, const double> columns;  ///< [k][rows]
  simd::Array<Space, double> first, second;
  simd::Array<Space, std::int32_t> nearest;

  template <typename Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    for_groups(team, teams, least_group, 0, rows, [&](std::size_t begin, std::size_t width) {
      const std::size_t whole = width / lanes * lanes;
      simd::for_each_pack<double>(team, whole,
                                  [=, this](std::size_t j, auto pack) { this->template find<pack>(begin + j); });
      simd::for_each(team, width - whole, [=, this](std::size_t j) { find<1>(begin + whole + j); });
    });
  }

 private:
  template <std::size_t Width>
  KOKKOS_FORCEINLINE_FUNCTION void find(std::size_t j) const {
    using Pack = simd::Pack<double, Width>;
    using Indices = simd::Pack<std::int64_t, Width>;
    Pack least, next = Pack{} + bound;
    simd::load(least, columns.data() + j);
    Indices slot_of = {};
    for (std::size_t slot = 1; slot < k; ++slot) {
      Pack value;
      simd::load(value, columns.data() + slot * rows + j);
      const auto closer = value < least;
      const Pack farther = closer ? least : value;
      next = farther < next ? farther : next;
      least = closer ? value : least;
      const Indices here = Indices{} + static_cast<std::int64_t>(slot);
      slot_of = closer ? here : slot_of;
    }
    simd::store(first.data() + j, least);
    simd::store(second.data() + j, next);
    std::int64_t slots[Width];
    simd::store(slots, slot_of);
    for (std::size_t i = 0; i < Width; ++i) nearest(j + i) = static_cast<std::int32_t>(slots[i]);
  }
};

}  // namespace effort::cluster
