// The intercepted calls as data.
#pragma once

#include "runtime/measure/registry.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace effort::pmpi {

/// The effects of a call that matter here.
enum class Role : std::uint8_t {
  send,
  receive,
  exchange,  ///< blocking, to or from a rank
  complete,
  poll,    ///< waits for requests; asks once
  sync,    ///< collective that no rank leaves before all have entered
  rooted,  ///< collective that some ranks may leave early
  free,    ///< frees a communicator
  other,   ///< may block; no other effect
  // The other calls only start an operation: no region of computation ends there.
  put,  ///< reads or writes the memory of another rank
  isend,
  ireceive,
  iexchange,  ///< starts both under one request
  persistent_send,
  persistent_receive,
  persistent_collective,
  start_persistent,
  start,
  quiet  ///< a local call, which is measured only if messages are recorded
};
constexpr bool can_split(Role role) { return role < Role::put; }

/// Includes calls that this MPI lacks.
#define EFFORT_ALL_CALLS
enum class Call : std::uint16_t {
#define EFFORT_MPI_CALL(Name, name, kind, role, comm, n, parameters, arguments) Name,
#include "adapters/pmpi/calls/calls.inc"
#include "adapters/pmpi/calls/large_calls.inc"
#undef EFFORT_MPI_CALL
  Init,
  Finalize,
  Pcontrol,
  count
};

struct CallInfo {
  std::string_view name;
  measure::Kind kind;
  Role role;
  int comm;  ///< place of the communicator among the C arguments; -1: none
};

inline constexpr CallInfo call_table[] = {
#define EFFORT_MPI_CALL(Name, name, kind, role, comm, n, parameters, arguments) \
  {"MPI_" #Name, measure::Kind::kind, Role::role, comm},
#include "adapters/pmpi/calls/calls.inc"
#include "adapters/pmpi/calls/large_calls.inc"
#undef EFFORT_MPI_CALL
    {"MPI_Init", measure::Kind::comm, Role::other, -1},
    {"MPI_Finalize", measure::Kind::comm, Role::other, -1},
    {"MPI_Pcontrol", measure::Kind::comm, Role::other, -1},
};
constexpr const CallInfo& info(Call call) { return call_table[static_cast<std::size_t>(call)]; }

/// The call without "_c", whose arguments differ only in the size of counts.
constexpr Call plain(Call call) {
  switch (call) {
#define EFFORT_MPI_UNCOUNTED(Name, name, kind, role, comm, n, parameters, arguments)
#define EFFORT_MPI_COUNTED(Name, name, kind, role, comm, n, parameters, arguments) \
  case Call::Name##_c:                                                             \
    return Call::Name;
#include "adapters/pmpi/calls/collectives.inc"
#include "adapters/pmpi/calls/other_calls.inc"
#include "adapters/pmpi/calls/point_to_point.inc"
#include "adapters/pmpi/calls/since_mpi4.inc"
#undef EFFORT_MPI_UNCOUNTED
#undef EFFORT_MPI_COUNTED
    default: return call;
  }
}
#undef EFFORT_ALL_CALLS
constexpr bool is_partitioned(Call call) { return call == Call::Psend_init || call == Call::Precv_init; }
/// Whether counts are of the type MPI_Count.
constexpr bool has_large_counts(Call call) { return plain(call) != call || is_partitioned(call); }

}  // namespace effort::pmpi
