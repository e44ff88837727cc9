#include "analytics/codec/plane_coder.hpp"

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

template <typename Q>
int capped(Q value) {
  return static_cast<int>(value < 24 ? value : 24);
}

}  // namespace

template <typename Io, typename Q>
PlaneCoder<Io, Q>::PlaneCoder(Io& io, const Layout& layout, std::vector<BandData<Q>>& data)
    : x_io(io), x_layout(layout), x_data(data) {
  for (const Band& band : layout.bands) x_class.push_back(class_of(band));
}

template <typename Io, typename Q>
bool PlaneCoder<Io, Q>::decide(bool bit, BitModel& model) {
  bit = x_io.code(bit, model.probability());
  model.update(bit, Contexts::kLimit);
  return bit;
}

template <typename Io, typename Q>
template <std::size_t N>
bool PlaneCoder<Io, Q>::decide_mixed(bool bit, const std::array<BitModel*, N>& models, Mixer& mixer) {
  --x_mixed_left;
  bit = x_io.code(bit, mixer.mix(models));
  mixer.template update<N>(bit);
  for (BitModel* model : models) model->update(bit, Contexts::kLimit);
  return bit;
}

template <typename Io, typename Q>
void PlaneCoder<Io, Q>::code_plane(int p) {
  x_plane = p;
  for (std::size_t b = 1; b < x_layout.bands.size(); ++b) code_band(b);  // [0] is the single first coefficient
}

template <typename Io, typename Q>
void PlaneCoder<Io, Q>::code_band(std::size_t b) {
  if (!code_root(b)) return;
  BandData<Q>& data = x_data[b];
  for (std::size_t k = data.tree.size() - 1; k-- > 0;) code_tree_level(b, k);
  for (std::size_t i = 0; i < data.tree[0].rows; ++i) code_block_row(b, i);
}

/// Whether the band has any coefficient of this plane or above.
template <typename Io, typename Q>
bool PlaneCoder<Io, Q>::code_root(std::size_t b) {
  const int p = x_plane;
  const Band& band = x_layout.bands[b];
  BandData<Q>& data = x_data[b];
  const auto planes = [&](const BandData<Q>& d) { return d.allocated() ? int{d.tree.back().planes[d.tree.back().at(0, 0)]} : 0; };
  if (planes(data) > p + 1) return true;
  int parent_level[2] = {4, 4};
  for (std::size_t k = 0; k < 2; ++k)
    if (band.parents[k].band >= 0) parent_level[k] = std::clamp(planes(x_data[idx(band.parents[k].band)]) - p, 0, 3);
  int recent = 0;
  for (std::size_t i = b; i-- > 1 && i + 3 >= b;) recent += planes(x_data[i]) > p;
  const bool bit = planes(data) == p + 1;
  Contexts& c = x_contexts;
  const bool significant =
      decide_mixed<3>(bit,
                      {&c.root[idx((x_class[b] * 5 + parent_level[0]) * 5 + parent_level[1])],
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
  const int p = x_plane;
  BandData<Q>& data = x_data[b];
  TreeLevel& level = data.tree[k];
  const TreeLevel& above = data.tree[k + 1];
  const Band& band = x_layout.bands[b];
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
        if (link.band < 0 || !x_data[idx(link.band)].allocated()) continue;
        const BandData<Q>& other = x_data[idx(link.band)];
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
      Contexts& c = x_contexts;
      BitModel& main = c.node[idx(((tree_class * 6 + std::min(around + (corners + 1) / 2, 5)) * 3 + parent) * 3 + newness)];
      const bool significant =
          x_mixed_left > 0 ? decide_mixed<3>(bit,
                                             {&main, &c.node_band[std::min<std::size_t>(b, Contexts::kBands - 1) * 4 + idx(newness)],
                                              &c.node_pattern[idx((x_class[b] & 7) * 9 + std::min(around, 2) * 3 + parent)]},
                                             c.node_mixers[idx(tree_class)])
                           : decide(bit, main);
      if (significant && !Io::encoding) level.planes[at] = static_cast<std::uint8_t>(p + 1);
    }
  }
}

/// The coefficients of one row of leaves, row by row.
template <typename Io, typename Q>
void PlaneCoder<Io, Q>::code_block_row(std::size_t b, std::size_t leaf_row) {
  const int p = x_plane;
  BandData<Q>& data = x_data[b];
  const TreeLevel& leaves = data.tree[0];
  const std::uint8_t* planes = &leaves.planes[leaves.at(leaf_row, 0)];
  const std::size_t end_row = std::min(data.rows, (leaf_row + 1) << kLeafBits);
  bool any = false;
  for (std::size_t j = 0; j < leaves.cols; ++j) any |= planes[j] > p;
  if (!any) return;
  for (std::size_t row = leaf_row << kLeafBits; row < end_row; ++row)
    for (std::size_t j = 0; j < leaves.cols; ++j)
      if (planes[j] > p)
        code_segment(b, row, j << kLeafBits, std::min(data.cols, (j + 1) << kLeafBits), planes[j] == p + 1);
}

template <typename Io, typename Q>
void PlaneCoder<Io, Q>::code_segment(std::size_t b, std::size_t row, std::size_t begin, std::size_t end, bool fresh_leaf) {
  const int p = x_plane;
  BandData<Q>& data = x_data[b];
  const Band& band = x_layout.bands[b];
  const std::size_t stride = data.stride;
  Q* here = &data.magnitude[data.at(row, 0)];
  const Q* north = here - stride;
  const Q* south = here + stride;
  const Q* parent_row[2] = {nullptr, nullptr};
  const std::uint8_t* parent_sign_row = nullptr;
  int col_shift[2] = {0, 0};
  std::size_t parent_last[2] = {0, 0};
  for (std::size_t k = 0; k < 2; ++k) {
    const BandParent& link = band.parents[k];
    if (link.band < 0 || !x_data[idx(link.band)].allocated()) continue;
    const BandData<Q>& other = x_data[idx(link.band)];
    const std::size_t prow = std::min(row >> link.row_shift, other.rows - 1);
    parent_row[k] = &other.magnitude[other.at(prow, 0)];
    if (k == 0) parent_sign_row = &other.negative[other.at(prow, 0)];
    col_shift[k] = link.col_shift;
    parent_last[k] = other.cols - 1;
  }
  const int cls = x_class[b];
  const int weight_h = cls == 1 ? 3 : cls == 2 ? 1 : 2, weight_v = cls == 2 ? 3 : cls == 1 ? 1 : 2;
  const int leaf = fresh_leaf ? 1 : 0;
  const auto old = [p](Q value) { return capped<Q>((value >> (p + 1)) << 1); };
  const auto now = [p](Q value) { return capped<Q>(value >> p); };
  for (std::size_t j = begin; j < end; ++j) {
    const int h = now(here[j - 1]) + old(here[j + 1]);
    const int v = now(north[j]) + old(south[j]);
    const int d = now(north[j - 1]) + now(north[j + 1]) + old(south[j - 1]) + old(south[j + 1]);
    const int sum = weight_h * h + weight_v * v + d;
    const int activity = kActivityClass[idx(std::min(sum, 63))];
    int parent[2] = {0, 0};
    for (std::size_t k = 0; k < 2; ++k)
      if (parent_row[k]) parent[k] = now(parent_row[k][std::min(j >> col_shift[k], parent_last[k])]);
    const Q known = here[j] >> (p + 1);
    const bool bit = (here[j] >> p) & 1;
    if (known == 0) {
      if (!code_significance(b, activity, h, v, d, parent[0], parent[1], leaf, bit)) continue;
      int parent_sign = 0;
      if (parent[0] > 0) parent_sign = parent_sign_row[std::min(j >> col_shift[0], parent_last[0])] ? 2 : 1;
      const std::size_t i = data.at(row, j);
      const bool negative = code_sign(b, i, parent_sign, data.negative[i]);
      if (!Io::encoding) {
        data.negative[i] = negative;
        here[j] |= Q{1} << p;
      }
    } else {
      const bool one = code_refinement(b, activity, std::max(parent[0], parent[1]), static_cast<int>(std::min<Q>(known, 4)), bit);
      if (!Io::encoding) here[j] |= static_cast<Q>(one) << p;
    }
  }
}

template <typename Io, typename Q>
bool PlaneCoder<Io, Q>::code_significance(std::size_t b, int activity, int h, int v, int d, int parent_1, int parent_2,
                                          int leaf, bool bit) {
  Contexts& c = x_contexts;
  const int parent = level4(std::max(parent_1, parent_2));
  BitModel& main = c.activity[idx((x_class[b] * Contexts::kParents + parent) * Contexts::kActivities + activity)];
  if (x_mixed_left <= 0) return decide(bit, main);
  const std::size_t band = std::min<std::size_t>(b, Contexts::kBands - 1);
  return decide_mixed<5>(
      bit,
      {&main, &c.pattern[idx(((x_class[b] * 5 + level5(h)) * 5 + level5(v)) * 4 + level4(d))],
       &c.band_activity[band * 6 + idx(activity / 2)],
       &c.parents[idx((level4(parent_1) * Contexts::kParents + level4(parent_2)) * Contexts::kActivities + activity)],
       &c.leaf[idx(((level4(h + v) * 4 + level4(d)) * 6 + x_class[b]) * 2 + leaf)]},
      c.activity_mixers[idx(activity)]);
}

template <typename Io, typename Q>
bool PlaneCoder<Io, Q>::code_sign(std::size_t b, std::size_t i, int parent_sign, bool negative) {
  if (x_mixed_left <= 0) return x_io.code_raw(negative);
  const BandData<Q>& data = x_data[b];
  const int p = x_plane;
  const auto known = [&](std::size_t at, int plane) {  // -1, 0, 1
    return (data.magnitude[at] >> plane) == 0 ? 0 : data.negative[at] ? -1 : 1;
  };
  const auto side = [](int a, int z) { return std::clamp(a + z, -1, 1) + 1; };
  const int h = side(known(i - 1, p), known(i + 1, p + 1));
  const int v = side(known(i - data.stride, p), known(i + data.stride, p + 1));
  const std::size_t band = std::min<std::size_t>(b, Contexts::kBands - 1);
  Contexts& c = x_contexts;
  return decide_mixed<3>(negative,
                         {&c.sign[idx((x_class[b] * 3 + h) * 3 + v)], &c.sign_parents[idx((h * 3 + v) * 9 + parent_sign)],
                          &c.sign_band[band * 3 + idx(x_class[b] == 1 ? h : v)]},
                         c.sign_mixers[0]);
}

template <typename Io, typename Q>
bool PlaneCoder<Io, Q>::code_refinement(std::size_t b, int activity, int parent, int known, bool bit) {
  const int depth = known == 1 ? 0 : known < 4 ? 1 : 2;
  Contexts& c = x_contexts;
  BitModel& main = c.refine[idx(depth * 6 + activity / 2)];
  if (x_mixed_left <= 0) return depth == 2 ? x_io.code_raw(bit) : decide(bit, main);
  const std::size_t band = std::min<std::size_t>(b, Contexts::kBands - 1);
  return decide_mixed<3>(bit, {&main, &c.refine_band[band * 3 + idx(depth)], &c.refine_parent[idx(depth * 4 + level4(parent))]},
                         c.refine_mixers[idx(depth)]);
}

template class PlaneCoder<RangeEncoder, std::uint32_t>;
template class PlaneCoder<RangeDecoder, std::uint32_t>;
template class PlaneCoder<RangeEncoder, std::uint64_t>;
template class PlaneCoder<RangeDecoder, std::uint64_t>;

}  // namespace effort::codec
