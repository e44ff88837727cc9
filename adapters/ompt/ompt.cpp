// Records waiting at OpenMP barriers as WAIT, and puts the threads of a team into the region that encloses their
// parallel construct.  For runtimes with OMPT (LLVM's libomp and its derivatives):
// OMP_TOOL_LIBRARIES=libeffort_ompt.so, or linked (docs/adapters.md).
//
// The barrier at the end of a parallel construct holds its workers until the next one begins.  Only the time until the
// construct's end is waiting, and a worker learns of that end when it is woken.  The wait is added then, and may appear
// in a later step.  All other barriers are recorded as they occur.
#include "runtime/environment.hpp"
#include "runtime/host_scope.hpp"
#include "runtime/measure/boundary.hpp"
#include "runtime/quiet_write.hpp"
#include "runtime/session/adapter_port.hpp"
#include "runtime/thread_end.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>

#include <omp-tools.h>

using namespace effort;

namespace {

/// A parallel construct that is under way, shared by its team.
struct Team {
  std::uint32_t region;  ///< in which the construct was encountered; 0: none
  std::uint64_t session;
  std::atomic<std::uint64_t> ended{0};  ///< nanoseconds; 0 while it runs
  std::atomic<int> users{1};
};

void release(Team* team) {
  if (team && team->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete team;
}

/// A thread's part in the construct in which it is a worker.
struct Worker {
  Team* team = nullptr;
  bool in_region = false;
  std::uint64_t waits_since = 0;  ///< arrival at the construct's last barrier; 0: not there
};
/// Constructs nest, and a worker of an outer one may be woken for an inner one only after it: one level per depth.
constexpr int most_levels = 8;
EFFORT_IN_EVERY_THREAD thread_local Worker workers[most_levels];
/// Of the construct that the thread is a worker in; -1: in none.
EFFORT_IN_EVERY_THREAD thread_local int level = -1;

/// The region of barriers, looked up once per thread and session.
struct Barrier {
  std::uint64_t session = 0;
  std::uint32_t id = 0;
};
EFFORT_IN_EVERY_THREAD thread_local Barrier barrier;
EFFORT_IN_EVERY_THREAD thread_local int waits_open = 0;  ///< number of barriers begun as regions

/// Requires a session; there is none if the library is of another build (see initialize()).
session::AdapterPort& port() { return *session::adapter_port(); }

/// The thread's slot in an active session; null if there is none.
const measure::ThreadSlot* slot() { return session::slot_in_session(port()); }

/// The number of the active session; 0 if there is none.
std::uint64_t session() {
  const measure::ThreadSlot* s = slot();
  return s ? s->session() : 0;
}

std::uint32_t barrier_region() {
  const std::uint64_t now = session();
  if (now == 0) return 0;
  if (barrier.session != now) barrier = {now, port().region("omp barrier", measure::Kind::wait)};
  return barrier.id;
}

void begin_wait() {
  const std::uint32_t id = barrier_region();
  if (id > 0 && port().begin_region(id)) ++waits_open;
}

void end_wait() {
  if (waits_open == 0) return;
  --waits_open;
  port().end_region(barrier.id);
}

/// A worker arrives at a barrier that may be the end of its construct.  It leaves the region, at least for now.
void arrive(Worker& w) {
  if (w.in_region) port().end_region(w.team->region);
  w.waits_since = measure::monotonic_ns();
}

void add_wait(std::uint64_t ns) {
  const std::uint32_t id = barrier_region();
  if (id == 0) return;
  const AmountScope scope;
  port().add(id, AmountScope::amount(static_cast<double>(ns)) * 1e-9);
}

/// The barrier was not the construct's end.
void resume(Worker& w) {
  const std::uint64_t now = measure::monotonic_ns();
  if (w.team->session == session()) add_wait(now - w.waits_since);
  w.waits_since = 0;
  w.in_region = w.in_region && port().begin_region(w.team->region);
}

/// A worker is woken, or ends: the time from its arrival to the construct's end was waiting.
void depart(Worker& w) {
  if (w.waits_since == 0 || !w.team) return;
  const std::uint64_t now = measure::monotonic_ns(), ended = w.team->ended.load(std::memory_order_acquire);
  const std::uint64_t until = ended == 0 ? now : std::min(now, ended);
  if (until > w.waits_since && w.team->session == session()) add_wait(until - w.waits_since);
  w.waits_since = 0;
  w.in_region = false;  // left on arrival
}

Worker* worker() { return level >= 0 && level < most_levels ? &workers[level] : nullptr; }

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel, unsigned, int, const void*) {
  parallel->ptr = nullptr;
  const measure::ThreadSlot* s = slot();
  if (!s) return;
  auto* team = new (std::nothrow) Team;
  if (!team) return;
  team->region = measure::innermost(*s);
  team->session = s->session();
  parallel->ptr = team;
}

void on_parallel_end(ompt_data_t* parallel, ompt_data_t*, int, const void*) {
  auto* team = static_cast<Team*>(parallel->ptr);
  if (!team) return;
  team->ended.store(measure::monotonic_ns(), std::memory_order_release);
  parallel->ptr = nullptr;
  release(team);
}

/// The primary thread is in its region already; the others join it there.
void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t*, unsigned, unsigned index,
                      int flags) {
  if ((flags & ompt_task_initial) != 0 || index == 0) return;
  if (endpoint == ompt_scope_begin) {
    auto* team = parallel ? static_cast<Team*>(parallel->ptr) : nullptr;
    ++level;
    Worker* w = worker();
    if (!w) return;
    *w = {};
    if (!team) return;
    team->users.fetch_add(1, std::memory_order_relaxed);
    w->team = team;
    w->in_region = team->region > 0 && team->session == session() && port().begin_region(team->region);
    return;
  }
  if (Worker* w = worker()) {
    depart(*w);
    if (w->in_region) port().end_region(w->team->region);
    release(w->team);
    *w = {};
  }
  level = std::max(level - 1, -1);
}

bool is_barrier(ompt_sync_region_t kind) {
  switch (kind) {
    case ompt_sync_region_taskwait:
    case ompt_sync_region_taskgroup:
    case ompt_sync_region_reduction: return false;
    default: return true;
  }
}

bool is_implicit(ompt_sync_region_t kind) {
  return kind == ompt_sync_region_barrier_implicit || kind == ompt_sync_region_barrier_implicit_workshare ||
         kind == ompt_sync_region_barrier_implicit_parallel;
}

/// Whether the thread has no open regions of its own.  If it has any, it cannot be at the end of its construct.
bool at_base(const Worker& w) {
  const measure::ThreadSlot* s = slot();
  return s && measure::innermost(*s) == (w.in_region ? w.team->region : 0u);
}

void on_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t*,
             const void*) {
  if (!is_barrier(kind)) return;
  Worker* const w = worker();
  // Runtimes up to LLVM 14 do not distinguish implicit barriers.  The construct's last one is recognized when it ends,
  // because the construct no longer exists then.
  if (endpoint == ompt_scope_begin) {
    w && w->team&& is_implicit(kind) && at_base(*w) ? arrive(*w) : begin_wait();
  } else if (w && w->waits_since != 0) {
    parallel && parallel->ptr == w->team ? resume(*w) : depart(*w);
  } else {
    end_wait();
  }
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const auto set = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  if (!set) return 0;
  if (!session::adapter_port()) {
    if (const char* verbose = effort::environment("EFFORT_VERBOSE"); verbose && std::string_view(verbose) == "1")
      effort::print_error(
          "effort: libeffort_ompt measures nothing: libeffort is of another build: install both from the same build\n");
    return 0;
  }
  set(ompt_callback_parallel_begin, reinterpret_cast<ompt_callback_t>(on_parallel_begin));
  set(ompt_callback_parallel_end, reinterpret_cast<ompt_callback_t>(on_parallel_end));
  set(ompt_callback_implicit_task, reinterpret_cast<ompt_callback_t>(on_implicit_task));
  set(ompt_callback_sync_region_wait, reinterpret_cast<ompt_callback_t>(on_wait));
  return 1;
}

void finalize(ompt_data_t*) {}

}  // namespace

/// The entry point that an OpenMP runtime looks for.
extern "C" __attribute__((visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(unsigned, const char*) {
  static ompt_start_tool_result_t tool{initialize, finalize, {}};
  return &tool;
}
