// The library as seen by adapters that measure for the host (adapters/pmpi).
#pragma once

#include "runtime/config/settings.hpp"
#include "runtime/exchange/transport.hpp"
#include "runtime/measure/frame.hpp"
#include "runtime/measure/registry.hpp"
#include "runtime/measure/thread_slot.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace effort::engine {

/// The owner of the active session.
enum class Owner {
  nobody,   ///< none, disabled, or switched off
  adapter,  ///< an adapter began it; the host may still adopt it
  host      ///< the host began or adopted it
};

/// The library behind a fixed face, so that an adapter in a shared object of its own needs one symbol.  No member
/// throws; what goes wrong is kept as the thread's last error.  Threads: any for slot, region, current_kind,
/// claim, module and note; one at a time for the others.
class AdapterPort {
 public:
  /// Called on the stepping thread around each progress step, by the host or by the adapter.
  struct StepHooks {
    void (*before)() = nullptr;
    void (*after)() = nullptr;
  };

  virtual ~AdapterPort() = default;

  /// Claims the role of the adapter that intercepts MPI; false if another copy has it.
  virtual bool claim_interception() = 0;
  /// Begins a session for the adapter unless there is one; false if it could not begin (bad settings, DISABLE).
  virtual bool begin() = 0;
  virtual Owner owner() const = 0;
  /// Of the active session; null without.
  virtual const config::Settings* settings() const = 0;

  /// Of the clock that slots count in.
  virtual double seconds_per_tick() const = 0;
  /// The calling thread's slot, ready for all regions known now; null without an active session.  Locks; allocates.
  virtual measure::ThreadSlot* slot() = 0;
  /// Id of a region; 0 if there is none (limits, no session).  A known name keeps its kind.
  virtual std::uint32_t region(const std::string& name, measure::Kind kind) = 0;
  /// Kind of the region that the slot's thread, the calling one, is in.
  virtual measure::Kind current_kind(const measure::ThreadSlot& slot) const = 0;
  /// See measure::claim.
  virtual void claim(measure::ThreadSlot& slot, std::uint32_t region) = 0;

  virtual bool attached() const = 0;
  /// Joins the ranks of `transport`; the session stays the adapter's.  Collective; false on all ranks or on none.
  virtual bool attach(std::unique_ptr<exchange::Transport> transport) = 0;
  /// Ends a step.  In a session that no host has adopted, it waits for no hint.
  virtual bool progress_step() = 0;
  virtual void phase(const char* name) = 0;
  /// Reports the rank's messages since the last call; they belong to the window of the current step.
  virtual void traffic(std::span<const measure::Flow> flows) = 0;
  /// At the start of MPI_Finalize.
  virtual void finalize() = 0;

  /// See measure::Registry.
  virtual void module(const std::string& base_name, const std::string& identity) = 0;
  virtual void note(const std::string& text) = 0;
  virtual void on_step(StepHooks hooks) = 0;
};

}  // namespace effort::engine

/// The library's port for an adapter of this build (engine::port_build()); null for one of any other, which must not
/// touch what lies behind the port.  Weak: a library that does not have it is of another build, too, and no reason for
/// the host not to start.
extern "C" __attribute__((weak, visibility("default"))) effort::engine::AdapterPort* effort_adapter_port(
    const char* build);

#ifdef EFFORT_VERSION_STRING
namespace effort::engine {

/// What an adapter and the library have in common when they fit: the version, and the layout of what both write to.
inline std::string port_build() {
  constexpr int face = 2;  ///< raised with every change of AdapterPort's members between versions
  return EFFORT_VERSION_STRING " " + std::to_string(face) + " " + std::to_string(sizeof(measure::ThreadSlot)) + " " +
         std::to_string(sizeof(config::Settings)) + " " + std::to_string(sizeof(measure::SlotFront));
}

/// For adapters: the port, or null where libeffort is of another build.
inline AdapterPort* adapter_port() {
  static AdapterPort* const port = effort_adapter_port ? effort_adapter_port(port_build().c_str()) : nullptr;
  return port;
}

}  // namespace effort::engine
#endif
