// The communication of all ranks as arrays: the input of all analyses in this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace effort::communication {

/// The kind of a call.
enum class Operation : std::uint8_t {
  other,          ///< an MPI call that moves no data and waits for none, such as MPI_Comm_rank
  user,           ///< a function or region of the program
  send,           ///< blocking
  send_start,     ///< MPI_Isend, MPI_Start of a send
  receive,        ///< blocking
  receive_start,  ///< MPI_Irecv, MPI_Start of a receive
  send_receive,   ///< MPI_Sendrecv
  wait,           ///< completes one request, or tests whether one is complete
  wait_all,       ///< completes several: the distinctive event of Alawneh & Hamou-Lhadj 2022, section 4.1.1
  barrier,        ///< no rank leaves before the last has entered
  nxn,            ///< each rank needs data from all others: allreduce, allgather, alltoall, ...
  from_root,      ///< broadcast and scatter: the others need data from the root
  to_root,        ///< reduce and gather: the root needs data from the others
  scan,           ///< a rank needs data from the ranks before it
  neighbour,      ///< a neighbourhood collective
  one_sided,
};

/// Whether all ranks of a communicator take part.
constexpr bool is_collective(Operation operation) {
  return operation >= Operation::barrier && operation <= Operation::neighbour;
}

/// Stands for "nothing" instead of an index into one of the arrays.
inline constexpr std::uint32_t none = ~std::uint32_t{0};

/// A call of a function or region, from begin to end.
struct Call {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t region = 0;     ///< index in Record::regions
  std::uint32_t parent = none;  ///< the call around it: index in Record::calls, always a smaller one
  Operation operation = Operation::user;
  bool begins = true, ends = true;  ///< false: it began before, or ended after, the part of the trace that was kept
};

/// A thread of a rank.  Its calls are ordered by start, so a call comes before those inside it.
struct Location {
  std::int32_t rank = 0, thread = 0;
  std::size_t first_call = 0, end_call = 0;  ///< Record::calls [first_call, end_call)
};

/// A message with both ends known.  A blocking send or receive is started and completed by the same call.
struct Message {
  std::int32_t sender = 0, receiver = 0, tag = 0;
  std::uint32_t communicator = 0;
  std::uint64_t bytes = 0;
  std::uint32_t send_start = none, send_done = none;        ///< calls; send_done none: it was never waited for
  std::uint32_t receive_start = none, receive_done = none;  ///< calls: MPI_Irecv and MPI_Waitall, or MPI_Recv for both
  std::uint32_t probe = none;                               ///< MPI_Probe or MPI_Mprobe before its receive
};

/// A rank's part in a collective.
struct Participation {
  std::int32_t rank = 0;
  std::uint32_t start = none, done = none;  ///< calls; the same one unless it is non-blocking
  std::uint64_t sent = 0, received = 0;     ///< bytes
  std::uint8_t group = 0;                   ///< which of an intercommunicator's two groups
};

/// One collective: the calls of all ranks that take part in it.
struct Collective {
  Operation operation = Operation::nxn;
  std::uint32_t communicator = 0;
  std::int32_t root = -1;          ///< rank in MPI_COMM_WORLD, -1 none or not known
  std::size_t first = 0, end = 0;  ///< Record::participations [first, end), in the communicator's order
  bool complete = true;            ///< whether all members of the communicator are there
  bool inter = false;              ///< of an intercommunicator: a rank needs data from the other group
};

/// A part of the run without a gap: a window that was kept.  A trace of another tool is one span.
struct Span {
  std::int64_t first_step = 0, last_step = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t stamp_error_ns =
      0;  ///< bound on the error of most time stamps, if they were replaced by those of similar steps
};

/// The start of a step on a rank.
struct Step {
  std::int32_t rank = 0;
  std::int64_t number = 0;
  std::int64_t begin_ns = 0;
};

/// A rank enters a phase of the run, such as start-up or a solver's stage.
struct PhaseStart {
  std::int32_t rank = 0;
  std::uint32_t phase = 0;
  std::int64_t begin_ns = 0;
};

/// The trace of a run, or the part that was kept.  Times are on one clock, as precisely as it is known.
struct Record {
  std::int32_t n_ranks = 0;
  std::vector<std::int32_t> node_of;  ///< [n_ranks], -1 unknown
  std::vector<std::string> regions;   ///< names of functions and regions; "MPI_Send" for one of MPI's, or
                                      ///< "MPI_Send [...]" if calls are distinguished by call path
  std::vector<Location> locations;    ///< by rank, then thread; none for ranks without kept data
  std::vector<Call> calls;
  std::vector<Message> messages;        ///< ordered by the start of their sends
  std::vector<Collective> collectives;  ///< ordered by the start of their first call
  std::vector<Participation> participations;
  std::vector<Span> spans;          ///< ordered by time
  std::vector<Step> steps;          ///< by rank, then time; none if the trace has no steps
  std::vector<PhaseStart> phases;   ///< by rank, then time
  std::int64_t clock_error_ns = 0;  ///< bound on the error between the clocks of two ranks
  double stamp_error = 0;           ///< bound on the error of a call's begin and end, relative to its duration
  std::uint64_t unmatched_sends = 0, unmatched_receives = 0;  ///< ends whose other end is missing
};

}  // namespace effort::communication
