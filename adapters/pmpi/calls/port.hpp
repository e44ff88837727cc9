// The adapter's access to the library.
#pragma once

#include "runtime/session/adapter_port.hpp"

#include <exception>

namespace effort::pmpi {

/// Valid only after begin() has found it (session.cpp).
inline session::AdapterPort& port() { return *session::adapter_port(); }

/// Adds the note that `text` returns.  The note is dropped if memory runs out.
template <typename Text>
void note(const Text& text) noexcept {
  try {
    port().note(text());
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace effort::pmpi
