#include "tools/view/load_picture.hpp"

#include <algorithm>
#include <cmath>

#include "tools/view/snapshot_view.hpp"

namespace effort::tools {

using record::Grid;
using record::Run;

namespace {

/// Values to decode: the usual number, and the limit (a few seconds' worth) if coarser approximations would lose rows.
constexpr double wanted_values = 1 << 21, most_values = 1 << 23;

std::vector<std::uint32_t> load_series(const Run& run) {
  std::vector<std::uint32_t> compute, all;
  const std::size_t metric = load_metric_of(run);
  for (std::uint32_t i = 0; i < run.series.size(); ++i) {
    if (run.series[i].metric != metric) continue;
    all.push_back(i);
    if (run.series[i].kind == record::Kind::compute) compute.push_back(i);
  }
  return compute.empty() ? all : compute;
}

int choose_level(const Run& run, const record::SeriesReader& reader, std::size_t series, std::size_t rows,
                 std::size_t cols) {
  int level = 0;
  while (level < record::most_level) {
    const record::Shape next = reader.shape(level + 1);
    if (next.rows < rows || next.cols < cols) break;
    ++level;
  }
  const auto cost = [&](int l) {
    return static_cast<double>(run.ranks) * static_cast<double>(run.steps) * static_cast<double>(series) /
           std::exp2(2.0 * l);
  };
  while (level < record::most_level && cost(level) > wanted_values &&
         (cost(level) > most_values || reader.shape(level + 1).rows >= rows))
    ++level;
  return level;
}

/// The place of cell i of `from` in a row of `to` cells.
std::size_t bin(std::size_t i, std::size_t from, std::size_t to) { return i * to / from; }

}  // namespace

LoadPicture load_picture(record::Reader& reader, const record::SeriesReader& series, std::size_t rows,
                         std::size_t cols) {
  const Run& run = reader.run();
  const std::vector<std::uint32_t> wanted = load_series(run);
  LoadPicture out;
  if (run.steps == 0 || wanted.empty()) return out;
  out.level = choose_level(run, series, wanted.size(), rows, cols);
  const Grid frame = series.frame(out.level);
  rows = std::min(rows, frame.rows());
  cols = std::min(cols, frame.cols());
  out.first_rank.assign(rows, 0);
  out.first_step.assign(cols, 0);
  out.values.assign(rows * cols, 0.0);
  for (std::size_t r = frame.rows(); r-- > 0;) out.first_rank[bin(r, frame.rows(), rows)] = frame.first_rank[r];
  for (std::size_t c = frame.cols(); c-- > 0;) out.first_step[bin(c, frame.cols(), cols)] = frame.first_step[c];
  // The number of ranks and steps that a cell represents; unmeasured values (of a missing rank) do not count.
  std::vector<double> weights(rows * cols, 0.0), missing(rows * cols, 0.0);
  for (std::size_t r = 0; r < frame.rows(); ++r) {
    for (std::size_t c = 0; c < frame.cols(); ++c)
      weights[bin(r, frame.rows(), rows) * cols + bin(c, frame.cols(), cols)] += frame.rank_count[r];
  }
  for (std::uint32_t index : wanted) {
    for (std::int32_t node : reader.nodes()) {
      series.each_piece(index, frame, node, [&](const record::Piece& piece) {
        for (std::size_t r = 0; r < piece.rows.size(); ++r) {
          const std::size_t row = bin(piece.rows[r], frame.rows(), rows);
          const double weight = frame.rank_count[piece.rows[r]];
          for (std::size_t c = 0; c < piece.cols; ++c) {
            const std::size_t cell = row * cols + bin(piece.first_col + c, frame.cols(), cols);
            const double value = piece.values[r * piece.cols + c];
            (std::isnan(value) ? missing : out.values)[cell] +=
                std::isnan(value) ? weight / static_cast<double>(wanted.size()) : weight * value;
          }
        }
      });
    }
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double present = weights[i] - missing[i];
    out.values[i] =
        present > 1e-9 * weights[i] ? std::max(0.0, out.values[i] / present) : 0;  // approximations swing below zero
  }
  return out;
}

}  // namespace effort::tools
