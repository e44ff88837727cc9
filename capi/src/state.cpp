#include "state.hpp"

#include "runtime/measure/thread_slot.hpp"
#include "runtime/quiet_write.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

#include <pthread.h>
#include <unistd.h>

namespace effort::capi {

std::atomic<Mode> current_mode{Mode::none};

namespace {

std::atomic<session::Session*> current_session{nullptr};
std::atomic<bool> adapter_began{false};
session::Session* parked = nullptr;  // by at_host_exit
pid_t host_process = 0;

// The child of a fork has no background thread and is not one of the ranks, so every call does nothing.
void after_fork_in_child() {
  current_mode.store(Mode::disabled, std::memory_order_relaxed);
  current_session.store(nullptr, std::memory_order_relaxed);  // the parent's; its threads do not exist here
  measure::SlotRegistry::instance().abandon();
}

// For a host that exits without finalizing: the background thread must not run while static objects are destroyed.  The
// session is not destroyed: an exchange that has begun cannot be cancelled, and later exit handlers may call MPI, which
// progresses it.  For those handlers, calls do nothing, as in the child of a fork.
void at_host_exit() {
  // A child made by _Fork or clone has no background thread either, and no handler has told it.
  if (::getpid() != host_process) return;
  parked = current_session.exchange(nullptr);
  if (!parked) return;
  current_mode.store(Mode::disabled);
  parked->park();
}

}  // namespace

void register_handlers() {
  static const bool done = [] {
    host_process = ::getpid();
    if (pthread_atfork(nullptr, nullptr, after_fork_in_child) != 0 || std::atexit(at_host_exit) != 0)
      throw std::bad_alloc();
    return true;
  }();
  static_cast<void>(done);
}

void finalize_mpi_at_exit() {
  if (parked && ::getpid() == host_process) parked->stop_listening();
}

void set_mode(Mode mode) noexcept { current_mode.store(mode, std::memory_order_release); }
session::Session* session() noexcept { return current_session.load(std::memory_order_acquire); }
bool begun_by_adapter() noexcept { return adapter_began.load(std::memory_order_relaxed); }
void set_begun_by_adapter(bool adapter) noexcept { adapter_began.store(adapter, std::memory_order_relaxed); }

void set_session(session::Session* session) noexcept {
  // In this order: a thread that finds its slot retired must not prepare it for the old session again.
  const std::unique_ptr<session::Session> old(current_session.exchange(session, std::memory_order_acq_rel));
  measure::SlotRegistry::instance().retire_all();
}

effort_status switched_off() noexcept {
  return fail(Status::switched_off,
              "the library has switched itself off after an internal error; the host runs on without it");
}

effort_status inactive() noexcept {
  switch (mode()) {
    case Mode::disabled: return EFFORT_OK;
    case Mode::off: return switched_off();
    case Mode::none:
    case Mode::active: break;
  }
  return fail(
      Status::not_initialized,
      "the library is not initialized: call effort_init or effort_init_mpi first (and not after effort_finalize)");
}

config::Settings settings_from(const effort_config* cfg) {
  return config::resolve(cfg ? cfg->pairs : std::vector<config::Pair>{});
}

effort_status begin_session(const effort_config* cfg, bool adapter) {
  config::Settings settings = settings_from(cfg);
  register_handlers();
  if (settings.disable) {
    set_mode(Mode::disabled);
  } else {
    auto session = std::make_unique<session::Session>(std::move(settings));
    // With several ranks, attach reports it, with the same status on all of them.
    if (const std::string& refusal = session->recorder().load_refusal(); !refusal.empty())
      return fail(Status::unsupported, refusal);
    install(std::move(session));
  }
  set_begun_by_adapter(adapter);
  return EFFORT_OK;
}

/// Problems with the settings are in the notes; under VERBOSE they are also printed now.
static void say_notes(session::Session& session) {
  if (!session.settings().verbose) return;
  for (const std::string& text : session.settings().notes) say(text);
  for (const measure::Defined& d : session.recorder().registry().since(0))
    if (d.what == measure::Definition::note) say(d.name);
}

void install(std::unique_ptr<session::Session> session) {
  try {
    if (!capi::session()) say_notes(*session);
  } catch (const std::bad_alloc&) {  // the other ranks depend on this one
  }
  set_session(session.release());
  set_mode(Mode::active);
}

void disable() noexcept {
  set_session(nullptr);
  set_mode(Mode::disabled);
}

void switch_off(session::Session& session) {
  set_mode(Mode::off);
  measure::SlotRegistry::instance().retire_all();
  if (!session.settings().verbose) return;
  try {
    const std::string why = session.failure();
    say("switched off: " + (why.empty() ? "another rank failed" : why));
  } catch (const std::bad_alloc&) {
    print_error("effort: switched off: out of memory\n");
  }
}

std::unique_ptr<session::Session> adopt(config::Settings settings) {
  session::Session& begun = *session();
  if (!begun.started() && !begun.measures(settings))
    return std::make_unique<session::Session>(std::move(settings), &begun);
  begun.adopt(std::move(settings));
  return nullptr;
}

effort_status refused(const char* function, effort_status status) {
  if (mode() == Mode::active && begun_by_adapter())
    guarded([&] {
      note("the host's call of " + std::string(function) + " failed (" + effort_last_error() +
           "): the adapter keeps measuring, without the host's regions, steps and settings");
    });
  return status;
}

effort_status already_initialized() noexcept {
  return fail(Status::already_initialized,
              "the library is initialized already: call effort_finalize before another init");
}

void note(const std::string& text) {
  session::Session* const s = active_session();
  if (!s) return;
  guarded([&] {
    s->recorder().registry().note(text.substr(0, measure::max_name).c_str());
    if (s->settings().verbose) say(text);
  });
}

}  // namespace effort::capi
