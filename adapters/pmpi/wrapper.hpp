// The common part of all wrappers.
#pragma once

#include "adapters/pmpi/calls/arguments.hpp"
#include "adapters/pmpi/calls/port.hpp"
#include "adapters/pmpi/messages/arrivals.hpp"
#include "adapters/pmpi/messages/message_arguments.hpp"
#include "adapters/pmpi/messages/message_call.hpp"
#include "adapters/pmpi/messages/messages.hpp"
#include "adapters/pmpi/messages/traffic.hpp"
#include "adapters/pmpi/passage.hpp"
#include "adapters/pmpi/recorded_path.hpp"
#include "adapters/pmpi/steps.hpp"

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace effort::pmpi {

/// The argument at a position, as a word.
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
  if constexpr (info(call).role == Role::poll)
    return *from_word<const int*>(argument<flag_place(call)>(arguments...)) == 0;
  return false;
}

/// After a call that is not inside another: informs the search for steps, also of freed communicators.
/// @param site  null if the call was not measured
/// @param comm  the call's communicator; in Fortran its address
template <Call call>
inline void after(Thread& thread, const Site* site, Word comm, bool fortran) {
  constexpr CallInfo what = info(call);
  [[maybe_unused]] const auto communicator = [&] {
    return what.comm >= 0 ? Arguments{&comm, fortran, false}.communicator(0) : MPI_COMM_NULL;
  };
  if constexpr (can_split(what.role))
    if (__builtin_expect(steps_watch, 0)) {
      if ((what.role == Role::sync || what.role == Role::rooted) && step_call == Call::count)
        saw_collective(thread, site, what.role, communicator());
      if (step_call == call) saw_step_call(thread, site, communicator());
    }
  if constexpr (what.role == Role::free) {
    forget_communicators();
  }
}

/// Makes the call with another argument at one place, if that is >= 0.
template <int place, typename Next, typename... T>
inline auto call_with(const Next& next, [[maybe_unused]] const Word* given, T... arguments) {
  if constexpr (place < 0) {
    return next(arguments...);
  } else {
    int at = 0;
    const auto chosen = [&]<typename A>(A argument) {
      const int i = at++;
      return i == place ? from_word<A>(given[i]) : argument;
    };
    const std::tuple<T...> all{chosen(arguments)...};  // in braces, from left to right
    return std::apply(next, all);
  }
}

/// Makes the call with arguments given as words.
template <typename... T, typename Next>
inline auto call_given(const Next& next, const std::array<Word, sizeof...(T)>& given) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) { return next(from_word<T>(given[i])...); }
  (std::index_sequence_for<T...>());
}

constexpr std::size_t comm_place(Call call) {
  return info(call).comm < 0 ? 0 : static_cast<std::size_t>(info(call).comm);
}

/// Whether a poll found nothing.
template <Call call>
inline bool found_nothing(const Word* given) {
  if constexpr (info(call).role == Role::poll) return *from_word<const int*>(given[flag_place(call)]) == 0;
  return false;
}

/// The code that a call has returned.  In Fortran, the last argument points to it, unless it is null.
inline int error_of(int code, Word) { return code; }
inline int error_of(std::nullptr_t, Word last) {
  const auto* const code = from_word<const MPI_Fint*>(last);
  return code ? *code : MPI_SUCCESS;
}

/// A call's messages, before and after it.  Out of line, and the same for C and Fortran, so that the library stays
/// small.
template <Call call>
__attribute__((noinline)) void before_messages(MessageCall& messages, Word* given, bool fortran,
                                               measure::ThreadSlot& slot, effort_region_id region, bool begun) {
  const measure::Busy way(slot);
  messages.before<call>(given, fortran, slot, region, begun);
}
template <Call call>
__attribute__((noinline)) void after_messages(MessageCall& messages, measure::ThreadSlot& slot, int error,
                                              std::uint64_t ticks) {
  const measure::Busy way(slot);
  messages.after<call>(error, ticks);
}

/// A wrapper's careful half: a function of the same type, out of line.  Not marked as cold, because the compiler would
/// then optimise its callees for size, including the recorded path.
#define EFFORT_CAREFULLY static __attribute__((noinline))

/// What follows a call on the careful path.
template <Call call, bool fortran, typename... T>
__attribute__((always_inline)) inline void pass_out(Passage& passage, std::uint64_t entered, std::uint64_t left,
                                                    T... arguments) {
  if (!passage.outermost()) return;
  note_arrival<call, fortran>(entered, left, arguments...);
  after<call>(passage.thread(), passage.site_or_null(), argument<info(call).comm>(arguments...), fortran);
}

/// The rest of a call on the careful path whose messages are followed.
template <Call call, bool fortran, typename Next, typename... T>
__attribute__((noinline)) auto through_followed(Passage& passage, Next next, T... arguments) {
  auto given = words(arguments...);
  MessageCall* const messages = message_call(passage.thread());
  measure::ThreadSlot* const slot = measure::this_thread_slot();
  bool begun = false;
  if (messages) {
    begun = passage.thread().begun && measure::is_timed(*slot);
    before_messages<call>(*messages, given.data(), fortran, *slot, passage.site().region, begun);
  }
  const bool reads_clock = (meeting(call) != Meeting::none && arrivals_on) || (traffic_on && !begun);
  const std::uint64_t entered = reads_clock ? port().ticks() : 0;
  const auto code = call_with<status_place(call)>(next, given.data(), arguments...);
  const std::uint64_t left = reads_clock ? port().ticks() : 0;
  passage.done(in_vain<call>(arguments...));
  if (messages)
    after_messages<call>(*messages, *slot, error_of(code, given.back()),
                         begun ? ticks_in_call(passage.thread(), *slot) : left - entered);
  pass_out<call, fortran>(passage, entered, left, arguments...);
  return code;
}

/// An intercepted call on the careful path, inside a wrapper's careful half.  `caller` describes the place of the
/// host's call.
template <Call call, bool fortran, typename Next, typename... T>
__attribute__((noinline)) auto through_carefully(Next next, T... arguments) {
  if (!armed || !has_thread()) {
    if (this_thread) this_thread->left = 0;  // the time of an unseen call must not count as computation
    if (armed) arrivals_on = false;          // a missed collective would shift the numbers of all later ones
    return next(arguments...);
  }
  if constexpr (info(call).role == Role::quiet)
    if (!messages_on) return next(arguments...);
  Passage passage(call, caller.return_address, caller.cfa);
  if (passage.outermost()) note_before<call, fortran>(arguments...);
  if (__builtin_expect(messages_on, 0) && passage.seen())
    return through_followed<call, fortran>(passage, next, arguments...);
  const bool reads_clock = meeting(call) != Meeting::none && arrivals_on;
  const std::uint64_t entered = reads_clock ? port().ticks() : 0;
  const auto code = next(arguments...);
  const std::uint64_t left = reads_clock ? port().ticks() : 0;
  passage.done(in_vain<call>(arguments...));
  pass_out<call, fortran>(passage, entered, left, arguments...);
  return code;
}

/// Leaves a call that was entered on the short path.
template <Call call>
__attribute__((always_inline)) inline void leave_short(Thread& thread, measure::ThreadSlot& slot, Site& site, bool vain,
                                                       std::uint64_t left) {
  if (__builtin_expect(!ShortPath<call>::leave(thread, slot, site, vain, left), 0))
    leave_carefully(thread, &site, true, vain);
  else if (__builtin_expect(steps_watch, 0) && steps_want_cpu_time)
    thread.start_computation(site);
}

/// As through_carefully(), for a thread that records its events, is outside all regions, and has nothing else to do.
/// The clock is read twice for times and records together.
template <Call call, bool fortran, typename Next, typename... T>
__attribute__((noinline, hot)) auto through_recorded(Next next, T... arguments) {
  constexpr bool reads_first = can_split(info(call).role);
  Thread* const thread = this_thread;
  measure::ThreadSlot* const slot = measure::this_thread_slot();
  Site* site = nullptr;
  if (thread && slot && thread->message_call)
    site = enter_recorded(*thread, *slot, call, caller, reads_first ? thread->entered : measure::tsc());
  if (__builtin_expect(!site, 0)) return through_carefully<call, fortran>(next, arguments...);
  note_before<call, fortran>(arguments...);
  auto given = words(arguments...);
  MessageCall& messages = *thread->message_call;
  messages.before<call>(given.data(), fortran, *slot, site->region, true);
  slot->gate.open();
  const auto code = call_given<T...>(next, given);
  const std::uint64_t left = measure::tsc();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool vain = found_nothing<call>(given.data());
  if (__builtin_expect(leave_recorded(*thread, *slot, *site, vain, left), 1)) {
    messages.after<call>(error_of(code, given.back()), left - thread->entered);
    if (messages.completions() > 0) disown_completions(*thread, *slot, messages.completions(), left);
    slot->gate.open();
  } else {
    leave_carefully(*thread, site, true, vain);
    const measure::Busy way(*slot);
    messages.after<call>(error_of(code, given.back()), left - thread->entered);
  }
  note_arrival<call, fortran>(thread->entered, left, arguments...);
  after<call>(*thread, site, info(call).comm >= 0 ? given[comm_place(call)] : 0, fortran);
  return code;
}

/// The short path after its entry has succeeded, for a thread whose messages are counted.
template <Call call, bool fortran, typename Next, typename... T>
__attribute__((noinline)) auto through_counted(Next next, Thread& thread, measure::ThreadSlot& slot, Site& site,
                                               std::uint64_t entered, T... arguments) {
  note_before<call, fortran>(arguments...);
  auto given = words(arguments...);
  MessageCall* const messages = message_call(thread);
  if (messages) before_messages<call>(*messages, given.data(), fortran, slot, site.region, true);
  const auto code = call_given<T...>(next, given);
  const std::uint64_t left = measure::tsc();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  leave_short<call>(thread, slot, site, found_nothing<call>(given.data()), left);
  if (messages) after_messages<call>(*messages, slot, error_of(code, given.back()), left - entered);
  note_arrival<call, fortran>(entered, left, arguments...);
  after<call>(thread, &site, info(call).comm >= 0 ? given[comm_place(call)] : 0, fortran);
  return code;
}

/// The careful half of a wrapper.
template <Call call, bool fortran, typename Next, typename... T>
auto through_other_paths(Next next, T... arguments) {
  if (messages_traced && armed) return through_recorded<call, fortran>(next, arguments...);
  return through_carefully<call, fortran>(next, arguments...);
}

/// An intercepted call, which `next` makes with `arguments`.  Inlined into its wrapper, to which the return address and
/// the frame belong.
/// @param carefully  the wrapper's careful half, used if the short path is closed.  It gets the wrapper's arguments.
///                   It is called last, so that the compiler need not save them before it is decided that the call is
///                   needed.
template <Call call, bool fortran, typename Next, typename Carefully, typename... T>
__attribute__((always_inline)) inline auto through(const Next& next, const Carefully& carefully,
                                                   const void* return_address, const std::byte* cfa, T... arguments) {
  if constexpr (can_split(info(call).role)) {
    Thread* const thread = this_thread;
    if (__builtin_expect(thread != nullptr, 1)) {
      // The clock is read first, for the same reason as in advance_stamp: the lookup of the site overlaps with the way
      // into the call.
      const std::uint64_t entered = measure::tsc();
      std::atomic_signal_fence(std::memory_order_seq_cst);
      measure::ThreadSlot* const slot = measure::this_thread_slot();
      Site* const site = slot ? ShortPath<call>::enter(*thread, *slot, return_address, cfa, entered) : nullptr;
      if (__builtin_expect(site != nullptr, 1)) {
        if constexpr (acts_before(plain(call)) || acts_after(plain(call)))
          if (__builtin_expect(messages_on, 0))
            return through_counted<call, fortran>(next, *thread, *slot, *site, entered, arguments...);
        note_before<call, fortran>(arguments...);
        const auto code = next(arguments...);
        const std::uint64_t left = measure::tsc();
        std::atomic_signal_fence(std::memory_order_seq_cst);
        leave_short<call>(*thread, *slot, *site, in_vain<call>(arguments...), left);
        note_arrival<call, fortran>(entered, left, arguments...);
        after<call>(*thread, site, argument<info(call).comm>(arguments...), fortran);
        return code;
      }
    }
  }
  caller = {return_address, cfa};
  return carefully(arguments...);
}

}  // namespace effort::pmpi
