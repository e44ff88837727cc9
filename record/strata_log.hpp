// The strata of a run's windows, kept as differences from window to window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace effort::record {

struct Run;

/// The strata of one window.
struct Strata {
  std::int64_t first = 0, last = 0;       ///< steps of the window, inclusive
  std::vector<std::int32_t> label;        ///< [ranks] stratum of each rank, 0-based
  std::vector<std::int32_t> medoid_rank;  ///< [strata]
  std::vector<std::string> region;        ///< names of the columns of `region_load`
  std::vector<double> region_load;        ///< [strata][regions] seconds per step, mean over the stratum
};

/// Consecutive ranks in one stratum.
struct LabelRun {
  std::int32_t first = 0, count = 0;
  std::int32_t label = 0;
  bool operator==(const LabelRun&) const = default;
};

/// The strata of an earlier window that differ from those of the next window kept.
struct StrataMove {
  std::int64_t first = 0, last = 0;  ///< steps of the window, inclusive
  std::int32_t strata = 0;           ///< their number
  std::vector<LabelRun> runs;        ///< strata of the ranks that differ, ascending by rank, not overlapping
  bool operator==(const StrataMove&) const = default;
};

/// Collects the strata of every window in bounded memory, for the engine and for replays.
///
/// Strata keep their numbers as long as they keep their members, so differences are small.  If they exceed the bound,
/// every other window is dropped, so older windows are further apart.  Not thread-safe.
class StrataLog {
 public:
  /// @param most_runs  runs kept in all; 12 bytes each here, some 3 in a file; 0: by the number of ranks
  explicit StrataLog(std::size_t most_runs = 0) : most_runs_(most_runs) {}

  /// Adds the strata of the next window, with the same number of ranks in every call.  Time: O(ranks + runs).
  void add(Strata window);

  /// All windows kept but the last one added, oldest first.
  const std::vector<StrataMove>& moves() const { return moves_; }
  /// Sets the run's strata and moves.
  void describe(Run& run) const;

 private:
  void thin();

  std::size_t most_runs_;
  std::size_t runs_ = 0;
  std::vector<StrataMove> moves_;
  Strata last_;  ///< the last window added; without labels: none
};

/// Calls `take` with the move and the stratum of every rank in its window, from the last window to the first.
/// @param label  [ranks] strata of the window after the last move
void each_earlier(std::span<const StrataMove> moves, std::vector<std::int32_t> label,
                  const std::function<void(const StrataMove&, std::span<const std::int32_t>)>& take);

}  // namespace effort::record
