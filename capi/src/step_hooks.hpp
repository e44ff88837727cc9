// Hooks that an adapter runs around each progress step.
#pragma once

#include "runtime/session/adapter_port.hpp"

namespace effort::capi {

/// Set once, before the first step; read by the stepping thread.
inline session::AdapterPort::StepHooks step_hooks;

/// Runs the hooks around a progress step.
class StepScope {
 public:
  StepScope() {
    if (step_hooks.before) step_hooks.before();
  }
  ~StepScope() {
    if (step_hooks.after) step_hooks.after();
  }
  StepScope(const StepScope&) = delete;
  StepScope& operator=(const StepScope&) = delete;
};

}  // namespace effort::capi
