// The transform along the ranks of matrices whose rows are distributed over nodes.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/wavelet/cdf97.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace effort::wavelet {

/// Consecutive rows, `last` excluded.
struct RowRange {
  std::size_t first = 0, last = 0;
  std::size_t size() const { return last - first; }
};

/// The assignment of rows to nodes: consecutive rows in the order of the nodes.  Consecutive nodes form groups, each of
/// which is a matrix of its own.  A value type, equal on all nodes.
class RowDistribution {
 public:
  /// @param counts  rows of every node, 0 included
  /// @param groups  first node of every group, ascending; the first is 0
  RowDistribution(const std::vector<std::size_t>& counts, std::vector<int> groups);

  int nodes() const { return static_cast<int>(offsets_.size()) - 1; }
  int groups() const { return static_cast<int>(groups_.size()) - 1; }
  int group_of(int node) const;
  int first_node(int group) const { return groups_[static_cast<std::size_t>(group)]; }
  int end_node(int group) const { return groups_[static_cast<std::size_t>(group) + 1]; }
  /// Rows of a group's low band after `level` halvings.
  std::size_t rows(int group, int level = 0) const;
  /// The rows that a node holds of its group's low band after `level` halvings: those that derive from its own rows.
  RowRange owned(int node, int level) const;

 private:
  std::vector<std::size_t> offsets_;  ///< [nodes + 1]
  std::vector<int> groups_;           ///< [groups + 1]
};

/// The halo of a node's rows: up to four rows before and after them, within its group.
class Halo {
 public:
  /// Collective.  Nodes with few rows forward those of others, so any number of rows per node is allowed.
  /// @param width     values of a row, equal on all nodes
  /// @param copy_row  writes the row of this index, one of this node's
  Halo(Communicator& nodes, const RowDistribution& distribution, int level, std::size_t width,
       const std::function<void(std::size_t, double*)>& copy_row);

  /// A row before or after the node's own; std::logic_error for others.
  const double* row(std::size_t i) const;

 private:
  std::size_t width_;
  RowRange own_;
  std::vector<double> before_, behind_;
};

/// Computes level `level` + 1 from the low band of level `level`: split() of all the groups' rows, with the same bits.
/// Collective; groups of a single row are left unchanged.
///
/// @param own   this node's rows of level `level`
/// @param low, high  receive its rows of level + 1, one row less in the high band of a group that ends with an even row
void distributed_split(Communicator& nodes, const RowDistribution& distribution, int level, const MatrixView& own,
                       const MatrixView& low, const MatrixView& high, bool halve_cols);

/// Undoes distributed_split(): from level + 1 to the node's rows of level `level`.
void distributed_join(Communicator& nodes, const RowDistribution& distribution, int level, const MatrixView& low,
                      const MatrixView& high, const MatrixView& own, bool halve_cols);

/// Rows of the high band that a node gets when level `level` is halved.
std::size_t high_rows(const RowDistribution& distribution, int node, int level);

}  // namespace effort::wavelet
