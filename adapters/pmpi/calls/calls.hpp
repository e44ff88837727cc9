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
  sync,    ///< collective that leaves no rank before all have come
  rooted,  ///< collective that some ranks may leave early
  free,    ///< frees a communicator
  other,   ///< may block; nothing else to know
  // The other calls only start an operation: no region of computation ends there.
  put,
  isend,
  ireceive,
  persistent_send,
  persistent_receive,
  start_persistent,
  start,
  quiet  ///< a local call, which is measured only if messages are recorded
};
constexpr bool can_split(Role role) { return role < Role::put; }

enum class Call : std::uint16_t {
#define EFFORT_MPI_CALL(Name, name, kind, role, comm, n, parameters, arguments) Name,
#include "calls.inc"
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
#include "calls.inc"
#undef EFFORT_MPI_CALL
    {"MPI_Init", measure::Kind::comm, Role::other, -1},
    {"MPI_Finalize", measure::Kind::comm, Role::other, -1},
    {"MPI_Pcontrol", measure::Kind::comm, Role::other, -1},
};
constexpr const CallInfo& info(Call call) { return call_table[static_cast<std::size_t>(call)]; }

}  // namespace effort::pmpi
