// What is the same for all wrappers around the call.
#pragma once

#include "adapters/pmpi/arguments.hpp"
#include "adapters/pmpi/passage.hpp"
#include "adapters/pmpi/steps.hpp"
#include "adapters/pmpi/traffic.hpp"

namespace effort::pmpi {

/// The one of a call's arguments that stands at a place, as a word.
template <int place, typename... T>
inline Word argument(T... arguments) {
  if constexpr (place >= 0)
    return words(arguments...)[place];
  else
    return 0;
}

/// Whether a poll found nothing.
template <Call call, typename... T>
inline bool in_vain(T... arguments) {
  if constexpr (info(call).role == Role::poll) return *from_word<const int*>(argument<flag_place(call)>(arguments...)) == 0;
  return false;
}

/// After a call that was left: what steps and freed communicators have to know.
/// @param comm  the call's communicator; in Fortran its address
template <Call call, typename Way>
inline void after(const Way& passage, Word comm, bool fortran) {
  constexpr CallInfo what = info(call);
  [[maybe_unused]] const auto communicator = [&] { return what.comm >= 0 ? Arguments{&comm, fortran}.communicator(0) : MPI_COMM_NULL; };
  if constexpr (can_split(what.role))
    if (steps_watch && passage.seen()) {
      if ((what.role == Role::sync || what.role == Role::rooted) && step_call == Call::count) saw_collective(passage.thread(), passage.site(), communicator());
      if (step_call == call) saw_step_call(passage.thread(), passage.site(), communicator());
    }
  if constexpr (what.role == Role::free) {
    forget_communicators();
    if (traffic_on) forget_traffic_communicators();
  }
}

/// One intercepted call: `next` makes it, with `arguments`.  They are kept beyond it only for the communication matrix.
/// Inlined into its wrapper, whose return address and frame these are.
template <Call call, bool fortran, typename Next, typename... T>
__attribute__((always_inline)) inline auto through(const Next& next, const void* return_address, const void* cfa, T... arguments) {
  const Word comm = argument<info(call).comm>(arguments...);
  if (__builtin_expect(traffic_on, 0)) {
    constexpr Role role = info(call).role;
    Passage<call, false> passage(return_address, cfa);
    const auto given = words(arguments...);
    const Arguments looked_at{given.data(), fortran};
    if constexpr (role == Role::complete || role == Role::poll) before_completion(call, looked_at);
    const auto code = next(arguments...);
    passage.done(in_vain<call>(arguments...));
    if (passage.seen()) saw_traffic(call, looked_at, static_cast<std::uint32_t>(passage.site().region), seconds_in_call(passage.thread()));
    after<call>(passage, comm, fortran);
    return code;
  }
  Passage<call> passage(return_address, cfa);
  const auto code = next(arguments...);
  passage.done(in_vain<call>(arguments...));
  after<call>(passage, comm, fortran);
  return code;
}

}  // namespace effort::pmpi
