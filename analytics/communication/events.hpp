// The messages and collectives of threads, in groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication {

/// One end of a message, or a part in a collective.  It lasts from the start of the call that begins it to the end of
/// the call that completes it.
struct Event {
  enum class Kind : std::uint8_t { send, receive, collective };

  Kind kind = Kind::send;
  std::int32_t rank = 0;
  std::int32_t peer = 0;                    ///< rank of the other end; a collective's root, -1 none or not known
  std::uint32_t collective = none;          ///< kind of collective: one number for each MPI name
  std::uint32_t of = 0;                     ///< index in Record::messages or Record::collectives
  std::uint32_t start = none, done = none;  ///< calls; `start` is never none
  std::uint32_t context = none;             ///< the call of a function or region of the program around `start`
  std::uint64_t bytes = 0;                  ///< sent
};

/// The events of all threads, one thread after the other, ordered by start; a send comes before a receive of the same
/// call.
struct Events {
  std::vector<Event> events;
  std::vector<std::size_t> first_of_thread;  ///< [threads + 1]
  std::vector<std::size_t> first_of_group;   ///< [groups + 1] in the same order; a group has events of one thread only
  std::uint64_t left_out = 0;                ///< ends of messages and parts in collectives without a usable call
};

/// Collects the events of a record and divides them into groups at the distinctive events of Alawneh & Hamou-Lhadj
/// 2022, section 4.1.1: functions and regions of the program, and `MPI_Waitall`.
///
/// The events of a group are in the same innermost call of a function, with no `MPI_Waitall` and no gap of the trace
/// between them.  Other functions called in between do not end a group.  A call around all events of a thread, such as
/// `main`, is ignored.  Outside functions, and therefore everywhere in a trace without functions, each call that may
/// wait (blocking sends and receives, all waits, blocking collectives) ends a group.
///
/// If one end of a message cannot be used (its call or rank does not exist), both ends are left out and counted.  The
/// same holds for such parts in collectives.  Cost: O(calls + events).
Events collect_events(const Record& record);

/// Start and completion of an event, in ns of the record's clock.
std::int64_t begin_of(const Record& record, const Event& event);
std::int64_t end_of(const Record& record, const Event& event);

}  // namespace effort::communication
