// The wavelet transform of matrices whose rows are distributed over nodes.  Bands stay on the nodes of their rows.
#pragma once

#include "analytics/codec/bands.hpp"
#include "analytics/wavelet/distributed.hpp"

#include <span>
#include <utility>
#include <vector>

namespace effort::codec {

/// Coefficients of this node, and their reconstruction at a trial step.
struct Grid {
  std::size_t rows = 0, cols = 0;
  std::vector<double> coefficient, trial;

  Grid() = default;
  Grid(std::size_t r, std::size_t c) : rows(r), cols(c), coefficient(r * c), trial(r * c) {}
  wavelet::MatrixView at(bool of_trial, std::size_t col0, std::size_t n) {
    return wavelet::view_of((of_trial ? trial : coefficient).data() + col0, rows, n, cols);
  }
};

/// The block of `rows` x `cols` values from (row0, col0) on.
inline wavelet::MatrixView part(const wavelet::MatrixView& matrix, std::size_t row0, std::size_t rows, std::size_t col0,
                                std::size_t cols) {
  using Range = std::pair<std::size_t, std::size_t>;
  return Kokkos::subview(matrix, Range(row0, row0 + rows), Range(col0, col0 + cols));
}

/// Some rows of a band of the group's layout.
struct Piece {
  std::size_t band = 0, row0 = 0;
  wavelet::MatrixView coefficient{}, trial{};
  bool replicated = false;  ///< all nodes of the group hold the same values
};

/// The coefficients are those of the transform of the whole matrix, bit for bit.  Fine levels are computed on the nodes
/// of the rows, with halo exchange.  A low band that is no larger than a node's share of the matrix is gathered on all
/// nodes of its group, which then compute the coarse levels redundantly.  Memory: a few times the larger of the node's
/// rows and that share.
class DistributedTransform {
 public:
  DistributedTransform(Communicator& nodes, const wavelet::RowDistribution& distribution, std::size_t cols);

  /// Collective.  @param rows  this node's, row-major
  void forward(std::span<const double> rows);
  /// Collective.  Splits bands of all groups further if that makes them cheaper at a quantisation step.
  void choose_splits(double step);
  /// Collective.  Transforms the pieces' trial values back to rows, and overwrites them.
  void inverse(std::span<double> rows);

  const Layout& layout() const { return layout_; }  ///< of this node's group
  std::span<const Piece> pieces() const { return pieces_; }
  int group() const { return group_; }
  /// Whether this node contributes the pieces that all nodes of its group hold.
  bool contributes_replicated() const { return nodes_.rank() == distribution_.first_node(group_); }

 private:
  /// One halving of rows (and usually of columns) on the nodes of the rows.
  struct Level {
    bool halves_rows, halves_cols;
    Grid low, high;
  };
  /// Further halvings along the rows of the low rows' high columns of a level.
  struct Cascade {
    std::size_t width = 0;
    int gather_level = 0;
    int used = 0;                 ///< the deepest split of any group
    std::vector<Grid> low, high;  ///< by depth, from 1; up to the gather level
    Grid gathered;                ///< the remaining low band, on all nodes
    int depth() const { return static_cast<int>(low.size()); }
  };
  struct Costs;

  std::size_t low_cols(int level) const { return wavelet::low_length(cols_, std::min(level, levels_.cols)); }
  bool alone() const { return distribution_.groups() == distribution_.nodes(); }
  int level_to_gather(int from, bool halve_cols, std::size_t width) const;
  std::vector<double> gather(const wavelet::MatrixView& own) const;
  void run_cascade(int level, Cascade& cascade);
  void cascade_costs(int level, Cascade& cascade, const PacketSplit& split, double step, Costs& costs) const;
  void column_costs(int level, const PacketSplit& split, double step, Costs& costs);
  void apply(const PacketSplit& split, Cascade* cascade);
  void undo_cascade(int level, Cascade& cascade, const PacketSplit& split);
  wavelet::MatrixView split_region(int level, bool along_rows, bool of_trial);
  const PacketSplit* split_at(int level, bool along_rows) const;
  PacketSplit here(const PacketSplit& split) const;
  void add_piece(int row_level, bool row_high, int col_level, bool col_high, std::size_t row0,
                 const wavelet::MatrixView& coefficient, const wavelet::MatrixView& trial, bool replicated);
  void find_pieces();
  void fine_pieces(int level);
  void cascade_pieces(int level, Cascade& cascade, const PacketSplit& split);
  void column_pieces(int level, const PacketSplit& split);

  Communicator& nodes_;
  wavelet::RowDistribution distribution_;
  std::size_t cols_;
  int group_;
  wavelet::Levels levels_;
  Layout layout_;
  std::vector<Level> fine_;        ///< [level - 1]
  std::vector<Cascade> cascades_;  ///< [level - 1]
  Grid coarse_;                    ///< of the group, from level fine_.size() on
  std::vector<Piece> pieces_;
};

}  // namespace effort::codec
