// What threads sent, received and took part in, in groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication {

/// One end of a message, or a part in a collective.  It lasts from the begin of the call that starts it to the end of
/// the call that completes it.
struct Event {
  enum class Kind : std::uint8_t { send, receive, collective };

  Kind kind = Kind::send;
  std::int32_t rank = 0;
  std::int32_t peer = 0;                    ///< rank of the other end; a collective's root, -1 none or not known
  std::uint32_t collective = none;          ///< which collective is called: a number for each of MPI's names
  std::uint32_t of = 0;                     ///< index in Record::messages or Record::collectives
  std::uint32_t start = none, done = none;  ///< calls; `start` is always one
  std::uint32_t context = none;             ///< the call of a function or region of the program around `start`
  std::uint64_t bytes = 0;                  ///< sent
};

/// The events of all threads, one thread after the other, in the order of their begins; a send comes before a receive
/// of the same call.
struct Events {
  std::vector<Event> events;
  std::vector<std::size_t> first_of_thread;  ///< [threads + 1]
  std::vector<std::size_t> first_of_group;   ///< [groups + 1] in the same order; no group has events of two threads
  std::uint64_t left_out = 0;                ///< ends of messages and parts in collectives without a usable call
};

/// Collects the events of a record and bounds groups of them by the distinctive events of Alawneh & Hamou-Lhadj 2022,
/// section 4.1.1: functions and regions of the program, and `MPI_Waitall`.
///
/// A group's events have the same innermost call of a function around them, and no `MPI_Waitall` and no gap of the
/// trace between them.  Other functions that were called in between do not end it.  A call around all events of a
/// thread, such as `main`, bounds nothing.  Outside of functions, and so in all of a trace without functions, each call
/// that may wait (blocking sends and receives, all waits, blocking collectives) ends a group.
///
/// Messages of which one end cannot be used (its call or rank does not exist) are left out and counted, both ends; so
/// are such parts in collectives.  Cost: O(calls + events).
Events collect_events(const Record& record);

/// When an event began and was complete, in ns of the record's clock.
std::int64_t begin_of(const Record& record, const Event& event);
std::int64_t end_of(const Record& record, const Event& event);

}  // namespace effort::communication
