// The library, as the adapter sees it.
#pragma once

#include "runtime/engine/adapter_port.hpp"

namespace effort::pmpi {

/// Only where begin() has found it (session.cpp).
inline engine::AdapterPort& port() { return *engine::adapter_port(); }

}  // namespace effort::pmpi
