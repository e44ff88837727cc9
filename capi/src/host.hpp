// What the host has told about its rebalancing.
#pragma once

#include "errors.hpp"

namespace effort::capi {

/// Read and written by one thread at a time: the calls that touch it are the host's stepping thread's.
struct Host {
  effort_rebalance_fn callback = nullptr;
  void* user = nullptr;
  bool in_callback = false;
  bool rebalancing = false;  ///< between effort_rebalance_begin and _end
};
inline Host host;

inline effort_status not_from_callback(const char* function) {
  return fail(Status::callback, std::string(function) + " cannot be called from within a rebalance callback: return from it first");
}

}  // namespace effort::capi
