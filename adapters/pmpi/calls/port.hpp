// The adapter's access to the library.
#pragma once

#include "runtime/session/adapter_port.hpp"

namespace effort::pmpi {

/// Valid only after begin() has found it (session.cpp).
inline session::AdapterPort& port() { return *session::adapter_port(); }

}  // namespace effort::pmpi
