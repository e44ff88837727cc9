// Records when this rank arrives at collectives, only if COMM_WAITS asks for it.
#pragma once

#include "adapters/pmpi/calls/arguments.hpp"
#include "adapters/pmpi/messages/call_messages.hpp"
#include "adapters/pmpi/messages/message_call.hpp"
#include "analytics/communication/arrival.hpp"
#include "runtime/measure/frame.hpp"

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace effort::pmpi {

#pragma GCC visibility push(hidden)
/// Whether arrivals are noted.
extern bool arrivals_on;
#pragma GCC visibility pop

/// Which ranks must have arrived before others can leave.
enum class Meeting : std::uint8_t {
  none,       ///< ranks may leave independently, or it is unknown
  all,        ///< no rank leaves before all have arrived
  from_root,  ///< no rank leaves before the root has arrived
  to_root,    ///< the root does not leave before all have arrived
  scan        ///< no rank leaves before those with lower numbers have arrived
};
/// MPI_Alltoallv, MPI_Alltoallw and the collectives of neighbourhoods are not evaluated: who waits for whom depends on
/// the counts, or on the topology.
constexpr Meeting meeting(Call call) {
  switch (plain(call)) {
    case Call::Barrier:
    case Call::Allreduce:
    case Call::Allgather:
    case Call::Allgatherv:
    case Call::Alltoall:
    case Call::Reduce_scatter:
    case Call::Reduce_scatter_block: return Meeting::all;
    case Call::Bcast:
    case Call::Scatter:
    case Call::Scatterv: return Meeting::from_root;
    case Call::Gather:
    case Call::Gatherv:
    case Call::Reduce: return Meeting::to_root;
    case Call::Scan:
    case Call::Exscan: return Meeting::scan;
    default: return Meeting::none;
  }
}

/// After MPI_Init, and when another session has begun.
void begin_arrivals();
/// Before a step ends: reports the arrivals since the last one.
void arrivals_step();

/// The arrivals at a communicator's collectives since the last step.
struct ArrivalLog {
  std::uint64_t first = 0, next = 0;  ///< ordinals: of the step's first instance, and of the next one
  std::uint64_t inside = 0;           ///< ticks
  int level = 0;
  int me = 0, size = 0;     ///< rank in the communicator; ranks
  std::uint32_t id = 0;     ///< of the communicator in this rank's records
  std::uint32_t noted = 0;  ///< of `words`
  bool freed = false;       ///< the communicator
  std::vector<std::uint64_t> words;
};

#pragma GCC visibility push(hidden)
/// The log that was written last; only without MPI_THREAD_MULTIPLE.
struct LastLog {
  Word handle = 0;  ///< as the host gave it; in Fortran the integer
  bool fortran = false;
  ArrivalLog* log = nullptr;  ///< null: none
};
extern LastLog last_log;
#pragma GCC visibility pop

void note_arrival_carefully(Meeting meeting, MPI_Comm comm, Word handle, bool fortran, int root, std::uint64_t entered,
                            std::uint64_t left) noexcept;
/// Makes room for one more arrival: allocates memory or, if that fails or the log is at its limit, keeps a sample of
/// about half of the arrivals.  Returns false if no memory could be allocated at all.
bool make_room(ArrivalLog& log) noexcept;
/// Follow communicators; not needed if messages are recorded, because that follows them too.
void arrivals_saw_new(Call call, const Arguments& arguments) noexcept;
void arrivals_before_free(MPI_Comm comm) noexcept;

/// Place of the root among the arguments: before the communicator.
constexpr int root_place(Call call) { return info(call).comm - 1; }

inline std::uint8_t part_of(Meeting meeting, bool root) {
  using communication::gives, communication::scans, communication::waits;
  switch (meeting) {
    case Meeting::from_root: return root ? gives : waits;
    case Meeting::to_root: return root ? waits : gives;
    case Meeting::scan: return gives | waits | scans;
    default: return gives | waits;
  }
}

/// Adds an arrival to a log.
inline void note_in(ArrivalLog& log, Meeting meeting, int root, std::uint64_t entered, std::uint64_t left) {
  const std::uint64_t ordinal = log.next++;
  log.inside += left - entered;
  if (__builtin_expect(log.level > 0, 0) && !communication::in_sample(ordinal, log.level)) return;
  if (__builtin_expect(log.noted == log.words.size(), 0)) {
    if (!make_room(log)) return;
    if (!communication::in_sample(ordinal, log.level)) return;
  }
  log.words[log.noted++] = measure::arrival_word(entered, part_of(meeting, root == log.me));
}

/// After a collective that was called directly by the host.
/// @param entered, left  the slots' clock
template <Call call, bool fortran, typename... T>
__attribute__((always_inline)) inline void note_arrival(std::uint64_t entered, std::uint64_t left, T... arguments) {
  if constexpr (meeting(call) != Meeting::none) {
    if (__builtin_expect(!arrivals_on, 1)) return;
    const auto given = words(arguments...);
    const Arguments a{given.data(), fortran, false};
    constexpr bool rooted = meeting(call) == Meeting::from_root || meeting(call) == Meeting::to_root;
    const int root = rooted ? a.integer(root_place(call)) : 0;
    const Word word = given[static_cast<std::size_t>(info(call).comm)];
    const Word handle = fortran ? static_cast<Word>(*from_word<const MPI_Fint*>(word)) : word;
    if (__builtin_expect(last_log.handle == handle && last_log.fortran == fortran && last_log.log, 1))
      note_in(*last_log.log, meeting(call), root, entered, left);
    else
      note_arrival_carefully(meeting(call), a.communicator(info(call).comm), handle, fortran, root, entered, left);
  } else if constexpr (new_communicator_place(call) >= 0) {
    if (__builtin_expect(!arrivals_on, 1)) return;
    const auto given = words(arguments...);
    arrivals_saw_new(call, {given.data(), fortran, false});
  }
}

/// Before a call.
template <Call call, bool fortran, typename... T>
__attribute__((always_inline)) inline void note_before([[maybe_unused]] T... arguments) {
  if constexpr (info(call).role == Role::free)
    if (__builtin_expect(arrivals_on, 0)) {
      const auto given = words(arguments...);
      arrivals_before_free(pointed_at({given.data(), fortran, false}, 0));
    }
}

}  // namespace effort::pmpi
