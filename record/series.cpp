#include "record/series.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "analytics/codec/history.hpp"

namespace effort::record {

namespace {

/// Adds a history's approximation to the grid's rows.  Cell j of the history covers steps from first + j 2^l on.  If
/// its cells are not those of the grid, values are distributed by overlap.
void place(Grid& grid, const std::vector<std::size_t>& rows, const codec::Decoded& history, std::int64_t first,
           std::int64_t covered, std::int64_t steps) {
  struct Share {
    std::size_t from, to;
    double part;
  };
  std::vector<Share> shares;
  const std::int64_t width = std::int64_t{1} << grid.level;
  for (std::size_t j = 0; j < history.cols; ++j) {
    const std::int64_t begin = first + static_cast<std::int64_t>(j) * width;
    const std::int64_t end = std::min(begin + width, first + covered);
    for (std::int64_t cell = begin / width; cell * width < end; ++cell) {
      const std::int64_t cell_end = std::min((cell + 1) * width, steps);
      const std::int64_t overlap = std::min(end, cell_end) - std::max(begin, cell * width);
      shares.push_back({j, static_cast<std::size_t>(cell),
                        static_cast<double>(overlap) / static_cast<double>(cell_end - cell * width)});
    }
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    double* to = grid.values.data() + rows[r] * grid.cols();
    const double* from = history.values.data() + r * history.cols;
    for (const Share& s : shares) to[s.to] += s.part * from[s.from];
  }
}

/// The rows of a history in the order of the grid.
class RowOrder {
 public:
  explicit RowOrder(std::vector<std::size_t> history_rows) : rows(std::move(history_rows)), place(rows.size()) {
    std::vector<std::size_t> by_row(rows.size());
    std::iota(by_row.begin(), by_row.end(), std::size_t{0});
    std::sort(by_row.begin(), by_row.end(), [&](std::size_t a, std::size_t b) { return rows[a] < rows[b]; });
    for (std::size_t i = 0; i < by_row.size(); ++i) place[by_row[i]] = i;
    std::sort(rows.begin(), rows.end());
  }

  /// Values [rows] in that order; valid until the next call.
  std::span<const double> sorted(const codec::Decoded& values) const {
    if (std::is_sorted(place.begin(), place.end())) return values.values;
    moved_.resize(values.values.size());
    for (std::size_t i = 0; i < place.size(); ++i) {
      const auto from = values.values.begin() + static_cast<std::ptrdiff_t>(i * values.cols);
      std::copy(from, from + static_cast<std::ptrdiff_t>(values.cols),
                moved_.begin() + static_cast<std::ptrdiff_t>(place[i] * values.cols));
    }
    return moved_;
  }

  std::vector<std::size_t> rows;   ///< of the grid, ascending
  std::vector<std::size_t> place;  ///< of the history's rows among them

 private:
  mutable std::vector<double> moved_;
};

/// The lowest of every `width` ranks.
std::vector<std::int32_t> lowest_ranks(const std::vector<std::int32_t>& ranks, std::size_t width) {
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < ranks.size(); i += width) {
    const auto begin = ranks.begin() + static_cast<std::ptrdiff_t>(i);
    out.push_back(*std::min_element(begin, begin + static_cast<std::ptrdiff_t>(std::min(width, ranks.size() - i))));
  }
  return out;
}

}  // namespace

SeriesReader::SeriesReader(Reader& reader) : reader_(reader) {
  for (const std::int32_t node : reader.nodes()) nodes_.push_back({node, 0, reader.tiles(node)});
  std::size_t i = 0;
  for (const SectionInfo& section : reader.sections()) {
    const bool here = i < nodes_.size() &&
                      (nodes_[i].node == all_nodes
                           ? section.type == "SHAR"
                           : section.type == "TILE" && section.key == static_cast<std::uint32_t>(nodes_[i].node));
    if (here) nodes_[i++].offset = section.offset;
  }
  const Run& run = reader.run();
  ranks_.resize(static_cast<std::size_t>(run.nodes));
  std::int32_t rank = 0;
  for (const NodeRun& part : run.placement) {
    for (std::int32_t k = 0; k < part.count; ++k) ranks_[static_cast<std::size_t>(part.node)].push_back(rank++);
  }
  if (united()) all_ranks_ = run.ranks_of_node(all_nodes);
}

const std::vector<std::int32_t>& SeriesReader::ranks_of(std::int32_t node) const {
  return node == all_nodes ? all_ranks_ : ranks_[static_cast<std::size_t>(node)];
}

std::vector<std::int32_t> SeriesReader::parts() const {
  if (united()) return {all_nodes};
  std::vector<std::int32_t> nodes(ranks_.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

const Tile* SeriesReader::find(const Node& node, std::uint32_t series) const {
  const auto at = std::lower_bound(node.tiles.begin(), node.tiles.end(), series,
                                   [](const Tile& t, std::uint32_t s) { return t.series < s; });
  return at != node.tiles.end() && at->series == series ? &*at : nullptr;
}

namespace {
void check_level(int level) {
  if (level < 0 || level > most_level)
    throw std::length_error("level " + std::to_string(level) + " is out of range: give 0 to " +
                            std::to_string(most_level));
}

/// Number of cells of 2^level values that cover so many values.
std::size_t cells(std::size_t values, int level) { return (values + (std::size_t{1} << level) - 1) >> level; }
}  // namespace

Shape SeriesReader::shape(int level) const {
  check_level(level);
  Shape out{0, cells(static_cast<std::size_t>(reader_.run().steps), level)};
  for (const std::int32_t part : parts()) out.rows += cells(ranks_of(part).size(), level);
  return out;
}

Grid SeriesReader::row_frame(int level) const {
  check_level(level);
  Grid grid;
  grid.level = level;
  const std::size_t width = std::size_t{1} << level;
  std::vector<std::pair<std::int32_t, std::int32_t>> rows;
  for (const std::int32_t part : parts()) {
    const std::vector<std::int32_t> lowest = lowest_ranks(ranks_of(part), width);
    for (std::size_t i = 0; i < lowest.size(); ++i)
      rows.emplace_back(lowest[i], static_cast<std::int32_t>(std::min(width, ranks_of(part).size() - i * width)));
  }
  std::sort(rows.begin(), rows.end());
  for (const auto& [rank, count] : rows) {
    grid.first_rank.push_back(rank);
    grid.rank_count.push_back(count);
  }
  return grid;
}

Grid SeriesReader::frame(int level) const {
  // A file of a few bytes can claim more steps than fit in memory.
  constexpr std::size_t most_cols = std::size_t{1} << 27;
  const std::int64_t steps = reader_.run().steps;
  int needed = level;
  while (shape(needed).cols > most_cols) ++needed;
  if (needed > level)
    throw std::length_error("the run has too many steps, " + std::to_string(steps) + " (file '" + reader_.name() +
                            "'): read it at level " + std::to_string(needed) + " or above");
  Grid grid = row_frame(level);
  grid.first_step.reserve(shape(level).cols);
  for (std::int64_t step = 0; step < steps; step += std::int64_t{1} << level) grid.first_step.push_back(step);
  return grid;
}

std::vector<std::size_t> SeriesReader::rows_of(std::int32_t node, const Grid& frame) const {
  std::vector<std::size_t> rows = history_rows(node, frame);
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Positions of a history's rows in the frame.  They ascend, unless all nodes' histories are one and the nodes' ranks
/// interleave.
std::vector<std::size_t> SeriesReader::history_rows(std::int32_t node, const Grid& frame) const {
  std::vector<std::size_t> rows;
  for (const std::int32_t rank : lowest_ranks(ranks_of(node), std::size_t{1} << frame.level)) {
    const auto at = std::lower_bound(frame.first_rank.begin(), frame.first_rank.end(), rank);
    rows.push_back(static_cast<std::size_t>(at - frame.first_rank.begin()));
  }
  return rows;
}

void SeriesReader::check_size(const Grid& frame, std::size_t max_values) const {
  const double values = static_cast<double>(frame.rows()) * static_cast<double>(frame.cols());
  if (values <= static_cast<double>(max_values)) return;
  int level = frame.level;
  while (level < 30 && std::ceil(values / std::exp2(2.0 * (level - frame.level))) > static_cast<double>(max_values))
    ++level;
  throw std::length_error("the series has " + std::to_string(frame.rows()) + " x " + std::to_string(frame.cols()) +
                          " values at level " + std::to_string(frame.level) + " (file '" + reader_.name() +
                          "'): read it at level " + std::to_string(level) + " or above");
}

void SeriesReader::refuse(const std::string& problem, const Node& node, std::uint32_t series) const {
  throw FormatError(problem + " in the history of series " + std::to_string(series) +
                        (node.node == all_nodes ? " of all nodes" : " of node " + std::to_string(node.node)),
                    reader_.name(), node.offset, "copy the file again");
}

/// Opens a node's history and checks it against the run.  Errors name the file.
template <typename Function>
void SeriesReader::with_history(const Node& node, const Tile& tile, Function&& function) const {
  const std::int64_t steps = reader_.run().steps;
  try {
    const codec::HistoryReader history(tile.history);
    const bool fits = history.rows() == ranks_of(node.node).size() &&
                      history.steps() <= static_cast<std::uint64_t>(steps - tile.first_step);
    if (!fits) refuse("sizes that differ from the run's", node, tile.series);
    function(history);
  } catch (const codec::CodecError& e) {
    refuse(e.what(), node, tile.series);
  }
}

void SeriesReader::add(Grid& grid, const std::vector<std::size_t>& rows, const Node& node, const Tile& tile,
                       std::size_t max_values) const {
  with_history(node, tile, [&](const codec::HistoryReader& history) {
    const codec::Decoded decoded = history.read(grid.level, max_values);
    if (decoded.rows != rows.size()) refuse("a number of rows that is not that of the ranks", node, tile.series);
    place(grid, rows, decoded, tile.first_step, static_cast<std::int64_t>(history.steps()), reader_.run().steps);
  });
}

void SeriesReader::each_piece(std::uint32_t series, const Grid& whole, std::int32_t wanted,
                              const TakePiece& take) const {
  for (const Node& node : nodes_) {
    const Tile* tile = node.node == wanted ? find(node, series) : nullptr;
    if (tile == nullptr || tile->history.empty()) continue;
    const RowOrder order(history_rows(node.node, whole));
    if (whole.level > 0) {
      Grid part;
      part.level = whole.level;
      part.first_step = whole.first_step;
      part.values.assign(order.rows.size() * whole.cols(), 0.0);
      add(part, order.place, node, *tile, std::size_t{1} << 31);
      take({order.rows, 0, whole.cols(), part.values});
      continue;
    }
    with_history(node, *tile, [&](const codec::HistoryReader& history) {
      history.read_tiles([&](std::size_t first, const codec::Decoded& values) {
        take({order.rows, static_cast<std::size_t>(tile->first_step) + first, values.cols, order.sorted(values)});
      });
    });
  }
}

Grid SeriesReader::grid(std::uint32_t series, int level, std::size_t max_values) const {
  Grid out = frame(level);
  check_size(out, max_values);
  out.values.assign(out.rows() * out.cols(), 0.0);
  for (const Node& node : nodes_) {
    const Tile* tile = find(node, series);
    if (tile != nullptr && !tile->history.empty()) add(out, history_rows(node.node, out), node, *tile, max_values);
  }
  return out;
}

void SeriesReader::each_exact_piece(const std::function<void(std::uint32_t, const Piece&)>& take) const {
  const Grid whole = row_frame(0);
  reader_.each_exact([&](std::int32_t node, const ExactBlock& block) {
    const std::vector<std::size_t> rows = rows_of(node, whole);
    const auto steps = static_cast<std::size_t>(block.steps);
    for (std::size_t s = 0; s < block.series.size(); ++s) {
      const std::span<const double> values =
          std::span(block.values).subspan(s * rows.size() * steps, rows.size() * steps);
      take(block.series[s], {rows, static_cast<std::size_t>(block.first_step), steps, values});
    }
  });
}

Grid SeriesReader::exact(std::uint32_t series, std::size_t max_values) const {
  Grid out = frame(0);
  check_size(out, max_values);
  out.values.assign(out.rows() * out.cols(), std::numeric_limits<double>::quiet_NaN());
  each_exact_piece([&](std::uint32_t which, const Piece& piece) {
    if (which != series) return;
    for (std::size_t r = 0; r < piece.rows.size(); ++r) {
      const std::span<const double> from = piece.values.subspan(r * piece.cols, piece.cols);
      std::copy(from.begin(), from.end(),
                out.values.begin() + static_cast<std::ptrdiff_t>(piece.rows[r] * out.cols() + piece.first_col));
    }
  });
  return out;
}

StepLoads SeriesReader::step_loads() const {
  const Run& run = reader_.run();
  StepLoads out;
  if (run.step_loads.empty()) return out;
  try {
    const codec::HistoryReader history(run.step_loads);
    if (history.rows() != 2 || static_cast<std::int64_t>(history.steps()) != run.steps)
      throw codec::CodecError("it does not have two rows and all steps", 0);
    const std::vector<double> values = history.read().values;
    out.largest.assign(values.begin(), values.begin() + run.steps);
    out.mean.assign(values.begin() + run.steps, values.end());
    out.nrmse = history.nrmse();
  } catch (const codec::CodecError& e) {
    std::uint64_t offset = 0;
    for (const SectionInfo& section : reader_.sections())
      if (section.type == "PATH") offset = section.offset;
    throw FormatError(std::string(e.what()) + " in the loads of the steps", reader_.name(), offset,
                      "copy the file again");
  }
  return out;
}

double SeriesReader::nrmse(std::uint32_t series) const {
  const double stated = reader_.run().series.at(series).nrmse;
  if (stated >= 0) return stated;
  // A tile's error is relative to its own range, which is at most that of the series, so the largest one is a bound.
  double largest = absent;
  for (const Node& node : nodes_) {
    const Tile* tile = find(node, series);
    if (tile == nullptr || tile->history.empty()) continue;
    try {
      largest = std::max(largest, codec::HistoryReader(tile->history).nrmse());
    } catch (const codec::CodecError& e) {
      refuse(e.what(), node, series);
    }
  }
  return largest;
}

double SeriesReader::max_error(std::uint32_t series) const {
  double largest = absent;
  for (const Node& node : nodes_) {
    const Tile* tile = find(node, series);
    if (tile == nullptr || tile->history.empty()) continue;
    with_history(node, *tile,
                 [&](const codec::HistoryReader& history) { largest = std::max(largest, history.max_error()); });
  }
  return largest;
}

std::uint64_t SeriesReader::stored_bytes(std::uint32_t series) const {
  std::uint64_t sum = 0;
  for (const Node& node : nodes_) {
    const Tile* tile = find(node, series);
    if (tile != nullptr) sum += tile->history.size();
  }
  return sum;
}

}  // namespace effort::record
