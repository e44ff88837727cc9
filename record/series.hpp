// The loads in a snapshot as matrices, for tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "record/reader.hpp"

namespace effort::record {

/// A series, or its 2^level times coarser approximation, over the whole run.  At level 0 a row is one rank, otherwise
/// up to 2^level neighbouring ranks of one node (or of all ranks in the order of the nodes, if their histories are
/// stored as one).  Columns are steps, grouped in the same way.
struct Grid {
  int level = 0;
  std::vector<std::int32_t> first_rank;  ///< [rows] lowest rank of a row, ascending
  std::vector<std::int32_t> rank_count;  ///< [rows] number of ranks of a row
  std::vector<std::int64_t> first_step;  ///< [columns] 0, 2^level, ...
  std::vector<double> values;            ///< [rows][columns] mean of the values of a cell (approximate above level 0)

  std::size_t rows() const { return first_rank.size(); }
  std::size_t cols() const { return first_step.size(); }
};

/// The coarsest approximation.
inline constexpr int most_level = 30;

/// The number of rows and columns of a grid.
struct Shape {
  std::size_t rows = 0, cols = 0;
};

/// Some rows and columns of a grid.
struct Piece {
  std::span<const std::size_t> rows;  ///< of the grid, ascending
  std::size_t first_col = 0, cols = 0;
  std::span<const double> values;  ///< [rows][cols]
};
using TakePiece = std::function<void(const Piece& piece)>;

/// The loads of every step of a run, in the load metric's unit.
struct StepLoads {
  std::vector<double> largest, mean;  ///< [steps] over the ranks; empty: not stored
  double nrmse = absent;              ///< of both together
};

/// Decodes histories node by node.  Keeps the reader's tiles of all nodes in compressed form, so that many series can
/// be read in turn.  Errors of all members: FormatError.  Threads: one at a time; Kokkos must be initialised for
/// grid().
class SeriesReader {
 public:
  /// `reader` must outlive this.
  explicit SeriesReader(Reader& reader);

  /// Rows and columns of every grid of that level, 0 to most_level.  O(nodes).
  Shape shape(int level) const;
  /// The same as a grid without values.  More than 2^27 columns are refused with std::length_error that names the level
  /// that would fit.
  Grid frame(int level) const;
  /// One series.  Parts without a history are zero.
  /// @param level       0 to 30
  /// @param max_values  a larger grid is refused with std::length_error that names the level that would fit
  Grid grid(std::uint32_t series, int level = 0, std::size_t max_values = std::size_t{1} << 31) const;
  /// The owners of histories: all_nodes alone, or all nodes of the run.
  std::vector<std::int32_t> parts() const;
  /// One series of the node `wanted` (or all_nodes, see parts()), at the level of `whole`, in pieces that do not
  /// overlap; other cells of the node are zero.  Memory: at level 0 one tile of the history (some thousand steps of one
  /// rank, fewer steps of many), else the node's part of the grid.
  void each_piece(std::uint32_t series, const Grid& whole, std::int32_t wanted, const TakePiece& take) const;
  /// A node's rows in a frame.
  std::vector<std::size_t> rows_of(std::int32_t node, const Grid& frame) const;
  /// Exact values (see below) of all series in pieces of level 0; other values were not stored.  Memory: one window of
  /// one node.
  void each_exact_piece(const std::function<void(std::uint32_t series, const Piece& piece)>& take) const;
  /// The exact values stored in addition (EXACT=1), at level 0; NaN if there is none.
  Grid exact(std::uint32_t series, std::size_t max_values = std::size_t{1} << 31) const;
  /// The largest and the mean load of every step as measured, see Run::step_loads; empty if they are not stored.
  StepLoads step_loads() const;
  /// Upper bound of a series' nrmse: the run's figure if it is known, else from the histories.
  double nrmse(std::uint32_t series) const;
  /// Largest absolute error of any value of a series according to its histories, in the metric's unit; absent without
  /// histories.
  double max_error(std::uint32_t series) const;
  /// Bytes of the series' histories.
  std::uint64_t stored_bytes(std::uint32_t series) const;

 private:
  struct Node {
    std::int32_t node;
    std::uint64_t offset;  ///< of its section, for messages
    std::vector<Tile> tiles;
  };
  /// A frame without columns.
  Grid row_frame(int level) const;
  bool united() const { return !nodes_.empty() && nodes_[0].node == all_nodes; }
  const std::vector<std::int32_t>& ranks_of(std::int32_t node) const;
  const Tile* find(const Node& node, std::uint32_t series) const;
  std::vector<std::size_t> history_rows(std::int32_t node, const Grid& frame) const;
  void add(Grid& grid, const std::vector<std::size_t>& rows, const Node& node, const Tile& tile,
           std::size_t max_values) const;
  template <typename Function>
  void with_history(const Node& node, const Tile& tile, Function&& function) const;
  [[noreturn]] void refuse(const std::string& problem, const Node& node, std::uint32_t series) const;
  void check_size(const Grid& frame, std::size_t max_values) const;

  Reader& reader_;
  std::vector<Node> nodes_;                       ///< nodes with tiles
  std::vector<std::vector<std::int32_t>> ranks_;  ///< by node, ascending
  std::vector<std::int32_t> all_ranks_;           ///< node by node, if united()
};

}  // namespace effort::record
