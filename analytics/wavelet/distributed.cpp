#include "analytics/wavelet/distributed.hpp"

#include "analytics/wavelet/lifting.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace effort::wavelet {
namespace {

/// Reach of the filters beyond a node's rows, in rows (for the inverse: in row pairs).
constexpr std::size_t filter_reach = 4;

/// The number of rows around its own that every node knows, while neighbours forward rows.
class Knowledge {
 public:
  Knowledge(const RowDistribution& distribution, int level) : distribution_(distribution), level_(level) {
    const auto n = static_cast<std::size_t>(distribution.nodes());
    before_.assign(n, 0);
    behind_.assign(n, 0);
  }

  bool complete() const {
    for (int node = 0; node < distribution_.nodes(); ++node) {
      const RowRange own = distribution_.owned(node, level_);
      const std::size_t rows = distribution_.rows(distribution_.group_of(node), level_);
      if (before(node) < std::min(filter_reach, own.first) || behind(node) < std::min(filter_reach, rows - own.last))
        return false;
    }
    return true;
  }
  std::size_t before(int node) const { return before_[static_cast<std::size_t>(node)]; }
  std::size_t behind(int node) const { return behind_[static_cast<std::size_t>(node)]; }
  std::size_t to_next(int node) const {
    return joined(node, node + 1) ? std::min(filter_reach, distribution_.owned(node, level_).size() + before(node)) : 0;
  }
  std::size_t to_previous(int node) const {
    return joined(node, node - 1) ? std::min(filter_reach, distribution_.owned(node, level_).size() + behind(node)) : 0;
  }
  void exchange() {
    std::vector<std::size_t> before(before_.size()), behind(before_.size());
    for (int node = 0; node < distribution_.nodes(); ++node) {
      if (node > 0) before[static_cast<std::size_t>(node)] = to_next(node - 1);
      if (node + 1 < distribution_.nodes()) behind[static_cast<std::size_t>(node)] = to_previous(node + 1);
    }
    before_ = std::move(before);
    behind_ = std::move(behind);
  }

 private:
  bool joined(int node, int other) const {
    return other >= 0 && other < distribution_.nodes() && distribution_.group_of(node) == distribution_.group_of(other);
  }

  const RowDistribution& distribution_;
  int level_;
  std::vector<std::size_t> before_, behind_;
};

}  // namespace

RowDistribution::RowDistribution(const std::vector<std::size_t>& counts, std::vector<int> groups)
    : groups_(std::move(groups)) {
  offsets_.push_back(0);
  for (const std::size_t n : counts) offsets_.push_back(offsets_.back() + n);
  groups_.push_back(static_cast<int>(counts.size()));
}

int RowDistribution::group_of(int node) const {
  return static_cast<int>(std::upper_bound(groups_.begin(), groups_.end() - 1, node) - groups_.begin()) - 1;
}

std::size_t RowDistribution::rows(int group, int level) const {
  return low_length(
      offsets_[static_cast<std::size_t>(end_node(group))] - offsets_[static_cast<std::size_t>(first_node(group))],
      level);
}

RowRange RowDistribution::owned(int node, int level) const {
  const std::size_t start = offsets_[static_cast<std::size_t>(first_node(group_of(node)))];
  // Low row i derives from row i * 2^level.
  const auto at = [&](int n) {
    std::size_t row = offsets_[static_cast<std::size_t>(n)] - start;
    for (int l = 0; l < level; ++l) row = (row + 1) / 2;
    return row;
  };
  return {at(node), at(node + 1)};
}

Halo::Halo(Communicator& nodes, const RowDistribution& distribution, int level, std::size_t width,
           const std::function<void(std::size_t, double*)>& copy_row)
    : width_(width), own_(distribution.owned(nodes.rank(), level)) {
  const int me = nodes.rank();
  const std::size_t own = own_.size();
  std::vector<double> to_previous, to_next;
  for (Knowledge known(distribution, level); !known.complete();) {
    const std::size_t up = known.to_next(me), down = known.to_previous(me), before = known.before(me);
    to_next.resize(up * width);
    to_previous.resize(down * width);
    for (std::size_t k = 0; k < up; ++k) {  // the last of the preceding and the node's own rows
      const std::size_t at = before + own - up + k;
      double* to = to_next.data() + k * width;
      if (at < before) {
        std::copy_n(before_.data() + at * width, width, to);
      } else {
        copy_row(own_.first + at - before, to);
      }
    }
    for (std::size_t k = 0; k < down; ++k) {  // the first of the node's own and the following rows
      double* to = to_previous.data() + k * width;
      if (k < own) {
        copy_row(own_.first + k, to);
      } else {
        std::copy_n(behind_.data() + (k - own) * width, width, to);
      }
    }
    known.exchange();
    before_.resize(known.before(me) * width);
    behind_.resize(known.behind(me) * width);
    nodes.neighbour_exchange<double>(to_previous, to_next, before_, behind_);
  }
}

const double* Halo::row(std::size_t i) const {
  const std::size_t before = width_ ? before_.size() / width_ : 0, behind = width_ ? behind_.size() / width_ : 0;
  if (i < own_.first && own_.first - i <= before) return before_.data() + (before - (own_.first - i)) * width_;
  if (i >= own_.last && i - own_.last < behind) return behind_.data() + (i - own_.last) * width_;
  throw std::logic_error("row " + std::to_string(i) + " is not next to the node's rows");
}

std::size_t high_rows(const RowDistribution& distribution, int node, int level) {
  const RowRange pairs = distribution.owned(node, level + 1);
  return std::min(pairs.last, distribution.rows(distribution.group_of(node), level) / 2) -
         std::min(pairs.first, distribution.rows(distribution.group_of(node), level) / 2);
}

void distributed_split(Communicator& nodes, const RowDistribution& distribution, int level, const MatrixView& own,
                       const MatrixView& low, const MatrixView& high, bool halve_cols) {
  const int me = nodes.rank();
  const RowRange here = distribution.owned(me, level), pairs = distribution.owned(me, level + 1);
  const std::size_t rows = distribution.rows(distribution.group_of(me), level);
  const Halo halo(nodes, distribution, level, own.extent(1),
                  [&](std::size_t i, double* to) { std::copy_n(&own(i - here.first, 0), own.extent(1), to); });
  if (rows < 2 || pairs.size() == 0) return;
  std::vector<const double*> list;
  const auto first = 2 * static_cast<std::ptrdiff_t>(pairs.first) - 4,
             last = 2 * static_cast<std::ptrdiff_t>(pairs.last) + 2;
  for (std::ptrdiff_t i = first; i <= last; ++i) {
    const std::size_t at = reflect(i, rows);
    const bool mine = at >= here.first && at < here.last;
    list.push_back(mine ? &own(at - here.first, 0) : halo.row(at));
  }
  split_pairs(Kokkos::Serial(), list.data(), low, high, halve_cols);
}

void distributed_join(Communicator& nodes, const RowDistribution& distribution, int level, const MatrixView& low,
                      const MatrixView& high, const MatrixView& own, bool halve_cols) {
  const int me = nodes.rank();
  const RowRange here = distribution.owned(me, level), pairs = distribution.owned(me, level + 1);
  const std::size_t rows = distribution.rows(distribution.group_of(me), level), cols = own.extent(1);
  const Halo halo(nodes, distribution, level + 1, 2 * cols, [&](std::size_t i, double* to) {
    const std::size_t k = i - pairs.first;
    std::copy_n(&low(k, 0), cols, to);
    if (k < high.extent(0)) {
      std::copy_n(&high(k, 0), cols, to + cols);
    } else {
      std::fill_n(to + cols, cols, 0.0);
    }
  });
  if (rows < 2 || here.size() == 0) return;
  // The first row may be the second of a pair held by the previous node.
  const auto first = static_cast<std::ptrdiff_t>(here.first / 2),
             last = static_cast<std::ptrdiff_t>((here.last + 1) / 2);
  std::vector<const double*> list;
  for (std::ptrdiff_t i = 2 * (first - 2); i <= 2 * (last + 1) + 1; ++i) {
    const std::size_t at = reflect(i, rows), pair = at / 2;
    if (pair < pairs.first || pair >= pairs.last) {
      list.push_back(halo.row(pair) + (at % 2) * cols);
    } else {
      list.push_back(&(at % 2 ? high : low)(pair - pairs.first, 0));
    }
  }
  if (here.first % 2 == 0) return join_pairs(Kokkos::Serial(), list.data(), own, halve_cols);
  const std::size_t n = own.extent(0) + 1;
  const auto memory = std::make_unique_for_overwrite<double[]>(n * cols);
  join_pairs(Kokkos::Serial(), list.data(), MatrixView(memory.get(), n, cols), halve_cols);
  for (std::size_t i = 0; i < own.extent(0); ++i) std::copy_n(memory.get() + (i + 1) * cols, cols, &own(i, 0));
}

}  // namespace effort::wavelet
