#include "analytics/codec/plane_coder.hpp"

#include <cstdlib>  // brings the C library's feature macros for clones.hpp

#include "analytics/wavelet/clones.hpp"

namespace effort::codec {
namespace {

/// Sums of neighbour magnitudes in classes that grow geometrically.
constexpr std::array<std::uint8_t, 64> kActivityClass = [] {
  std::array<std::uint8_t, 64> classes{};
  constexpr std::array<int, 11> starts{1, 2, 3, 4, 6, 8, 11, 15, 21, 30, 44};
  for (int n = 0; n < 64; ++n)
    for (int start : starts)
      if (n >= start) ++classes[static_cast<std::size_t>(n)];
  return classes;
}();

constexpr std::size_t idx(int i) { return static_cast<std::size_t>(i); }

/// 0, 1, 2-3, 4 and more
constexpr int level4(int n) { return n == 0 ? 0 : n == 1 ? 1 : n < 4 ? 2 : 3; }
/// 0, 1, 2, 3-4, 5 and more
constexpr int level5(int n) { return n < 3 ? n : n < 5 ? 3 : 4; }

int class_of(const Band& band) {
  if (!band.row_high && !band.col_high) return 3;
  if (!band.col_high) return 1;
  if (!band.row_high) return 2;
  return band.row_level == band.col_level ? 0 : band.row_level > band.col_level ? 4 : 5;
}

/// The same up to the largest sum that bytes hold.
constexpr std::array<std::uint8_t, 512> kActivityClassWide = [] {
  std::array<std::uint8_t, 512> classes{};
  for (std::size_t n = 0; n < 512; ++n) classes[n] = kActivityClass[n < 63 ? n : 63];
  return classes;
}();

constexpr std::array<std::uint8_t, kMostLevel + 1> kLevel4 = [] {
  std::array<std::uint8_t, kMostLevel + 1> levels{};
  for (int n = 0; n <= kMostLevel; ++n) levels[static_cast<std::size_t>(n)] = static_cast<std::uint8_t>(level4(n));
  return levels;
}();

/// How much the neighbours in the row and in the column count: those along the smooth direction more.
struct Weights {
  int h, v;
};
constexpr Weights weights_of(int band_class) { return band_class == 1 ? Weights{3, 1} : band_class == 2 ? Weights{1, 3} : Weights{2, 2}; }

/// The levels above and below, and at the four corners, of every position of the segments.
EFFORT_VECTOR_CLONES void sum_run(const std::uint8_t* __restrict level, std::size_t stride, std::size_t begin, std::size_t end,
                                  std::uint8_t* __restrict cross, std::uint8_t* __restrict corners) {
  const std::uint8_t *north = level - stride, *north_west = north - 1, *north_east = north + 1;
  const std::uint8_t *south = level + stride, *south_west = south - 1, *south_east = south + 1;
  for (std::size_t j = begin; j < end; ++j) {
    cross[j] = static_cast<std::uint8_t>(north[j] + south[j]);
    corners[j] = static_cast<std::uint8_t>(north_west[j] + north_east[j] + south_west[j] + south_east[j]);
  }
}

template <typename Segments>
void sum_neighbours(const std::uint8_t* level, std::size_t stride, const Segments& segments, std::uint8_t* cross, std::uint8_t* corners) {
  for (const auto& segment : segments) sum_run(level, stride, segment.begin, segment.end, cross, corners);
}

/// What was known in units of the plane before, in units of this one.
EFFORT_VECTOR_CLONES void double_levels(std::uint8_t* level, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto twice = static_cast<std::uint8_t>(level[i] + level[i]);
    level[i] = twice < kMostLevel ? twice : static_cast<std::uint8_t>(kMostLevel);
  }
}

}  // namespace

template <typename Io, typename Q>
PlaneCoder<Io, Q>::PlaneCoder(Io& io, const Layout& layout, std::vector<BandData<Q>>& data, bool plain)
    : io_(io), layout_(layout), data_(data) {
  if (plain) mixed_left_ = 0;
  for (const Band& band : layout.bands) class_.push_back(class_of(band));
}

template <typename Io, typename Q>
bool PlaneCoder<Io, Q>::decide(bool bit, BitModel& model) {
  io_.reserve(1);
  bit = io_.code(bit, model.probability());
  model.update(bit, Contexts::kLimit);
  return bit;
}

template <typename Io, typename Q>
template <std::size_t N>
[[gnu::always_inline]] inline bool PlaneCoder<Io, Q>::decide_mixed(bool bit, const std::array<BitModel*, N>& models, Mixer& mixer) {
  --mixed_left_;
  io_.reserve(1);
  bit = io_.code(bit, mixer.mix(models));
  mixer.template update<N>(bit);
  for (BitModel* model : models) model->update(bit, Contexts::kLimit);
  return bit;
}

template <typename Io, typename Q>
void PlaneCoder<Io, Q>::code_plane(int p) {
  plane_ = p;
  for (std::size_t b = 1; b < layout_.bands.size(); ++b) code_band(b);  // [0] is the single first coefficient
}

template <typename Io, typename Q>
void PlaneCoder<Io, Q>::code_band(std::size_t b) {
  if (!code_root(b)) return;
  BandData<Q>& data = data_[b];
  double_levels(data.level.data(), data.level.size());
  for (std::size_t k = data.tree.size() - 1; k-- > 0;) code_tree_level(b, k);
  for (std::size_t i = 0; i < data.tree[0].rows; ++i) code_block_row(b, i);
}

/// Whether the band has any coefficient of this plane or above.
template <typename Io, typename Q>
bool PlaneCoder<Io, Q>::code_root(std::size_t b) {
  const int p = plane_;
  const Band& band = layout_.bands[b];
  BandData<Q>& data = data_[b];
  if (data.planes() > p + 1) return true;
  int parent_level[2] = {4, 4};
  for (std::size_t k = 0; k < 2; ++k)
    if (band.parents[k].band >= 0) parent_level[k] = std::clamp(data_[idx(band.parents[k].band)].planes() - p, 0, 3);
  int recent = 0;
  for (std::size_t i = b; i-- > 1 && i + 3 >= b;) recent += data_[i].planes() > p;
  const bool bit = data.planes() == p + 1;
  Contexts& c = contexts_;
  const bool significant =
      decide_mixed<3>(bit,
                      {&c.root[idx((class_[b] * 5 + parent_level[0]) * 5 + parent_level[1])],
                       &c.root_band[std::min<std::size_t>(b, Contexts::kBands - 1)], &c.root_run[idx(recent * 3 + (b < 4 ? 0 : b < 12 ? 1 : 2))]},
                      c.node_mixers[5]);
  if (significant && !Io::encoding) {
    if (!data.allocated()) data.allocate(band.rows, band.cols);
    data.tree.back().planes[data.tree.back().at(0, 0)] = static_cast<std::uint8_t>(p + 1);
  }
  return significant;
}

/// The nodes of level `k` whose parents are significant.
template <typename Io, typename Q>
void PlaneCoder<Io, Q>::code_tree_level(std::size_t b, std::size_t k) {
  const int p = plane_;
  BandData<Q>& data = data_[b];
  TreeLevel& level = data.tree[k];
  const TreeLevel& above = data.tree[k + 1];
  const Band& band = layout_.bands[b];
  const auto known = [&](std::size_t at) { return level.planes[at] > p ? 1 : 0; };       // coded in this plane
  const auto before = [&](std::size_t at) { return level.planes[at] > p + 1 ? 1 : 0; };  // not yet
  const std::size_t stride = level.stride;
  for (std::size_t i = 0; i < level.rows; ++i) {
    for (std::size_t j = 0; j < level.cols; ++j) {
      const int above_planes = above.planes[above.at(i / 2, j / 2)];
      if (above_planes <= p) {
        j |= 1;
        continue;
      }
      const std::size_t at = level.at(i, j);
      if (level.planes[at] > p + 1) continue;
      const bool fresh = above_planes == p + 1;
      int siblings = 0;
      if (i % 2) siblings += known(at - stride) + (j % 2 ? known(at - stride - 1) : known(at - stride + 1));
      if (j % 2) siblings += known(at - 1);
      const bool last = (i % 2 || i + 1 == level.rows) && (j % 2 || j + 1 == level.cols);
      if (fresh && last && siblings == 0) {
        if (!Io::encoding) level.planes[at] = static_cast<std::uint8_t>(p + 1);
        continue;
      }
      const int around = known(at - stride) + known(at - 1) + before(at + 1) + before(at + stride);
      const int corners = known(at - stride - 1) + known(at - stride + 1) + before(at + stride - 1) + before(at + stride + 1);
      int parent = 0;
      for (const BandParent& link : band.parents) {
        if (link.band < 0 || !data_[idx(link.band)].allocated()) continue;
        const BandData<Q>& other = data_[idx(link.band)];
        const std::size_t kp = std::min(k - (link.row_shift && link.col_shift && k > 0 ? 1 : 0), other.tree.size() - 1);
        const TreeLevel& nodes = other.tree[kp];
        const std::size_t pi = ((i << (kLeafBits + k)) >> link.row_shift) >> (kLeafBits + kp);
        const std::size_t pj = ((j << (kLeafBits + k)) >> link.col_shift) >> (kLeafBits + kp);
        const int planes = nodes.planes[nodes.at(std::min(pi, nodes.rows - 1), std::min(pj, nodes.cols - 1))];
        parent = std::max(parent, planes > p + 1 ? 2 : planes > p ? 1 : 0);
      }
      const int newness = !fresh ? 0 : siblings > 0 ? 1 : 2;
      const int tree_class = static_cast<int>(std::min<std::size_t>(k, 4));
      const bool bit = level.planes[at] == p + 1;
      Contexts& c = contexts_;
      BitModel& main = c.node[idx(((tree_class * 6 + std::min(around + (corners + 1) / 2, 5)) * 3 + parent) * 3 + newness)];
      const bool significant =
          mixed_left_ > 0 ? decide_mixed<3>(bit,
                                             {&main, &c.node_band[std::min<std::size_t>(b, Contexts::kBands - 1) * 4 + idx(newness)],
                                              &c.node_pattern[idx((class_[b] & 7) * 9 + std::min(around, 2) * 3 + parent)]},
                                             c.node_mixers[idx(tree_class)])
                           : decide(bit, main);
      if (significant && !Io::encoding) level.planes[at] = static_cast<std::uint8_t>(p + 1);
    }
  }
}

/// The coefficients of one row of leaves, row by row: first those not significant yet, then the others.
template <typename Io, typename Q>
void PlaneCoder<Io, Q>::code_block_row(std::size_t b, std::size_t leaf_row) {
  const int p = plane_;
  BandData<Q>& data = data_[b];
  const TreeLevel& leaves = data.tree[0];
  const std::uint8_t* planes = &leaves.planes[leaves.at(leaf_row, 0)];
  segments_.clear();
  for (std::size_t j = 0; j < leaves.cols; ++j) {
    if (planes[j] <= p) continue;
    const std::size_t begin = j << kLeafBits, end = std::min(data.cols, (j + 1) << kLeafBits);
    const bool fresh = planes[j] == p + 1;
    if (!segments_.empty() && segments_.back().end == begin && segments_.back().fresh == fresh) {
      segments_.back().end = end;
    } else {
      segments_.push_back({begin, end, fresh});
    }
  }
  if (segments_.empty()) return;
  cross_.resize(data.cols + 2);
  corners_.resize(data.cols + 2);
  open_.resize(data.cols);
  known_.resize(data.cols);
  const std::size_t end_row = std::min(data.rows, (leaf_row + 1) << kLeafBits);
  for (std::size_t row = leaf_row << kLeafBits; row < end_row; ++row) {
    if (mixed_left_ > 0) {
      code_row_mixed(b, row);
    } else {
      code_row_fast(b, row);
    }
  }
}

/// What the parents know at the columns of a row.
template <typename Q>
struct ParentLevels {
  const std::uint8_t* row[2] = {kNone, kNone};
  int shift[2] = {63, 63};
  const std::uint8_t* negative = nullptr;
  static constexpr std::uint8_t kNone[1] = {0};

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

/// Sorts the positions of a row into those without and with a level.
template <typename Io, typename Q>
void PlaneCoder<Io, Q>::sort_positions(const std::uint8_t* level) {
  std::size_t open = 0, known = 0;
  for (const Segment& segment : segments_)
    for (std::size_t j = segment.begin; j < segment.end; ++j) {
      open_[open] = static_cast<std::uint32_t>(j);
      known_[known] = static_cast<std::uint32_t>(j);
      open += level[j] == 0;
      known += level[j] != 0;
    }
  open_count_ = open;
  known_count_ = known;
}

template <typename Io, typename Q>
void PlaneCoder<Io, Q>::code_row_mixed(std::size_t b, std::size_t row) {
  const int p = plane_;
  BandData<Q>& data = data_[b];
  const std::size_t first = data.at(row, 0);
  Q* magnitude = &data.magnitude[first];
  std::uint8_t* level = &data.level[first];
  const std::uint8_t *west = level - 1, *east = level + 1;
  const ParentLevels<Q> parents(layout_.bands[b], data_, row);
  sum_neighbours(level, data.stride, segments_, cross_.data(), corners_.data());
  sort_positions(level);
  const Weights weights = weights_of(class_[b]);
  const TreeLevel& leaves = data.tree[0];
  const std::uint8_t* leaf_planes = &leaves.planes[leaves.at(row >> kLeafBits, 0)];
  const auto activity_at = [&](std::size_t j) {
    const int sum = weights.h * (west[j] + east[j]) + weights.v * cross_[j] + corners_[j];
    return int{kActivityClass[idx(std::min(sum, 63))]};
  };
  for (std::size_t k = 0; k < open_count_; ++k) {
    const std::size_t j = open_[k];
    const bool fresh = leaf_planes[j >> kLeafBits] == p + 1;
    const int parent_1 = parents.level(0, j), parent_2 = parents.level(1, j);
    const bool bit = (magnitude[j] >> p) & 1;
    if (!code_significance(b, activity_at(j), west[j] + east[j], cross_[j], corners_[j], parent_1, parent_2, fresh, bit))
      continue;
    const int parent_sign = parent_1 == 0 ? 0 : parents.negative[j >> parents.shift[0]] ? 2 : 1;
    const bool negative = code_sign(b, first + j, parent_sign, data.negative[first + j] != 0);
    level[j] = 1;
    if (!Io::encoding) {
      data.negative[first + j] = negative;
      magnitude[j] = Q{1} << p;
    }
  }
  for (std::size_t k = 0; k < known_count_; ++k) {
    const std::size_t j = known_[k];
    const int parent = std::max(parents.level(0, j), parents.level(1, j));
    const bool bit = code_refinement(b, activity_at(j), parent, level[j] / 2, (magnitude[j] >> p) & 1);
    level[j] = static_cast<std::uint8_t>(std::min(level[j] + bit, kMostLevel));
    if (!Io::encoding) magnitude[j] |= static_cast<Q>(bit) << p;
  }
}

/// The same with one context per decision, raw signs and raw later refinement: for the bulk of large streams.
template <typename Io, typename Q>
void PlaneCoder<Io, Q>::code_row_fast(std::size_t b, std::size_t row) {
  const int p = plane_;
  BandData<Q>& data = data_[b];
  const std::size_t first = data.at(row, 0);
  Q* magnitude = &data.magnitude[first];
  std::uint8_t* negative = &data.negative[first];
  std::uint8_t* level = &data.level[first];
  const std::uint8_t *west = level - 1, *east = level + 1;
  const ParentLevels<Q> parents(layout_.bands[b], data_, row);
  sum_neighbours(level, data.stride, segments_, cross_.data(), corners_.data());
  sort_positions(level);
  const Weights weights = weights_of(class_[b]);
  for (const Segment& segment : segments_)
    for (std::size_t j = segment.begin; j < segment.end; ++j)
      cross_[j] = static_cast<std::uint8_t>(weights.v * cross_[j] + corners_[j] + weights.h * east[j]);
  io_.reserve(3 * data.cols);
  auto io = io_.take();
  const auto decide_here = [&io](bool bit, BitModel& model) {
    bit = io.code(bit, model.probability());
    model.update(bit, Contexts::kLimit);
    return bit;
  };
  std::uint32_t *open = open_.data(), *settled = known_.data();
  const std::uint8_t* sums = cross_.data();
  const std::size_t open_count = open_count_, settled_count = known_count_;
  BitModel* models = &contexts_.activity[idx(class_[b] * Contexts::kParents * Contexts::kActivities)];
  std::size_t fresh_count = 0;
  for (std::size_t k = 0; k < open_count; ++k) {
    const std::size_t j = open[k];
    const int activity = kActivityClassWide[idx(sums[j] + weights.h * west[j])];
    const int parent = kLevel4[idx(std::max(parents.level(0, j), parents.level(1, j)))];
    const bool bit = decide_here((magnitude[j] >> p) & 1, models[parent * Contexts::kActivities + activity]);
    level[j] = bit;
    if (!Io::encoding) magnitude[j] = static_cast<Q>(bit) << p;
    open[fresh_count] = static_cast<std::uint32_t>(j);
    fresh_count += bit;
  }
  code_raw_run(io, fresh_count, [&](std::size_t k) { return negative[open[k]]; },
               [&](std::size_t k, std::uint32_t bit) { negative[open[k]] = static_cast<std::uint8_t>(bit); });
  std::size_t deep_count = 0;
  for (std::size_t k = 0; k < settled_count; ++k) {
    const std::size_t j = settled[k];
    const int known = level[j] / 2;
    settled[deep_count] = static_cast<std::uint32_t>(j);
    deep_count += known >= 4;
    if (known >= 4) continue;
    const int activity = kActivityClassWide[idx(sums[j] + weights.h * west[j])];
    const bool bit = decide_here((magnitude[j] >> p) & 1, contexts_.refine[idx((known == 1 ? 0 : 6) + activity / 2)]);
    level[j] = static_cast<std::uint8_t>(level[j] + bit);
    if (!Io::encoding) magnitude[j] |= static_cast<Q>(bit) << p;
  }
  code_raw_run(io, deep_count, [&](std::size_t k) { return static_cast<std::uint32_t>(magnitude[settled[k]] >> p) & 1u; },
               [&](std::size_t k, std::uint32_t bit) {
                 const std::size_t j = settled[k];
                 magnitude[j] |= static_cast<Q>(bit) << p;
                 level[j] = static_cast<std::uint8_t>(std::min<int>(level[j] + static_cast<int>(bit), kMostLevel));
               });
  io_.put(io);
}

/// Equiprobable bits, 16 at a time; `put` stores what the decoder reads (and brings the encoder's levels forward).
template <typename Io, typename Q>
template <typename Registers, typename Get, typename Put>
void PlaneCoder<Io, Q>::code_raw_run(Registers& io, std::size_t count, const Get& get, const Put& put) {
  for (std::size_t k = 0; k < count; k += 16) {
    const int n = static_cast<int>(std::min<std::size_t>(16, count - k));
    std::uint32_t bits = 0;
    if (Io::encoding)
      for (int i = 0; i < n; ++i) bits = bits << 1 | get(k + idx(i));
    bits = io.code_bits(bits, n);
    for (int i = 0; i < n; ++i) put(k + idx(i), (bits >> (n - 1 - i)) & 1u);
  }
}

template <typename Io, typename Q>
[[gnu::always_inline]] inline bool PlaneCoder<Io, Q>::code_significance(std::size_t b, int activity, int h, int v, int d, int parent_1, int parent_2,
                                          bool fresh, bool bit) {
  Contexts& c = contexts_;
  const int parent = level4(std::max(parent_1, parent_2));
  const std::size_t band = std::min<std::size_t>(b, Contexts::kBands - 1);
  return decide_mixed<5>(
      bit,
      {&c.activity[idx((class_[b] * Contexts::kParents + parent) * Contexts::kActivities + activity)],
       &c.pattern[idx(((class_[b] * 5 + level5(h)) * 5 + level5(v)) * 4 + level4(d))],
       &c.band_activity[band * 6 + idx(activity / 2)],
       &c.parents[idx((level4(parent_1) * Contexts::kParents + level4(parent_2)) * Contexts::kActivities + activity)],
       &c.leaf[idx(((level4(h + v) * 4 + level4(d)) * 6 + class_[b]) * 2 + (fresh ? 1 : 0))]},
      c.activity_mixers[idx(activity)]);
}

template <typename Io, typename Q>
[[gnu::always_inline]] inline bool PlaneCoder<Io, Q>::code_sign(std::size_t b, std::size_t i, int parent_sign, bool negative) {
  const BandData<Q>& data = data_[b];
  const auto known = [&](std::size_t at) { return data.level[at] == 0 ? 0 : data.negative[at] ? -1 : 1; };
  const auto side = [](int a, int z) { return std::clamp(a + z, -1, 1) + 1; };
  const int h = side(known(i - 1), known(i + 1));
  const int v = side(known(i - data.stride), known(i + data.stride));
  const std::size_t band = std::min<std::size_t>(b, Contexts::kBands - 1);
  Contexts& c = contexts_;
  return decide_mixed<3>(negative,
                         {&c.sign[idx((class_[b] * 3 + h) * 3 + v)], &c.sign_parents[idx((h * 3 + v) * 9 + parent_sign)],
                          &c.sign_band[band * 3 + idx(class_[b] == 1 ? h : v)]},
                         c.sign_mixers[0]);
}

template <typename Io, typename Q>
[[gnu::always_inline]] inline bool PlaneCoder<Io, Q>::code_refinement(std::size_t b, int activity, int parent, int known, bool bit) {
  const int depth = known == 1 ? 0 : known < 4 ? 1 : 2;
  Contexts& c = contexts_;
  const std::size_t band = std::min<std::size_t>(b, Contexts::kBands - 1);
  return decide_mixed<3>(bit,
                         {&c.refine[idx(depth * 6 + activity / 2)], &c.refine_band[band * 3 + idx(depth)],
                          &c.refine_parent[idx(depth * 4 + level4(parent))]},
                         c.refine_mixers[idx(depth)]);
}

template class PlaneCoder<RangeEncoder, std::uint32_t>;
template class PlaneCoder<RangeDecoder, std::uint32_t>;
template class PlaneCoder<RangeEncoder, std::uint64_t>;
template class PlaneCoder<RangeDecoder, std::uint64_t>;

}  // namespace effort::codec
