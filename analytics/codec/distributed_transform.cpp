#include "analytics/codec/distributed_transform.hpp"

#include "analytics/codec/quantiser.hpp"
#include "analytics/codec/split_choice.hpp"

#include <algorithm>
#include <cmath>

namespace effort::codec {

using wavelet::low_length;
using wavelet::MatrixView;
using wavelet::RowRange;

namespace {

/// Low bands up to this size may always be gathered on all nodes.
constexpr std::size_t always_gathered = 4096;

double largest_of(const MatrixView& part) {
  double largest = 0;
  for (std::size_t i = 0; i < part.extent(0); ++i) largest = std::max(largest, largest_in(&part(i, 0), part.extent(1)));
  return largest;
}

double cost_of(const MatrixView& part, double step) {
  CostSum sum(step);
  for (std::size_t i = 0; i < part.extent(0); ++i)
    for (std::size_t j = 0; j < part.extent(1); ++j) sum.add(part(i, j));
  return sum.bits();
}

/// A split of a whole matrix, with its first value at the origin.
PacketSplit split_of(const MatrixView& matrix, bool along_rows, int extra) {
  PacketSplit split{};
  split.rows = matrix.extent(0);
  split.cols = matrix.extent(1);
  split.along_rows = along_rows;
  split.extra = split.deepest = extra;
  return split;
}

}  // namespace

DistributedTransform::DistributedTransform(Communicator& nodes, const wavelet::RowDistribution& distribution,
                                           std::size_t cols)
    : nodes_(nodes), distribution_(distribution), cols_(cols), group_(distribution.group_of(nodes.rank())) {
  const std::size_t rows = distribution.rows(group_);
  levels_ = {wavelet::deepest_level(rows), wavelet::deepest_level(cols)};
  layout_ = make_layout(rows, cols, levels_, possible_splits(rows, cols, levels_));
  const int fine = level_to_gather(0, true, cols);
  for (int level = 1; level <= fine; ++level) {
    const std::size_t pairs = distribution.owned(nodes.rank(), level).size(), width = low_cols(level - 1);
    const bool halves_rows = level <= levels_.rows;
    fine_.push_back({halves_rows, level <= levels_.cols, Grid(pairs, width),
                     Grid(halves_rows ? wavelet::high_rows(distribution, nodes.rank(), level - 1) : 0, width)});
  }
  cascades_.resize(fine_.size());
  coarse_ = Grid(low_length(rows, fine), low_cols(fine));
}

/// The first level from which on the low bands of `width` columns (halved along when `halve_cols`), of all groups of
/// several nodes together, are no larger than a node's share.
int DistributedTransform::level_to_gather(int from, bool halve_cols, std::size_t width) const {
  std::size_t all = 0;
  int deepest = 0;
  for (int g = 0; g < distribution_.groups(); ++g) {
    all += distribution_.rows(g);
    deepest = std::max(deepest, wavelet::deepest_level(distribution_.rows(g)));
  }
  if (halve_cols) deepest = std::max(deepest, levels_.cols);
  const std::size_t share = std::max(all * cols_ / static_cast<std::size_t>(distribution_.nodes()), always_gathered);
  for (int level = from; level < deepest; ++level) {
    std::size_t low = 0;
    for (int g = 0; g < distribution_.groups(); ++g)
      if (distribution_.end_node(g) - distribution_.first_node(g) > 1)
        low += distribution_.rows(g, level) * (halve_cols ? low_cols(level) : width);
    if (low <= share) return level;
  }
  return std::max(deepest, from);
}

/// Gathers the rows of all nodes of the group.  Collective unless every node is a group of its own.
std::vector<double> DistributedTransform::gather(const MatrixView& own) const {
  std::vector<double> mine(own.size());
  copy_rows(own, MatrixView(mine.data(), own.extent(0), own.extent(1)));
  if (alone()) return mine;
  const int first = distribution_.first_node(group_), end = distribution_.end_node(group_);
  const bool single = end - first == 1;
  const auto all = nodes_.allgatherv(std::span<const double>(mine).first(single ? 0 : mine.size()));
  if (single) return mine;
  return {all.values.begin() + static_cast<std::ptrdiff_t>(all.offsets[static_cast<std::size_t>(first)]),
          all.values.begin() + static_cast<std::ptrdiff_t>(all.offsets[static_cast<std::size_t>(end)])};
}

void DistributedTransform::forward(std::span<const double> rows) {
  const Kokkos::Serial space;
  // Read-only.
  MatrixView low(const_cast<double*>(rows.data()), rows.size() / std::max<std::size_t>(cols_, 1), cols_);
  for (int level = 1; level <= static_cast<int>(fine_.size()); ++level) {
    Level& here = fine_[static_cast<std::size_t>(level) - 1];
    const MatrixView low_out = here.low.at(false, 0, here.low.cols), high_out = here.high.at(false, 0, here.high.cols);
    wavelet::distributed_split(nodes_, distribution_, level - 1, low, low_out, high_out, here.halves_cols);
    if (!here.halves_rows) wavelet::split(space, low, low_out, false, here.halves_cols);
    low = here.low.at(false, 0, low_cols(level));
  }
  coarse_.coefficient = gather(low);
  const int fine = static_cast<int>(fine_.size());
  wavelet::forward(space, wavelet::MatrixView(coarse_.coefficient.data(), coarse_.rows, coarse_.cols),
                   {std::max(levels_.rows - fine, 0), std::max(levels_.cols - fine, 0)});
  find_pieces();
}

const PacketSplit* DistributedTransform::split_at(int level, bool along_rows) const {
  for (const PacketSplit& split : layout_.splits)
    if (split.level == level && split.along_rows == along_rows) return &split;
  return nullptr;
}

/// The part of this node's rows that a split of a fine level halves.
MatrixView DistributedTransform::split_region(int level, bool along_rows, bool of_trial) {
  Level& here = fine_[static_cast<std::size_t>(level) - 1];
  const std::size_t low = low_cols(level), width = here.low.cols;
  return along_rows ? here.low.at(of_trial, low, width - low) : here.high.at(of_trial, 0, low);
}

/// Bits of the low and high bands by group, fine level, direction and depth.  They are summed over nodes as integers,
/// so the order does not matter.
struct DistributedTransform::Costs {
  int levels, groups, depths = 0;
  std::vector<double> largest;
  std::vector<std::int64_t> bits;

  explicit Costs(const DistributedTransform& t)
      : levels(static_cast<int>(t.fine_.size())), groups(t.distribution_.groups()) {
    for (int g = 0; g < groups; ++g) depths = std::max(depths, wavelet::deepest_level(t.distribution_.rows(g)) + 1);
    depths = std::max(depths, t.levels_.cols + 1);
    largest.resize(static_cast<std::size_t>(groups) * static_cast<std::size_t>(levels) * 2);
    bits.resize(largest.size() * static_cast<std::size_t>(depths) * 2);
  }
  std::size_t at(int group, int level, bool along_rows) const {
    return (static_cast<std::size_t>(group) * static_cast<std::size_t>(levels) + static_cast<std::size_t>(level) - 1) *
               2 +
           (along_rows ? 1 : 0);
  }
  void add(std::size_t at, int depth, bool high, double cost) {
    bits[(at * static_cast<std::size_t>(depths) + static_cast<std::size_t>(depth)) * 2 + (high ? 1 : 0)] +=
        static_cast<std::int64_t>(cost * 256);
  }
  int best(std::size_t at, int deepest) const {
    std::vector<double> low, high;
    for (int k = 0; k <= deepest; ++k) {
      const std::size_t i = (at * static_cast<std::size_t>(depths) + static_cast<std::size_t>(k)) * 2;
      low.push_back(static_cast<double>(bits[i]) / 256);
      high.push_back(static_cast<double>(bits[i + 1]) / 256);
    }
    return cheapest_depth(low, high);
  }
};

void DistributedTransform::run_cascade(int level, Cascade& cascade) {
  MatrixView low = split_region(level, true, false);
  cascade.width = low.extent(1);
  cascade.gather_level = level_to_gather(level, false, low.extent(1));
  const int me = nodes_.rank();
  for (int k = level; k < cascade.gather_level; ++k) {
    Grid& next = cascade.low.emplace_back(distribution_.owned(me, k + 1).size(), low.extent(1));
    const bool halved = distribution_.rows(group_, k) > 1;
    Grid& high = cascade.high.emplace_back(halved ? wavelet::high_rows(distribution_, me, k) : 0, low.extent(1));
    const MatrixView next_rows = next.at(false, 0, low.extent(1));
    wavelet::distributed_split(nodes_, distribution_, k, low, next_rows, high.at(false, 0, low.extent(1)), false);
    if (!halved) copy_rows(low, next_rows);
    low = next_rows;
  }
  cascade.gathered.cols = low.extent(1);
  cascade.gathered.coefficient = gather(low);
  cascade.gathered.rows = low.extent(1) ? cascade.gathered.coefficient.size() / low.extent(1) : 0;
  cascade.gathered.trial.resize(cascade.gathered.coefficient.size());
}

void DistributedTransform::cascade_costs(int level, Cascade& cascade, const PacketSplit& split, double step,
                                         Costs& costs) const {
  const std::size_t at = costs.at(group_, level, true);
  const int distributed_depth = std::min(cascade.depth(), split.deepest);
  for (int k = 1; k <= distributed_depth; ++k) {
    Grid& low = cascade.low[static_cast<std::size_t>(k) - 1];
    Grid& high = cascade.high[static_cast<std::size_t>(k) - 1];
    costs.add(at, k, false, cost_of(low.at(false, 0, low.cols), step));
    costs.add(at, k, true, cost_of(high.at(false, 0, high.cols), step));
  }
  if (!contributes_replicated()) return;
  Grid copy = cascade.gathered;
  const MatrixView all = copy.at(false, 0, copy.cols);
  const PacketSplit rest = split_of(all, true, split.deepest);
  for (int k = distributed_depth + 1; k <= split.deepest; ++k) {
    const int done = k - 1 - distributed_depth;
    apply_split(all, rest, done, done + 1);
    const std::size_t whole = low_length(copy.rows, done), low = low_length(whole, 1);
    costs.add(at, k, false, cost_of(part(all, 0, low, 0, copy.cols), step));
    costs.add(at, k, true, cost_of(part(all, low, whole - low, 0, copy.cols), step));
  }
}

void DistributedTransform::column_costs(int level, const PacketSplit& split, double step, Costs& costs) {
  const std::size_t at = costs.at(group_, level, false);
  const MatrixView region = split_region(level, false, false);
  Grid copy(region.extent(0), region.extent(1));
  const MatrixView all = copy.at(false, 0, copy.cols);
  copy_rows(region, all);
  const PacketSplit rest = split_of(all, false, split.deepest);
  for (int k = 1; k <= split.deepest; ++k) {
    apply_split(all, rest, k - 1, k);
    const std::size_t whole = low_length(copy.cols, k - 1), low = low_length(whole, 1);
    costs.add(at, k, false, cost_of(part(all, 0, copy.rows, 0, low), step));
    costs.add(at, k, true, cost_of(part(all, 0, copy.rows, low, whole - low), step));
  }
}

void DistributedTransform::choose_splits(double step) {
  const int fine = static_cast<int>(fine_.size());
  std::vector<PacketSplit> splits = layout_.splits;
  for (PacketSplit& split : splits)  // all nodes decide the same way about gathered parts
    if (split.level > fine) split.extra = best_split(split, coarse_.coefficient.data(), coarse_.cols, step);
  if (fine > 0) {
    Costs costs(*this);
    for (const PacketSplit& split : splits)
      if (split.level <= fine && split.deepest > 0)
        costs.largest[costs.at(group_, split.level, split.along_rows)] =
            largest_of(split_region(split.level, split.along_rows, false)) * split_gain(split);
    nodes_.allreduce(std::span(costs.largest), ReduceOp::max);
    const auto active = [&](int group, int level, bool along_rows) {
      return costs.largest[costs.at(group, level, along_rows)] >= step / 4;
    };
    for (int level = fine; level >= 1; --level) {
      bool any = false;
      for (int g = 0; g < costs.groups; ++g) any |= active(g, level, true);
      if (any) run_cascade(level, cascades_[static_cast<std::size_t>(level) - 1]);
    }
    for (PacketSplit& split : splits) {
      if (split.level > fine || !active(group_, split.level, split.along_rows)) continue;
      const double own_step = step / split_gain(split);
      costs.add(costs.at(group_, split.level, split.along_rows), 0, false,
                cost_of(split_region(split.level, split.along_rows, false), own_step));
      if (split.along_rows) {
        cascade_costs(split.level, cascades_[static_cast<std::size_t>(split.level) - 1], split, own_step, costs);
      } else {
        column_costs(split.level, split, own_step, costs);
      }
    }
    nodes_.allreduce(std::span(costs.bits), ReduceOp::sum);
    for (PacketSplit& split : splits)
      if (split.level <= fine && active(group_, split.level, split.along_rows))
        split.extra = costs.best(costs.at(group_, split.level, split.along_rows), split.deepest);
    for (int level = 1; level <= fine; ++level) {
      Cascade& cascade = cascades_[static_cast<std::size_t>(level) - 1];
      for (int g = 0; g < costs.groups; ++g) {
        const int row_levels = wavelet::deepest_level(distribution_.rows(g));
        if (active(g, level, true) && level <= std::min(row_levels, levels_.cols))
          cascade.used = std::max(cascade.used, costs.best(costs.at(g, level, true), row_levels - level));
      }
      if (cascade.used == 0) cascade = {};
    }
  }
  layout_ = make_layout(layout_.rows, layout_.cols, levels_, std::move(splits));
  for (const PacketSplit& split : layout_.splits)
    apply(split,
          split.level <= fine && split.along_rows ? &cascades_[static_cast<std::size_t>(split.level) - 1] : nullptr);
  find_pieces();
}

void DistributedTransform::apply(const PacketSplit& split, Cascade* cascade) {
  if (split.extra == 0) return;
  if (split.level > static_cast<int>(fine_.size())) {
    apply_split(coarse_.at(false, 0, coarse_.cols), split, 0, split.extra);
  } else if (cascade) {
    Grid& rest = cascade->gathered;
    const MatrixView all = rest.at(false, 0, rest.cols);
    if (split.extra > cascade->depth())
      apply_split(all, split_of(all, true, split.extra), 0, split.extra - cascade->depth());
  } else {
    const MatrixView region = split_region(split.level, false, false);
    apply_split(region, split_of(region, false, split.extra), 0, split.extra);
  }
}

void DistributedTransform::undo_cascade(int level, Cascade& cascade, const PacketSplit& split) {
  const int depth = cascade.depth();
  // Groups that have split less deeply, or not at all, take part with unused values.
  if (split.extra > depth) {
    Grid& rest = cascade.gathered;
    undo_split(rest.at(true, 0, rest.cols), split_of(rest.at(true, 0, rest.cols), true, split.extra - depth));
    if (depth > 0) {
      Grid& low = cascade.low.back();
      const std::size_t first = distribution_.owned(nodes_.rank(), level + depth).first;
      copy_rows(part(rest.at(true, 0, rest.cols), first, low.rows, 0, rest.cols), low.at(true, 0, low.cols));
    } else {
      const MatrixView region = split_region(level, true, true);
      copy_rows(part(rest.at(true, 0, rest.cols), distribution_.owned(nodes_.rank(), level).first, region.extent(0), 0,
                     rest.cols),
                region);
    }
  }
  for (int k = std::min(depth, cascade.used); k >= 1; --k) {
    Grid& low = cascade.low[static_cast<std::size_t>(k) - 1];
    Grid& high = cascade.high[static_cast<std::size_t>(k) - 1];
    Grid spare;
    const bool wanted = k <= split.extra;
    const MatrixView region = split_region(level, true, true);
    if (!wanted)
      spare = Grid(k > 1 ? cascade.low[static_cast<std::size_t>(k) - 2].rows : region.extent(0), cascade.width);
    const MatrixView out = !wanted ? spare.at(true, 0, spare.cols)
                           : k > 1 ? cascade.low[static_cast<std::size_t>(k) - 2].at(true, 0, cascade.width)
                                   : region;
    wavelet::distributed_join(nodes_, distribution_, level + k - 1, low.at(true, 0, low.cols),
                              high.at(true, 0, high.cols), out, false);
  }
}

void DistributedTransform::inverse(std::span<double> rows) {
  const Kokkos::Serial space;
  const int fine = static_cast<int>(fine_.size());
  for (const PacketSplit& split : layout_.splits)
    if (split.level > fine) undo_split(coarse_.at(true, 0, coarse_.cols), split);
  for (int level = fine; level >= 1; --level) {
    Cascade& cascade = cascades_[static_cast<std::size_t>(level) - 1];
    const PacketSplit *by_rows = split_at(level, true), *by_cols = split_at(level, false);
    if (cascade.used > 0) undo_cascade(level, cascade, by_rows ? *by_rows : PacketSplit{});
    if (!by_cols || by_cols->extra == 0) continue;
    const MatrixView region = split_region(level, false, true);
    undo_split(region, split_of(region, false, by_cols->extra));
  }
  wavelet::inverse(space, wavelet::MatrixView(coarse_.trial.data(), coarse_.rows, coarse_.cols),
                   {std::max(levels_.rows - fine, 0), std::max(levels_.cols - fine, 0)});
  const auto low_of = [&](int level) {
    if (level == 0) return MatrixView(rows.data(), rows.size() / std::max<std::size_t>(cols_, 1), cols_);
    return fine_[static_cast<std::size_t>(level) - 1].low.at(true, 0, low_cols(level));
  };
  const RowRange mine = distribution_.owned(nodes_.rank(), fine);
  copy_rows(part(coarse_.at(true, 0, coarse_.cols), mine.first, mine.size(), 0, coarse_.cols), low_of(fine));
  for (int level = fine; level >= 1; --level) {
    Level& here = fine_[static_cast<std::size_t>(level) - 1];
    const MatrixView low = here.low.at(true, 0, here.low.cols), out = low_of(level - 1);
    wavelet::distributed_join(nodes_, distribution_, level - 1, low, here.high.at(true, 0, here.high.cols), out,
                              here.halves_cols);
    if (!here.halves_rows) wavelet::join(space, low, out, false, here.halves_cols);
  }
}

}  // namespace effort::codec
