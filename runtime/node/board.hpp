// The hint board, in shared memory: the background thread publishes hints on it for the ranks of its node.
#pragma once

#include "analytics/window/report.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace effort::node {

inline constexpr int max_strata = 64;
inline constexpr int max_hint_regions = 1024;
inline constexpr int max_hint_units = 32;
inline constexpr std::size_t names_bytes = std::size_t{1} << 18;

/// Sizes that are fixed when the segment is created.
struct BoardShape {
  int n_ranks;  ///< ranks of the run
  int n_local;  ///< ranks of the node
};

/// When a look (one analysis of the load) takes place, in steps.
struct Appointment {
  std::int64_t last = 0;  ///< the look is made after this step
  std::int64_t due = 0;   ///< step at whose end its hint is delivered, >= last
};

/// The sample from a step on, until the next decision.
struct SampleContent {
  std::int64_t from = -1;               ///< the first step of a window; -1: nothing has been decided
  std::span<const double> probability;  ///< [n_local] that each rank is sampled; drawn again in every window
};

// The types by which HintNumbers, HintContent and HintView represent an array of the hint.
template <typename>
using IsKnown = bool;
template <typename T>
using ContentArray = std::span<const T>;
template <typename T>
using ViewArray = const T*;

/// The numbers of a hint; the arrays follow in the slot.
struct HintNumbers {
  std::int64_t look = -1;  ///< index of the look, from 0
  Appointment now, next;   ///< times of this look and of the next one
  std::int32_t n_regions = 0, n_units = 0;
  window::Report report;
  std::int64_t sample_from = -1;      ///< SampleContent::from
  window::HintArrays<IsKnown> known;  ///< set when the hint is published
};

/// A hint as the background thread publishes it; spans are copied.
struct HintContent : window::HintArrays<ContentArray> {
  HintNumbers numbers;
  std::span<const std::string> region_names;  ///< all names; the first n_regions are used
  std::span<const std::string> unit_names;
  SampleContent sample;
};

/// A hint as a rank sees it: pointers into the board, and null for arrays that are not known.  `region_load` has the
/// rank's regions only.
struct HintView : window::HintArrays<ViewArray> {
  const HintNumbers* numbers = nullptr;
  double probability = 0;  ///< of SampleContent, for this rank
};

/// Looks use two slots alternately.  While ranks read the hint of look k, that of look k + 1 may be written.  Look k +
/// 2 cannot be written yet: it needs frames of steps that end after every reader has moved on, because a look's steps
/// end only after the previous hint was delivered.
class Board {
 public:
  Board(std::byte* base, const BoardShape& shape);
  static std::size_t bytes(const BoardShape& shape);

  // ---- background thread
  void publish(const HintContent& content);
  /// Announces that the library is off.  From now on, ranks get this answer instead of each hint that is due.
  void publish_switched_off(std::int64_t look);
  /// Reports that the `number`-th explicit snapshot is complete, with its outcome `status`.  Ranks wait for one such
  /// snapshot at a time.
  void publish_snapshot(std::int64_t number, int status);
  void publish_finished(int status);

  // ---- ranks
  /// Index of the newest hint; -1: none yet.
  std::int64_t newest() const noexcept;
  /// The first look at which the library is off; a very large number while it is on.
  std::int64_t off_from() const noexcept;
  std::int64_t snapshots_done() const noexcept;
  int snapshot_status() const noexcept;
  bool finished(int& status) const noexcept;
  HintView view(std::int64_t look, int local) const noexcept;
  /// The appointments of a look and the next one, for a rank that has not followed the hints.  False if the slot may
  /// meanwhile have been overwritten.
  bool appointments(std::int64_t look, Appointment& now, Appointment& next) const noexcept;
  /// Names known so far.  Names are only appended, so pointers stay valid.
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
