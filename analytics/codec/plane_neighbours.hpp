// The context of a coefficient when one of its bits is coded: its neighbours in the band, and its parents.
#pragma once

#include "analytics/codec/band_data.hpp"
#include "analytics/codec/bands.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace effort::codec {

/// Sums of neighbour magnitudes in classes that grow geometrically.
inline constexpr std::array<std::uint8_t, 512> class_of_activity = [] {
  std::array<std::uint8_t, 512> classes{};
  constexpr std::array<int, 11> starts{1, 2, 3, 4, 6, 8, 11, 15, 21, 30, 44};
  for (int n = 0; n < 512; ++n)
    for (int start : starts)
      if (n >= start) ++classes[static_cast<std::size_t>(n)];
  return classes;
}();

constexpr std::size_t idx(int i) { return static_cast<std::size_t>(i); }

/// 0, 1, 2-3, 4 and more; of sums of up to four levels
inline constexpr std::array<std::uint8_t, 64> four_levels = [] {
  std::array<std::uint8_t, 64> levels{};
  for (int n = 1; n < 64; ++n) levels[static_cast<std::size_t>(n)] = n < 2 ? 1 : n < 4 ? 2 : 3;
  return levels;
}();
/// 0, 1, 2, 3-4, 5 and more; of sums of two levels
inline constexpr std::array<std::uint8_t, 32> five_levels = [] {
  std::array<std::uint8_t, 32> levels{};
  for (int n = 1; n < 32; ++n)
    levels[static_cast<std::size_t>(n)] = static_cast<std::uint8_t>(n < 3 ? n : n < 5 ? 3 : 4);
  return levels;
}();
constexpr int level4(int n) { return four_levels[idx(n)]; }
constexpr int level5(int n) { return five_levels[idx(n)]; }

inline int class_of(const Band& band) {
  if (!band.row_high && !band.col_high) return 3;
  if (!band.col_high) return 1;
  if (!band.row_high) return 2;
  return band.row_level == band.col_level ? 0 : band.row_level > band.col_level ? 4 : 5;
}

/// Weights of the neighbours in the row and in the column; larger along the smooth direction.
struct Weights {
  int h, v;
};
constexpr Weights weights_of(int band_class) {
  return band_class == 1 ? Weights{3, 1} : band_class == 2 ? Weights{1, 3} : Weights{2, 2};
}

/// Contexts from the rows above and below, for every position of the segments, 16 at a time.  Values written for
/// further positions are not used.
struct Neighbours {
  std::uint8_t* total;    ///< weighted sum
  std::uint8_t* column;   ///< sum above and below
  std::uint8_t* classes;  ///< 4 level5(column) + level4(sum at the corners)

  template <typename Segments>
  void look(const std::uint8_t* level, std::size_t stride, const Segments& segments, Weights weights) const {
    for (const auto& segment : segments)
      for (std::size_t j = segment.begin; j < segment.end; j += at_once) {
        const std::uint8_t *north = level - stride + j, *south = level + stride + j;
        const Sums column_sum = at(north) + at(south),
                   corners = at(north - 1) + at(north + 1) + at(south - 1) + at(south + 1);
        const Sums all = corners + column_sum +
                         (weights.v == 3   ? column_sum + column_sum
                          : weights.v == 2 ? column_sum
                                           : Sums{});
        const auto v = (Compared)column_sum, d = (Compared)corners;
        const Compared column_class = -((v > 0) + (v > 1) + (v > 2) + (v > 4)), twice = column_class + column_class;
        const Compared both = twice + twice - ((d > 0) + (d > 1) + (d > 3));
        std::memcpy(total + j, &all, sizeof(all));
        std::memcpy(column + j, &column_sum, sizeof(column_sum));
        std::memcpy(classes + j, &both, sizeof(both));
      }
  }

  /// Computes totals only, including the levels to the right.
  template <typename Segments>
  void add_right_totals(const std::uint8_t* level, std::size_t stride, const Segments& segments,
                        Weights weights) const {
    for (const auto& segment : segments)
      for (std::size_t j = segment.begin; j < segment.end; j += at_once) {
        const std::uint8_t *north = level - stride + j, *south = level + stride + j;
        const Sums v = at(north) + at(south), h = at(level + j + 1);
        const Sums all = at(north - 1) + at(north + 1) + at(south - 1) + at(south + 1) + v + h +
                         (weights.v == 3   ? v + v
                          : weights.v == 2 ? v + h
                                           : h + h);
        std::memcpy(total + j, &all, sizeof(all));
      }
  }

 private:
  using Sums = std::uint8_t __attribute__((vector_size(at_once)));
  using Compared =
      std::int8_t __attribute__((vector_size(at_once)));  // as processors compare; sums of four levels stay below 128
  static Sums at(const std::uint8_t* from) {
    Sums sums;
    std::memcpy(&sums, from, sizeof(sums));
    return sums;
  }
};

/// The parents' levels at the columns of a row.
template <typename Q>
struct ParentLevels {
  const std::uint8_t* row[2] = {nothing, nothing};
  int shift[2] = {63, 63};
  const std::uint8_t* negative = nullptr;
  static constexpr std::uint8_t nothing[1] = {0};

  ParentLevels(const Band& band, const std::vector<BandData<Q>>& data, std::size_t i) {
    for (std::size_t k = 0; k < 2; ++k) {
      const BandParent& link = band.parents[k];
      if (link.band < 0 || !data[idx(link.band)].allocated()) continue;
      const BandData<Q>& other = data[idx(link.band)];
      // One past the end is the border of zeros.
      const std::size_t at = other.at(i >> link.row_shift, 0);
      row[k] = &other.level[at];
      shift[k] = link.col_shift;
      if (k == 0) negative = &other.negative[at];
    }
  }
  int level(std::size_t k, std::size_t j) const { return row[k][j >> shift[k]]; }
};

}  // namespace effort::codec
