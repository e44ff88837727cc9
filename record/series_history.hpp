// A series on one node while the run goes on, for the engine and for replays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analytics/codec/history.hpp"
#include "record/run.hpp"

namespace effort::record {

/// Its compressed history and the exact sum of each rank, which grow by windows.
class SeriesHistory {
 public:
  /// @param first_step  step of the first column; the series is zero before it
  /// @param history     empty; its rows are the node's ranks
  SeriesHistory(std::int64_t first_step, codec::History history)
      : first_step_(first_step), history_(std::move(history)), sums_(history_.rows()) {}

  /// @param values  [ranks of the node][steps]
  void append(std::span<const double> values, std::size_t steps) {
    history_.append(values, steps);
    const double* value = values.data();
    for (double& sum : sums_)
      for (std::size_t step = 0; step < steps; ++step) sum += *value++;
  }
  bool work() { return history_.work(); }

  std::int64_t first_step() const { return first_step_; }
  /// The first step after the columns appended so far.
  std::int64_t end_step() const { return first_step_ + static_cast<std::int64_t>(history_.steps()); }
  const codec::History& history() const { return history_; }
  /// Adds this node's ranks to the series' totals, one after the other.
  void add_to(Totals& totals, std::span<const std::int32_t> ranks) const {
    for (std::size_t r = 0; r < ranks.size(); ++r) totals.add({sums_[r], sums_[r], ranks[r]});
  }
  /// @param final  in the smallest form, for the end of a run
  Tile tile(std::uint32_t series, bool final) const {
    return {series, first_step_, final ? history_.serialize_final() : history_.serialize()};
  }
  std::size_t held_bytes() const { return history_.held_bytes() + sums_.size() * sizeof(double); }

 private:
  std::int64_t first_step_;
  codec::History history_;
  std::vector<double> sums_;  ///< [ranks of the node] over the steps
};

}  // namespace effort::record
