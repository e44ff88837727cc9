// Implements the port for adapters that measure on their own.
#include "attach.hpp"
#include "runtime/exchange/agreement.hpp"
#include "runtime/measure/boundary.hpp"
#include "state.hpp"
#include "step_hooks.hpp"

#include <atomic>
#include <cstddef>
#include <new>

using namespace effort;
using capi::guarded;
using capi::Mode;
using session::Owner;

namespace {

/// The result of `use`, which gets the active session; `otherwise` if there is none, or if it throws.
template <typename T, typename Use>
T in_active(T otherwise, const Use& use) {
  guarded([&] {
    if (session::Session* s = capi::active_session()) otherwise = use(*s);
  });
  return otherwise;
}
template <typename Use>
void in_active(const Use& use) {
  guarded([&] {
    if (session::Session* s = capi::active_session()) use(*s);
  });
}

class Port final : public session::AdapterPort {
 public:
  bool claim_interception() override { return !intercepted_.exchange(true); }

  bool begin() override { return effort_adapter_begin() == EFFORT_OK && capi::mode() == Mode::active; }

  Owner owner() const override {
    if (!capi::active_session()) return Owner::nobody;
    return capi::begun_by_adapter() ? Owner::adapter : Owner::host;
  }

  const config::Settings* settings() const override {
    const session::Session* s = capi::active_session();
    return s ? &s->settings() : nullptr;
  }

  double seconds_per_tick() const override { return measure::tick_rate().seconds_per_tick; }

  std::uint64_t ticks() const override { return measure::ticks(); }

  measure::ThreadSlot* slot() override {
    return in_active<measure::ThreadSlot*>(nullptr, [](session::Session& s) { return &s.recorder().slot(); });
  }

  bool has_room_for_region() const override {
    return in_active(false,
                     [](session::Session& s) { return s.recorder().registry().n_regions() < measure::max_regions; });
  }

  std::uint32_t region(const std::string& name, measure::Kind kind) override {
    return in_active(std::uint32_t{0},
                     [&](session::Session& s) { return s.recorder().registry().region(name.c_str(), kind).id; });
  }

  bool begin_region(std::uint32_t region) override {
    measure::ThreadSlot* own = measure::this_thread_slot();
    // A signal handler in the middle of a boundary must not prepare the slot.
    const bool prepared = own && (own->gate.closed() || region <= own->known.load(std::memory_order_relaxed));
    if (!prepared) own = slot();
    if (!own || region - 1u >= own->known.load(std::memory_order_relaxed) || own->depth >= measure::max_depth)
      return false;
    measure::open_region(*own, region);
    return true;
  }

  bool end_region(std::uint32_t region) override {
    measure::ThreadSlot* const own = measure::this_thread_slot();
    return own && measure::close_region(*own, region);
  }

  void add(std::uint32_t region, double seconds) override {
    in_active([&](session::Session& s) { s.recorder().add_seconds(region, seconds); });
  }

  measure::Kind current_kind(const measure::ThreadSlot& slot) const override {
    return in_active(measure::Kind::compute, [&](session::Session& s) {
      return s.recorder().registry().region_kind(measure::innermost(slot));
    });
  }

  void claim(measure::ThreadSlot& slot, std::uint32_t region) override { measure::claim(slot, region); }

  bool attached() const override {
    const session::Session* s = capi::active_session();
    return s && s->attached();
  }

  bool attach(std::unique_ptr<exchange::Transport> transport) override {
    return guarded([&]() -> effort_status {
             const bool ready = capi::active_session() && !attached();
             const Status worst = exchange::worst_status(*transport, ready ? Status::ok : Status::state);
             if (worst != Status::ok) {
               transport->release();
               return capi::fail(worst, "a rank has no session to attach");
             }
             capi::active_session()->attach(std::move(transport));
             return EFFORT_OK;
           }) == EFFORT_OK;
  }

  bool progress_step() override {
    if (owner() == Owner::host) return effort_progress_step() == EFFORT_OK;
    return capi::in_session([&](session::Session& s) -> effort_status {
             const capi::StepScope scope;
             const Status status = s.client().progress_step({});
             if (status != Status::ok) capi::switch_off(s);
             return static_cast<effort_status>(status);
           }) == EFFORT_OK;
  }

  void phase(const char* name) override { effort_phase(name); }
  void traffic(std::span<const measure::Flow> flows) override {
    in_active([&](session::Session& s) { s.client().traffic(flows); });
  }

  void arrivals(const measure::ArrivalsHeader& header, std::span<const std::uint64_t> words) override {
    in_active([&](session::Session& s) { s.client().arrivals(header, words); });
  }

  void finalize() override { effort_finalize_forgotten(); }

  void module(const std::string& base_name, const std::string& identity) override {
    in_active([&](session::Session& s) { s.recorder().registry().module(base_name.c_str(), identity.c_str()); });
  }

  std::uint32_t communicator(const std::string& name, const std::string& members) override {
    return in_active(std::uint32_t{no_communicator}, [&](session::Session& s) {
      return s.recorder().registry().communicator(name.c_str(), members.c_str());
    });
  }

  void note(const std::string& text) override { capi::note(text); }

  void on_step(StepHooks hooks) override { capi::step_hooks = hooks; }

 private:
  std::atomic<bool> intercepted_{false};
};

}  // namespace

extern "C" session::AdapterPort* effort_adapter_port(const char* build) {
  // Never destroyed: adapters may be called while static objects are.  Not from the heap, which may be exhausted.
  alignas(Port) static std::byte place[sizeof(Port)];
  static Port* const port = new (place) Port;
  return build && build == session::port_build() ? port : nullptr;
}
