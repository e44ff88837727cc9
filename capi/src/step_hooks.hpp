// Hooks that an adapter runs around each progress step.
#pragma once

#include "runtime/session/adapter_port.hpp"

#include <exception>

namespace effort::capi {

/// Set once, before the first step; read by the stepping thread.
inline session::AdapterPort::StepHooks step_hooks;

/// Runs the hooks around a progress step, which takes place even if they fail.
class StepScope {
 public:
  StepScope() { run(step_hooks.before); }
  ~StepScope() { run(step_hooks.after); }
  StepScope(const StepScope&) = delete;
  StepScope& operator=(const StepScope&) = delete;

 private:
  static void run(void (*hook)()) {
    try {
      if (hook) hook();
    } catch (const std::exception&) {  // the adapter is out of memory
    }
  }
};

}  // namespace effort::capi
