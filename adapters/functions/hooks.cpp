// libeffort_functions: records every call and return of functions compiled with -finstrument-functions (GCC, Clang,
// gfortran).  Link or preload it: the C library has hooks of the same names that do nothing.  The guide is
// docs/calls.md.
#include <pthread.h>

#include "adapters/functions/process.hpp"
#include "adapters/functions/thread.hpp"

namespace effort::functions {

namespace {

#define EFFORT_INITIAL_EXEC __attribute__((tls_model("initial-exec")))

EFFORT_INITIAL_EXEC thread_local Thread* mine = nullptr;
/// In make_mine(), or after the thread's end.
EFFORT_INITIAL_EXEC thread_local bool closed = false;

pthread_key_t key;
bool has_key = false;

/// Other destructors of the thread may still make calls, which are not recorded.
void end_thread(void* thread) {
  closed = true;
  mine = nullptr;
  Thread::destroy(static_cast<Thread*>(thread));
}

/// The calling thread's first call.
Thread* make_mine() {
  if (closed) return nullptr;
  closed = true;
  const ErrorNumber kept;
  Thread* thread = nullptr;
  if (process.start()) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ::pthread_once(&once, [] { has_key = ::pthread_key_create(&key, end_thread) == 0; });
    thread = Thread::make();
    if (thread) {
      mine = thread;
      if (has_key) ::pthread_setspecific(key, thread);
    }
  }
  closed = thread == nullptr;
  return thread;
}

/// The thread at its first call, or at the first one of a child of fork().
[[gnu::noinline]] Thread* new_thread() { return mine ? mine : make_mine(); }

/// The calling thread; null if it is not to be recorded.
inline Thread* calling_thread() {
  const State state = process.state();
  if (state == State::off) return nullptr;
  Thread* const thread = mine;
  return thread && state == State::on ? thread : new_thread();
}

/// Runs an action of the thread, which no signal handler's call interrupts.
template <typename Action>
inline void act(Thread& thread, const Action& action) {
  thread.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  action();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.busy = false;
}

}  // namespace

void forget_parent() {
  if (mine) mine->restart();
}

}  // namespace effort::functions

using namespace effort::functions;

#define EFFORT_HOOK extern "C" __attribute__((visibility("default"), no_instrument_function, noinline))

EFFORT_HOOK void __cyg_profile_func_enter(void* function, void* site) {
  Thread* const thread = calling_thread();
  if (!thread) return;
  if (thread->busy) [[unlikely]]
    return thread->count_skipped();
  const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa());
  act(*thread, [&] {
    thread->enter(reinterpret_cast<std::uintptr_t>(function), reinterpret_cast<std::uintptr_t>(site), stack);
  });
}

EFFORT_HOOK void __cyg_profile_func_exit(void* function, void*) {
  Thread* const thread = calling_thread();
  if (!thread) return;
  const auto address = reinterpret_cast<std::uintptr_t>(function),
             stack = reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa());
  if (thread->busy) [[unlikely]]
    return;
  act(*thread, [&] { thread->leave(address, stack); });
}
