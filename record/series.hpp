// The loads in a snapshot as matrices: for tools and the viewer, which link the codec; the runtime only writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "record/reader.hpp"

namespace effort::record {

/// A series, or its 2^level times coarser approximation, over the whole run.  Rows stand for one rank each at level
/// 0 and for up to 2^level neighbouring ranks of one node else (where the nodes' histories are stored as one, of all
/// ranks in the order of the nodes); columns likewise for steps.
struct Grid {
  int level = 0;
  std::vector<std::int32_t> first_rank;  ///< [rows] lowest rank a row stands for, ascending
  std::vector<std::int32_t> rank_count;  ///< [rows] how many ranks it stands for
  std::vector<std::int64_t> first_step;  ///< [columns] 0, 2^level, ...
  std::vector<double> values;  ///< [rows][columns], mean of the values a cell stands for (approximately, above level 0)

  std::size_t rows() const { return first_rank.size(); }
  std::size_t cols() const { return first_step.size(); }
};

/// The coarsest approximation there is.
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

/// What every step of a run took, in the load metric's unit.
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
  /// One series.  What a node or an early step did not contribute is zero.
  /// @param level       0 to 30
  /// @param max_values  a larger grid is refused with std::length_error that names the level that would fit
  Grid grid(std::uint32_t series, int level = 0, std::size_t max_values = std::size_t{1} << 31) const;
  /// What histories are stored by: all_nodes alone, or all nodes of the run.
  std::vector<std::int32_t> parts() const;
  /// One series of the node `wanted` (or all_nodes, see parts()), at the level of `whole`, in pieces that do not
  /// overlap; the node's cells in none are zero. Memory: at level 0 one tile of the history (some thousand steps of one
  /// rank, fewer of many), else the node's part of the grid.
  void each_piece(std::uint32_t series, const Grid& whole, std::int32_t wanted, const TakePiece& take) const;
  /// The rows of a frame that are a node's.
  std::vector<std::size_t> rows_of(std::int32_t node, const Grid& frame) const;
  /// Exact values, see below, of all series in pieces of level 0; what is in none was not stored.  Memory: one window
  /// of one node.
  void each_exact_piece(const std::function<void(std::uint32_t series, const Piece& piece)>& take) const;
  /// The exact values that were stored beside (EXACT=1), at level 0; NaN where none were.
  Grid exact(std::uint32_t series, std::size_t max_values = std::size_t{1} << 31) const;
  /// The largest and the mean load of every step as they were measured, see Run::step_loads; empty where they are not
  /// stored.
  StepLoads step_loads() const;
  /// Upper bound of a series' nrmse as its histories state it; the run's own figure where it is known.
  double nrmse(std::uint32_t series) const;
  /// Largest absolute error of any value of a series as its histories state it, in the metric's unit; absent without
  /// one.
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
  bool shared() const { return !nodes_.empty() && nodes_[0].node == all_nodes; }
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
  std::vector<Node> nodes_;                       ///< that have tiles
  std::vector<std::vector<std::int32_t>> ranks_;  ///< by node, ascending
  std::vector<std::int32_t> all_ranks_;           ///< node by node, where shared()
};

}  // namespace effort::record
