// The hint board: hints from the background thread to the ranks of its node, in shared memory.
#pragma once

#include "analytics/window/report.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace effort::node {

inline constexpr int max_strata = 64;
inline constexpr int max_hint_regions = 1024;
inline constexpr int max_hint_units = 32;
inline constexpr std::size_t names_bytes = std::size_t{1} << 18;

/// Sizes that are known when the segment is made.
struct BoardShape {
  int n_ranks;  ///< of the run
  int n_local;  ///< of the node
};

/// When a look takes place, in steps.
struct Appointment {
  std::int64_t last = 0;  ///< step after which it is made
  std::int64_t due = 0;   ///< step at whose end its hint is delivered, >= last
};

/// The numbers of a hint; arrays follow in the slot.
struct HintNumbers {
  std::int64_t look = -1;  ///< index of the look, from 0
  Appointment now, next;   ///< this look's and the next one's
  std::int32_t n_regions = 0, n_units = 0;
  window::Report report;
};

/// A hint as the background thread publishes it; spans are copied.
struct HintContent {
  HintNumbers numbers;
  std::span<const double> load, predicted, speed;  ///< [n_ranks]
  std::span<const std::int32_t> stratum;           ///< [n_ranks]
  std::span<const std::int32_t> medoid_rank;       ///< [n_strata]
  std::span<const double> stratum_region_load;     ///< [n_strata][stride], the first n_regions of each row
  std::size_t stratum_stride = 0;
  std::span<const double> region_load;        ///< [n_local][n_regions]
  std::span<const std::string> region_names;  ///< all, the first n_regions are used
  std::span<const std::string> unit_names;
  std::span<const double> unit_cost, unit_cost_error;
};

/// A hint as a rank sees it: pointers into the board.
struct HintView {
  const HintNumbers* numbers;
  const double *load, *predicted, *speed, *stratum_region_load, *region_load, *unit_cost, *unit_cost_error;
  const std::int32_t *stratum, *medoid_rank;
};

/// Two slots, used alternately.  While ranks read the hint of look k, that of k + 1 may be written.  That of k + 2
/// cannot be, because its steps end only after every reader has received the hint of k + 1.
class Board {
 public:
  Board(std::byte* base, const BoardShape& shape);
  static std::size_t bytes(const BoardShape& shape);

  // ---- background thread
  void publish(const HintContent& content);
  /// Switches the library off: from now on, every hint that is due says so.
  void publish_switched_off(std::int64_t look);
  /// Counts explicit snapshots, for which ranks wait one after the other; `status` is the outcome.
  void publish_snapshot(std::int64_t number, int status);
  void publish_finished(int status);

  // ---- ranks
  /// Index of the newest hint; -1: none yet.
  std::int64_t newest() const noexcept;
  /// The look from which the library is off; very large while it is on.
  std::int64_t off_from() const noexcept;
  std::int64_t snapshots_done() const noexcept;
  int snapshot_status() const noexcept;
  bool finished(int& status) const noexcept;
  HintView view(std::int64_t look, int local) const noexcept;
  /// The appointments of a look and the next one, for a rank that has not followed the hints.  Returns false if the
  /// slot may have been overwritten.
  bool appointments(std::int64_t look, Appointment& now, Appointment& next) const noexcept;
  /// Names known so far; they are only ever appended, so pointers stay valid.
  const char* region_name(int i) const noexcept;
  const char* unit_name(int i) const noexcept;

 private:
  struct Control;
  struct SlotLayout;
  Control& control() const noexcept;
  std::byte* slot(std::int64_t look) const noexcept;
  void append_names(std::span<const std::string> names, std::uint32_t* offsets, int& have, int limit);

  std::byte* base_;
  BoardShape shape_;
  int names_written_ = 0, units_written_ = 0;  // background thread only
};

}  // namespace effort::node
