#include "host.hpp"

#include "state.hpp"

#include <cstdint>

#include <unwind.h>

namespace effort::capi {
namespace {

/// A walk up the call stack to the frame that called the callback.
struct Walk {
  std::uintptr_t callback_frame;
  void* call_host;  ///< the start of the variant of call_host() that called it
  bool inside = false, past = false;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  Walk& walk = *static_cast<Walk*>(argument);
  const auto at = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  walk.inside = _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(at - 1)) == walk.call_host;
  // Stacks grow downwards: this frame was there before call_host's.
  walk.past = static_cast<std::uintptr_t>(_Unwind_GetCFA(context)) > walk.callback_frame;
  return walk.inside || walk.past ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/// Whether the callback was left without returning, by its thread if that is the caller or has ended.  False unless
/// certain: frames that cannot be unwound may hide the callback, and another thread may still be in it.
bool left_callback() noexcept {
  if (!pthread_equal(host.callback_thread, pthread_self())) return host.mark.set();
  Walk walk{reinterpret_cast<std::uintptr_t>(host.callback_frame), _Unwind_FindEnclosingFunction(host.callback_call)};
  _Unwind_Backtrace(visit, &walk);
  return walk.past && !walk.inside;
}

/// An address inside the function that calls it.
#ifdef __GNUC__
__attribute__((noinline))
#endif
void* here() noexcept {
  return __builtin_return_address(0);
}

}  // namespace

// Not inlined, because left_callback() looks for this function on the stack; compilers may specialize it.  A forced
// unwind has no exception object: the sanitizer would report that its handler binds a null reference.
#ifdef __GNUC__
__attribute__((noinline, no_sanitize("null")))
#endif
int call_host(int (*call)(const void* what), const void* what, LibraryScope& library) {
  struct InCallback {
    InCallback(const void* frame, void* call) {
      host.mark.set();
      host.callback_thread = pthread_self();
      host.callback_frame = frame;
      host.callback_call = call;
      host.in_callback = true;
    }
    ~InCallback() {
      host.in_callback = false;
      host.mark.clear();
    }
  } const scope(__builtin_frame_address(0), here());
  const HostScope rules(library);
  try {
    return call(what);
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind&) {  // the thread is cancelled or exits
    throw;
#endif
  } catch (...) {
    return -1;
  }
}

bool inside_callback() noexcept {
  if (!host.in_callback) return false;
  if (!left_callback()) return true;
  host.in_callback = false;
  host.mark.clear();
  in_session([](session::Session& s) -> effort_status {
    if (s.started()) s.client().callback_left();
    return EFFORT_OK;
  });
  return false;
}

}  // namespace effort::capi
