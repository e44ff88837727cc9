// Converts the records in a rank's trace memory to the events of one window.
#pragma once

#include "analytics/trace/event.hpp"
#include "runtime/recording/memory.hpp"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace effort::engine {

/// The events of one thread, ordered by time.
struct ThreadEvents {
  std::int32_t thread = 0;
  std::vector<trace::Event> events;
};

/// The events that a rank has recorded in a window.
struct RankEvents {
  std::vector<ThreadEvents> threads;
  std::int64_t start_ns = 0, end_ns = 0;  ///< of the steps that remain
  std::int64_t dropped_steps = 0;         ///< at the window's start: their records have been overwritten
  std::int64_t last_step = 0;
};

/// Reads windows of one rank.
class TraceEvents {
 public:
  /// Translates a region, phase, unit or communicator of the rank to the id of the run; < 0: unknown.
  using Translate = std::function<std::int64_t(trace::Kind, std::uint32_t)>;

  /// @param origin  ticks at which the clock of the events reads zero
  TraceEvents(recording::Memory memory, std::uint64_t origin, Translate translate)
      : memory_(memory), origin_(origin), translate_(std::move(translate)) {}

  /// The events of the steps [first, last], which the rank has ended.  Steps whose records have been overwritten are
  /// dropped whole.  Time: linear in the size of the trace memory.
  RankEvents read(std::int64_t first, std::int64_t last) const;
  /// The events since the beginning of the step `first`, up to those of the step that has not ended yet.
  RankEvents read_rest(std::int64_t first) const;
  /// As read(), but only the messages with other ranks that are kept: sends, receives, their starts and completions.
  /// Time: as read(), less for records that are left out.
  /// @param kept  [n_ranks] by rank of the run
  RankEvents read_messages(std::int64_t first, std::int64_t last, const std::vector<bool>& kept) const;

 private:
  RankEvents read(std::int64_t first, std::int64_t last, std::uint64_t from, std::uint64_t to) const;
  bool find_span(std::int64_t first, std::int64_t last, RankEvents& out, std::uint64_t& from, std::uint64_t& to) const;
  void drop_lost(std::int64_t first, std::int64_t last, std::uint64_t from, std::uint64_t to, RankEvents& out) const;
  std::int64_t ns(std::uint64_t ticks) const;
  bool translate_id(trace::Event& event) const;

  recording::Memory memory_;
  std::uint64_t origin_;
  Translate translate_;
};

}  // namespace effort::engine
