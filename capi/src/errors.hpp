// Error handling of the C API: one wrapper turns exceptions into codes, and messages are kept per thread.
#pragma once

#include "attach.hpp"
#include "runtime/host_scope.hpp"
#include "runtime/status.hpp"

#include <cxxabi.h>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace effort::capi {

/// Stores a message for effort_last_error() and returns the status as a code.  A literal is not copied.
effort_status fail(Status status, const char* literal) noexcept;
effort_status fail(Status status, const std::string& message) noexcept;

/// Runs `body`, which returns void or effort_status, and turns exceptions into codes.  The unwinding of a thread that
/// is cancelled or calls pthread_exit in the body is not stopped.  Use it only inside a scope that protects the host's
/// floating-point environment; otherwise use guarded().
template <typename Body>
#if defined(EFFORT_SANITIZED) && defined(__GNUC__)
// A forced unwind has no exception object: the sanitizer would report that its handler binds a null reference, also
// where the function is inlined.
__attribute__((noinline, no_sanitize("null")))
#endif
effort_status
guarded_amount(Body&& body) {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return EFFORT_OK;
    } else {
      return body();
    }
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind&) {
    throw;
#endif
  } catch (const Error& e) {
    return effort_fail(static_cast<effort_status>(e.status()), e.what());
  } catch (const std::bad_alloc&) {
    return effort_fail(EFFORT_ERR_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return effort_fail(EFFORT_ERR_INTERNAL, e.what());
  } catch (...) {
    return effort_fail(EFFORT_ERR_INTERNAL, "an unknown exception inside the library");
  }
}

/// As above, for any body, which may take the scope as a parameter: neither uses nor changes the host's floating-point
/// environment.
template <typename Body>
effort_status guarded(Body&& body) {
  LibraryScope scope;
  if constexpr (std::is_invocable_v<Body, LibraryScope&>)
    return guarded_amount([&] { return body(scope); });
  else
    return guarded_amount(std::forward<Body>(body));
}

}  // namespace effort::capi
