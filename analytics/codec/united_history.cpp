#include "analytics/codec/united_history.hpp"

#include "analytics/codec/matrix.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>

namespace effort::codec {
namespace {

/// Values of a slab on the node with most rows; large enough for the headers of its tile to be negligible.
constexpr std::size_t slab_values = std::size_t{1} << 19;

/// 1 for absent values; empty if there are none.
std::vector<std::uint8_t> absent_of(const std::vector<double>& values) {
  if (std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); })) return {};
  std::vector<std::uint8_t> absent(values.size());
  std::transform(values.begin(), values.end(), absent.begin(), [](double v) { return std::isnan(v) ? 1 : 0; });
  return absent;
}

}  // namespace

UnitedHistories::UnitedHistories(Communicator& nodes, const Target& target)
    : nodes_(nodes), target_(target), coder_(nodes) {
  if (target.kind() == Target::Kind::max_bytes)
    throw std::invalid_argument("a bound on the bytes applies to each node: code the nodes' histories one by one");
}

/// Exchanges the facts that all nodes need before the first slab.
UnitedHistories::Series UnitedHistories::describe(const HistoryShare& mine, std::size_t& largest) const {
  const bool fits = mine.steps == mine.before + (mine.history ? mine.history->steps() : mine.steps - mine.before) &&
                    (!mine.history || mine.history->rows() == mine.rows);
  const auto steps = static_cast<std::int64_t>(mine.steps);
  std::array<std::int64_t, 4> most{fits ? 0 : 1, static_cast<std::int64_t>(mine.rows), steps, -steps};
  nodes_.allreduce(std::span<std::int64_t>(most), ReduceOp::max);
  if (most[0] || most[2] != -most[3])
    throw std::invalid_argument(
        "a node's history does not have the number of rows or steps that was stated, or that the other nodes have");
  auto rows = static_cast<std::int64_t>(mine.rows);
  nodes_.allreduce(std::span(&rows, 1), ReduceOp::sum);
  largest = static_cast<std::size_t>(most[1]);

  std::array<double, 4> reach{-HUGE_VAL, -HUGE_VAL, 0, 0};
  if (mine.rows > 0 && (!mine.history || mine.before > 0)) reach = {0, 0, 0, 0};
  if (mine.history && !mine.history->empty()) {
    const HistoryColumns columns(*mine.history);
    reach = {std::max(reach[0], -mine.history->min()), std::max(reach[1], mine.history->max()), columns.rms_error(),
             columns.max_error()};
  }
  nodes_.allreduce(std::span<double>(reach), ReduceOp::max);
  Series series;
  series.rows = static_cast<std::size_t>(rows);
  series.begin = series.end = slabs_.size();
  series.rms = reach[2];
  series.max = reach[3];
  const double low = -reach[0], high = reach[1];
  if (low < high) {
    series.unit = std::min(high - low, 1.7e308);
  } else if (low == high && high != 0) {
    series.unit = std::abs(high);
  }
  return series;
}

SlabGoal UnitedHistories::goal_of(const Series& series) const {
  SlabGoal goal{target_.kind(), target_.value(), series.unit};
  if (goal.kind == Target::Kind::nrmse) goal.value = std::max(goal.value - series.rms / series.unit, 0.0);
  if (goal.kind == Target::Kind::max_error) goal.value = std::max(goal.value - series.max, 0.0);
  return goal;
}

void UnitedHistories::add(const HistoryShare& mine) {
  std::size_t largest = 0;
  Series series = describe(mine, largest);
  if (largest > largest_tile)
    throw std::invalid_argument("a node has " + std::to_string(largest) + " rows, but at most " +
                                std::to_string(largest_tile) + " are possible: distribute them over more nodes");
  const std::size_t width =
      std::clamp<std::size_t>(largest > 0 ? std::bit_floor(slab_values / std::min(largest, slab_values)) : 1, 1,
                              std::max<std::size_t>(mine.steps, 1));
  std::optional<HistoryColumns> columns;
  if (mine.history) columns.emplace(*mine.history);
  for (std::size_t first = 0; series.rows > 0 && first < mine.steps; first += width) {
    const std::size_t n = std::min(width, mine.steps - first);
    std::vector<double> values(mine.rows * n);
    const std::size_t zeros = std::min(n, mine.before - std::min(mine.before, first));
    if (columns && zeros < n) columns->read(n - zeros, values.data() + zeros, n);
    slabs_.push_back(coder_.add({values, mine.rows, n, absent_of(values)}, goal_of(series)));
    if (++waiting_ == static_cast<std::size_t>(nodes_.size())) code();
  }
  series.end = slabs_.size();
  series_.push_back(series);
}

/// Slabs wait until each node has one to code, so that all nodes code at the same time.
void UnitedHistories::code() {
  std::vector<SlabCoder::Block> coded = coder_.code();
  std::move(coded.begin(), coded.end(), std::back_inserter(blocks_));
  waiting_ = 0;
}

std::vector<std::vector<std::byte>> UnitedHistories::finish() {
  code();
  const std::vector<SlabBytes> slabs = gather_slabs(nodes_, slabs_, blocks_);
  std::vector<std::vector<std::byte>> out;
  for (const Series& s : series_) {
    if (nodes_.rank() != 0) break;
    const std::size_t count = s.end - s.begin;
    BlockErrors errors = errors_of(std::span(slabs_).subspan(s.begin, count), s.unit);
    errors.nrmse += s.rms / s.unit;
    errors.max_error += s.max;
    out.push_back(write_blocks(s.rows, std::span(slabs).subspan(s.begin, count), errors));
  }
  return out;
}

}  // namespace effort::codec
