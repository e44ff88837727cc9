// What is the same for all wrappers around the call.
#pragma once

#include "adapters/pmpi/arguments.hpp"
#include "adapters/pmpi/passage.hpp"
#include "adapters/pmpi/steps.hpp"
#include "adapters/pmpi/traffic.hpp"

namespace effort::pmpi {

/// Before the call.
template <Call call>
inline void prepare(const Arguments& arguments) {
  constexpr Role role = info(call).role;
  if constexpr (role == Role::complete || role == Role::poll)
    if (__builtin_expect(traffic_on, 0)) before_completion(call, arguments);
}

/// After it.
template <Call call>
inline void finish(Passage& passage, const Arguments& arguments) {
  constexpr CallInfo what = info(call);
  bool in_vain = false;
  if constexpr (what.role == Role::poll) in_vain = *arguments.pointer<const int>(flag_place(call)) == 0;
  passage.done(in_vain);
  if (__builtin_expect(traffic_on, 0) && passage.seen())
    saw_traffic(call, arguments, static_cast<std::uint32_t>(passage.site().region), passage.seconds());
  if constexpr (what.role == Role::sync || what.role == Role::rooted)
    if (steps_watch_collectives && passage.seen()) saw_collective(passage, arguments.communicator(what.comm));
  if constexpr (can_split(what.role))
    if (__builtin_expect(step_call == call, 0) && passage.seen()) saw_step_call(passage, what.comm >= 0 ? arguments.communicator(what.comm) : MPI_COMM_NULL);
  if constexpr (what.role == Role::free) {
    forget_communicators();
    if (traffic_on) forget_traffic_communicators();
  }
}

}  // namespace effort::pmpi
