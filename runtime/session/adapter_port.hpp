// The library's interface for an adapter that measures on its own (adapters/pmpi).
#pragma once

#include "runtime/config/settings.hpp"
#include "runtime/exchange/transport.hpp"
#include "runtime/measure/frame.hpp"
#include "runtime/measure/registry.hpp"
#include "runtime/measure/thread_slot.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <string>

namespace effort::session {

/// The owner of the active session.
enum class Owner {
  nobody,   ///< none, disabled, or switched off
  adapter,  ///< an adapter began it; the host may still adopt it
  host      ///< the host began or adopted it
};

/// The library behind a fixed interface, so that an adapter in a separate shared object needs only one symbol.  No
/// member throws; failures are kept as the thread's last error.  Any thread may call ticks, slot, region, begin_region,
/// end_region, add, current_kind, claim, module, communicator and note; only one thread at a time may call the others.
class AdapterPort {
 public:
  /// Called on the stepping thread around each progress step, whether the host or the adapter ends the step.
  struct StepHooks {
    void (*before)() noexcept = nullptr;
    void (*after)() noexcept = nullptr;
  };

  virtual ~AdapterPort() = default;

  /// Claims the role of the one adapter that intercepts MPI; false if another copy has it.
  virtual bool claim_interception() = 0;
  /// Begins a session for the adapter unless one exists; false if it cannot (bad settings, DISABLE).
  virtual bool begin() = 0;
  virtual Owner owner() const = 0;
  /// The settings of the active session; null without one.
  virtual const config::Settings* settings() const = 0;

  /// The rate of the slots' clock.
  virtual double seconds_per_tick() const = 0;
  /// Reads that clock.
  virtual std::uint64_t ticks() const = 0;
  /// The calling thread's slot, prepared for all regions known now; null without an active session.  Locks; allocates.
  virtual measure::ThreadSlot* slot() = 0;
  /// Whether the limit of regions allows another one; false without a session.
  virtual bool has_room_for_region() const = 0;
  /// Id of a region; 0 if it cannot be registered (limits, memory, no session).  A known name keeps its kind.
  virtual std::uint32_t region(const std::string& name, measure::Kind kind) = 0;
  /// Begin and end a region from region(), or one that is already open (measure::innermost()).  Adapters use these
  /// because effort_begin may reject ids that the host has not obtained.  Return false outside a session, or if the
  /// calls do not nest.
  virtual bool begin_region(std::uint32_t region) = 0;
  virtual bool end_region(std::uint32_t region) = 0;
  /// As effort_add.
  virtual void add(std::uint32_t region, double seconds) = 0;
  /// Kind of the innermost region of the calling thread, which owns the slot.
  virtual measure::Kind current_kind(const measure::ThreadSlot& slot) const = 0;
  /// See measure::claim.
  virtual void claim(measure::ThreadSlot& slot, std::uint32_t region) = 0;

  virtual bool attached() const = 0;
  /// Attaches the ranks of `transport`; the adapter keeps the session.  Collective; false on all ranks or on none.
  virtual bool attach(std::unique_ptr<exchange::Transport> transport) = 0;
  /// Ends a step.  In a session that the host has not adopted, no callback can exist, so it does not wait for hints.
  virtual bool progress_step() = 0;
  virtual void phase(const char* name) = 0;
  /// Reports the messages that the rank has sent since the last call, for the window of the current step.
  virtual void traffic(std::span<const measure::Flow> flows) = 0;
  /// Reports the arrivals at a communicator's collectives in the current step; see measure::ArrivalsHeader.
  virtual void arrivals(const measure::ArrivalsHeader& header, std::span<const std::uint64_t> words) = 0;
  /// Called at the start of MPI_Finalize.
  virtual void finalize() = 0;

  /// See measure::Registry.
  virtual void module(const std::string& base_name, const std::string& identity) = 0;
  /// Id of a communicator in the records of messages (runtime/recording); `no_communicator` if it cannot be registered.
  virtual std::uint32_t communicator(const std::string& name, const std::string& members) = 0;
  static constexpr std::uint32_t no_communicator = 0xffffff;
  virtual void note(const std::string& text) = 0;
  virtual void on_step(StepHooks hooks) = 0;
};

/// The calling thread's slot; null without an active session.  Fast, unlike AdapterPort::slot(), once the thread has
/// one.
inline measure::ThreadSlot* slot_in_session(AdapterPort& port) {
  measure::ThreadSlot* const slot = measure::this_thread_slot();
  return slot && slot->in_session() ? slot : port.slot();
}

}  // namespace effort::session

/// The library's port for an adapter of this build (session::port_build()); null for an adapter of another build, which
/// must not use the port.  The symbol is weak: a library without it is also of another build, and the host must start
/// anyway.
extern "C" __attribute__((weak, visibility("default"))) effort::session::AdapterPort* effort_adapter_port(
    const char* build);

#ifdef EFFORT_VERSION_STRING
namespace effort::session {

/// Identifies the version and the layout of shared structures, which must be equal in an adapter and the library.
inline std::string port_build() {
  constexpr int interface_number = 6;  ///< raised with every change of AdapterPort's members between versions
  return EFFORT_VERSION_STRING " " + std::to_string(interface_number) + " " +
         std::to_string(sizeof(measure::ThreadSlot)) + " " + std::to_string(sizeof(config::Settings)) + " " +
         std::to_string(sizeof(measure::SlotFront));
}

/// For adapters: the port, or null if libeffort is of another build, or if there was no memory for it.
inline AdapterPort* adapter_port() noexcept {
  static AdapterPort* const port = []() -> AdapterPort* {
    try {
      return effort_adapter_port ? effort_adapter_port(port_build().c_str()) : nullptr;
    } catch (const std::exception&) {
      return nullptr;
    }
  }();
  return port;
}

}  // namespace effort::session
#endif
