#include "analytics/codec/plane_coder.hpp"

#include "analytics/codec/plane_neighbours.hpp"
#include "analytics/simd/widest.hpp"

namespace effort::codec {
namespace {

/// Converts a level from units of the previous plane to units of this one.
void double_levels(std::uint8_t* level, std::size_t n) {
  simd::widest([=] {
    simd::for_each(n, [&](std::size_t i) {
      const auto twice = static_cast<std::uint8_t>(level[i] + level[i]);
      level[i] = twice < most_level ? twice : static_cast<std::uint8_t>(most_level);
    });
  });
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
  model.update(bit);
  return bit;
}

template <typename Io, typename Q>
template <std::size_t N>
[[gnu::always_inline]] inline bool PlaneCoder<Io, Q>::decide_mixed(bool bit, const std::array<BitModel*, N>& models,
                                                                   Mixer& mixer) {
  --mixed_left_;
  io_.reserve(1);
  return mixer.code(io_, bit, models);
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
  const bool significant = decide_mixed<3>(bit,
                                           {&c.root[idx((class_[b] * 5 + parent_level[0]) * 5 + parent_level[1])],
                                            &c.root_band[std::min<std::size_t>(b, Contexts::band_count - 1)],
                                            &c.root_run[idx(recent * 3 + (b < 4    ? 0
                                                                          : b < 12 ? 1
                                                                                   : 2))]},
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
      const int corners =
          known(at - stride - 1) + known(at - stride + 1) + before(at + stride - 1) + before(at + stride + 1);
      int parent = 0;
      for (const BandParent& link : band.parents) {
        if (link.band < 0 || !data_[idx(link.band)].allocated()) continue;
        const BandData<Q>& other = data_[idx(link.band)];
        const std::size_t kp = std::min(k - (link.row_shift && link.col_shift && k > 0 ? 1 : 0), other.tree.size() - 1);
        const TreeLevel& nodes = other.tree[kp];
        const std::size_t pi = ((i << (leaf_bits + k)) >> link.row_shift) >> (leaf_bits + kp);
        const std::size_t pj = ((j << (leaf_bits + k)) >> link.col_shift) >> (leaf_bits + kp);
        const int planes = nodes.planes[nodes.at(std::min(pi, nodes.rows - 1), std::min(pj, nodes.cols - 1))];
        parent = std::max(parent, planes > p + 1 ? 2 : planes > p ? 1 : 0);
      }
      const int newness = !fresh ? 0 : siblings > 0 ? 1 : 2;
      const int tree_class = static_cast<int>(std::min<std::size_t>(k, 4));
      const bool bit = level.planes[at] == p + 1;
      Contexts& c = contexts_;
      BitModel& main =
          c.node[idx(((tree_class * 6 + std::min(around + (corners + 1) / 2, 5)) * 3 + parent) * 3 + newness)];
      const bool significant =
          mixed_left_ > 0
              ? decide_mixed<3>(
                    bit,
                    {&main, &c.node_band[std::min<std::size_t>(b, Contexts::band_count - 1) * 4 + idx(newness)],
                     &c.node_pattern[idx((class_[b] & 7) * 9 + std::min(around, 2) * 3 + parent)]},
                    c.node_mixers[idx(tree_class)])
              : decide(bit, main);
      if (significant && !Io::encoding) level.planes[at] = static_cast<std::uint8_t>(p + 1);
    }
  }
}

/// The models of one band.
template <typename Io, typename Q>
struct PlaneCoder<Io, Q>::MixedModels {
  BitModel *activity, *pattern, *band_activity, *parents, *leaf;
  BitModel *sign, *sign_parents, *sign_band;
  BitModel *refine, *refine_band, *refine_parent;
  Mixer *activity_mixers, *sign_mixer, *refine_mixers;
  bool rows_high;

  MixedModels(Contexts& c, std::size_t b, int band_class) {
    const std::size_t band = std::min<std::size_t>(b, Contexts::band_count - 1), k = idx(band_class);
    activity = &c.activity[k * Contexts::parent_count * Contexts::activity_count];
    pattern = &c.pattern[k * 5 * 5 * 4];
    band_activity = &c.band_activity[band * 6];
    parents = c.parents.data();
    leaf = &c.leaf[k * 2];
    sign = &c.sign[k * 9];
    sign_parents = c.sign_parents.data();
    sign_band = &c.sign_band[band * 3];
    refine = c.refine.data();
    refine_band = &c.refine_band[band * 3];
    refine_parent = c.refine_parent.data();
    activity_mixers = c.activity_mixers.data();
    sign_mixer = c.sign_mixers.data();
    refine_mixers = c.refine_mixers.data();
    rows_high = band_class == 1;
  }

  /// @param h, v     sums of the levels in the row and in the column
  /// @param classes  4 level5(v) + level4(sum at the corners)
  template <typename Registers>
  [[gnu::always_inline]] bool code_significance(Registers& io, int activity_class, int h, int v, int classes,
                                                int parent_1, int parent_2, bool fresh, bool bit) const {
    const int first = level4(parent_1), second = level4(parent_2);
    return activity_mixers[activity_class].template code<5>(
        io, bit,
        {activity + std::max(first, second) * Contexts::activity_count + activity_class,
         pattern + level5(h) * 20 + classes, band_activity + activity_class / 2,
         parents + (first * Contexts::parent_count + second) * Contexts::activity_count + activity_class,
         leaf + (level4(h + v) * 4 + (classes & 3)) * 12 + (fresh ? 1 : 0)});
  }

  /// @param h, v  signs of the neighbours in the row and in the column: 0 negative, 1 none or both, 2 positive
  template <typename Registers>
  [[gnu::always_inline]] bool code_sign(Registers& io, int h, int v, int parent_sign, bool negative) const {
    return sign_mixer->template code<3>(
        io, negative,
        {sign + h * 3 + v, sign_parents + (h * 3 + v) * 9 + parent_sign, sign_band + (rows_high ? h : v)});
  }

  template <typename Registers>
  [[gnu::always_inline]] bool code_refinement(Registers& io, int activity_class, int parent, int known,
                                              bool bit) const {
    const int depth = known == 1 ? 0 : known < 4 ? 1 : 2;
    return refine_mixers[depth].template code<3>(
        io, bit,
        {refine + depth * 6 + activity_class / 2, refine_band + depth, refine_parent + depth * 4 + level4(parent)});
  }
};

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
    const std::size_t begin = j << leaf_bits, end = std::min(data.cols, (j + 1) << leaf_bits);
    const bool fresh = planes[j] == p + 1;
    if (!segments_.empty() && segments_.back().end == begin && segments_.back().fresh == fresh) {
      segments_.back().end = end;
    } else {
      segments_.push_back({begin, end, fresh});
    }
  }
  if (segments_.empty()) return;
  for (auto* sums : {&total_, &column_, &classes_}) sums->resize(data.cols + at_once);
  open_.resize(data.cols);
  known_.resize(data.cols);
  const MixedModels models(contexts_, b, class_[b]);
  const std::size_t end_row = std::min(data.rows, (leaf_row + 1) << leaf_bits);
  for (std::size_t row = leaf_row << leaf_bits; row < end_row; ++row) {
    if (mixed_left_ > 0) {
      code_row_mixed(b, row, models);
    } else {
      code_row_fast(b, row);
    }
  }
}

/// Separates the positions of a row into those without and with a level.
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
void PlaneCoder<Io, Q>::code_row_mixed(std::size_t b, std::size_t row, const MixedModels& models) {
  const int p = plane_;
  BandData<Q>& data = data_[b];
  const std::size_t first = data.at(row, 0);
  const auto stride = static_cast<std::ptrdiff_t>(data.stride);
  Q* magnitude = &data.magnitude[first];
  std::uint8_t* negative = &data.negative[first];
  std::uint8_t* level = &data.level[first];
  const std::uint8_t *west = level - 1, *east = level + 1;
  const ParentLevels<Q> parents(layout_.bands[b], data_, row);
  const Weights weights = weights_of(class_[b]);
  const Neighbours neighbours{total_.data(), column_.data(), classes_.data()};
  neighbours.look(level, data.stride, segments_, weights);
  sort_positions(level);
  const TreeLevel& leaves = data.tree[0];
  const std::uint8_t* leaf_planes = &leaves.planes[leaves.at(row >> leaf_bits, 0)];
  const std::uint32_t *open = open_.data(), *settled = known_.data();
  const std::size_t open_count = open_count_, settled_count = known_count_;
  const auto activity_at = [&](std::size_t j) {
    return int{class_of_activity[idx(neighbours.total[j] + weights.h * (west[j] + east[j]))]};
  };
  const auto sign_at = [&](std::ptrdiff_t at) { return (level[at] != 0) * (1 - 2 * negative[at]); };
  const auto sign_of_two = [](int a, int z) { return std::clamp(a + z, -1, 1) + 1; };
  io_.reserve(2 * data.cols);
  auto io = io_.take();
  std::size_t signs = 0;
  for (std::size_t k = 0; k < open_count; ++k) {
    const std::size_t j = open[k];
    const bool fresh = leaf_planes[j >> leaf_bits] == p + 1;
    const int parent_1 = parents.level(0, j), parent_2 = parents.level(1, j);
    const bool bit = (magnitude[j] >> p) & 1;
    if (!models.code_significance(io, activity_at(j), west[j] + east[j], neighbours.column[j], neighbours.classes[j],
                                  parent_1, parent_2, fresh, bit))
      continue;
    const int parent_sign = parent_1 == 0 ? 0 : parents.negative[j >> parents.shift[0]] ? 2 : 1;
    const auto at = static_cast<std::ptrdiff_t>(j);
    const bool minus =
        models.code_sign(io, sign_of_two(sign_at(at - 1), sign_at(at + 1)),
                         sign_of_two(sign_at(at - stride), sign_at(at + stride)), parent_sign, negative[j] != 0);
    ++signs;
    level[j] = 1;
    if (!Io::encoding) {
      negative[j] = minus;
      magnitude[j] = Q{1} << p;
    }
  }
  for (std::size_t k = 0; k < settled_count; ++k) {
    const std::size_t j = settled[k];
    const int parent = std::max(parents.level(0, j), parents.level(1, j));
    const bool bit = models.code_refinement(io, activity_at(j), parent, level[j] / 2, (magnitude[j] >> p) & 1);
    level[j] = static_cast<std::uint8_t>(std::min(level[j] + bit, most_level));
    if (!Io::encoding) magnitude[j] |= static_cast<Q>(bit) << p;
  }
  io_.put(io);
  mixed_left_ -= static_cast<std::int64_t>(open_count + signs + settled_count);
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
  const std::uint8_t* west = level - 1;
  const ParentLevels<Q> parents(layout_.bands[b], data_, row);
  const Weights weights = weights_of(class_[b]);
  Neighbours{total_.data(), nullptr, nullptr}.add_right_totals(level, data.stride, segments_, weights);
  sort_positions(level);
  io_.reserve(3 * data.cols);
  auto io = io_.take();
  const auto decide_here = [&io](bool bit, BitModel& model) {
    bit = io.code(bit, model.probability());
    model.update(bit);
    return bit;
  };
  std::uint32_t *open = open_.data(), *settled = known_.data();
  const std::uint8_t* total = total_.data();
  const std::size_t open_count = open_count_, settled_count = known_count_;
  BitModel* models = &contexts_.activity[idx(class_[b] * Contexts::parent_count * Contexts::activity_count)];
  std::size_t fresh_count = 0;
  for (std::size_t k = 0; k < open_count; ++k) {
    const std::size_t j = open[k];
    const int activity = class_of_activity[idx(total[j] + weights.h * west[j])];
    const int parent = four_levels[idx(std::max(parents.level(0, j), parents.level(1, j)))];
    const bool bit = decide_here((magnitude[j] >> p) & 1, models[parent * Contexts::activity_count + activity]);
    level[j] = bit;
    if (!Io::encoding) magnitude[j] = static_cast<Q>(bit) << p;
    open[fresh_count] = static_cast<std::uint32_t>(j);
    fresh_count += bit;
  }
  code_raw_run(
      io, fresh_count, [&](std::size_t k) { return negative[open[k]]; },
      [&](std::size_t k, std::uint32_t bit) { negative[open[k]] = static_cast<std::uint8_t>(bit); });
  std::size_t deep_count = 0;
  for (std::size_t k = 0; k < settled_count; ++k) {
    const std::size_t j = settled[k];
    const int known = level[j] / 2;
    settled[deep_count] = static_cast<std::uint32_t>(j);
    deep_count += known >= 4;
    if (known >= 4) continue;
    const int activity = class_of_activity[idx(total[j] + weights.h * west[j])];
    const bool bit = decide_here((magnitude[j] >> p) & 1, contexts_.refine[idx((known == 1 ? 0 : 6) + activity / 2)]);
    level[j] = static_cast<std::uint8_t>(level[j] + bit);
    if (!Io::encoding) magnitude[j] |= static_cast<Q>(bit) << p;
  }
  code_raw_run(
      io, deep_count, [&](std::size_t k) { return static_cast<std::uint32_t>(magnitude[settled[k]] >> p) & 1u; },
      [&](std::size_t k, std::uint32_t bit) {
        const std::size_t j = settled[k];
        magnitude[j] |= static_cast<Q>(bit) << p;
        level[j] = static_cast<std::uint8_t>(std::min<int>(level[j] + static_cast<int>(bit), most_level));
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

template class PlaneCoder<RangeEncoder, std::uint32_t>;
template class PlaneCoder<RangeDecoder, std::uint32_t>;
template class PlaneCoder<RangeEncoder, std::uint64_t>;
template class PlaneCoder<RangeDecoder, std::uint64_t>;

}  // namespace effort::codec
