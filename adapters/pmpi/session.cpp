#include "adapters/pmpi/session.hpp"

#include "adapters/mpi/mpi_library.hpp"
#include "adapters/pmpi/agree.hpp"
#include "adapters/pmpi/calls/port.hpp"
#include "adapters/pmpi/messages/arrivals.hpp"
#include "adapters/pmpi/messages/messages.hpp"
#include "adapters/pmpi/messages/traffic.hpp"
#include "adapters/pmpi/not_measured.hpp"
#include "adapters/pmpi/passage.hpp"
#include "adapters/pmpi/steps.hpp"
#include "runtime/host_scope.hpp"

#include <algorithm>
#include <bitset>
#include <string>

#include <dlfcn.h>
#include <link.h>

namespace effort::pmpi {
namespace {

using session::Owner;

constexpr double poll_gap_seconds = 5e-6, longest_interruption_seconds = 100e-6, least_gap_seconds = 2e-6,
                 long_computation_seconds = 20e-6;

int depth = 4;
bool obey_pcontrol = false;
std::bitset<static_cast<std::size_t>(Call::count)> split_calls;  // of those that can
int init_nesting = 0;
std::uint64_t init_began = 0;
double init_seconds = 0;
bool finalizing = false;
bool ours = false;  // this copy is the one interceptor
const Path* step_end = nullptr;

void choose_splits(const config::Settings& settings) {
  split_calls.reset();
  for (std::size_t i = 0; i < split_calls.size(); ++i)
    split_calls[i] = settings.split.empty() && can_split(call_table[i].role);
  for (const std::string& name : settings.split) {
    const auto known =
        std::find_if(std::begin(call_table), std::end(call_table), [&](const CallInfo& c) { return c.name == name; });
    if (known == std::end(call_table) || !can_split(known->role))
      port().note("EFFORT_SPLIT names " + name + ", which is not an MPI call that can block, so no region ends there");
    else if (const auto i = static_cast<std::size_t>(known - call_table); i < split_calls.size())
      split_calls[i] = true;
  }
}

/// The file that provides the function of this name to the rest of the program.
std::string file_of(void* function) {
  Dl_info found{};
  return function && dladdr(function, &found) && found.dli_fname ? found.dli_fname : "";
}

/// The SONAME of a function's file, or empty.
std::string soname_of(void* function) {
  Dl_info found{};
  link_map* map = nullptr;
  if (!function || !dladdr1(function, &found, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map || !map->l_ld)
    return "";
  const char* names = nullptr;
  std::size_t own = 0;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SONAME) own = entry->d_un.d_val;
  }
  return names && own > 0 ? names + own : "";
}

/// Another tool that wraps the same functions: the first one in the link order gets the calls.
void look_for_other_tools() {
  const std::string mine = file_of(reinterpret_cast<void*>(&enter_init));
  const std::string first = file_of(dlsym(RTLD_DEFAULT, "MPI_Allreduce"));
  const std::string library = file_of(dlsym(RTLD_DEFAULT, "PMPI_Allreduce"));
  void* const behind = dlsym(RTLD_NEXT, "MPI_Allreduce");
  const std::string next = file_of(behind);
  if (!first.empty() && first != mine)
    port().note("MPI calls go to " + first +
                " first: calls that it does not forward by their MPI_ names are not measured");
  if (next.empty() || next == library || next == mine) return;
  if (soname_of(behind).starts_with("libeffort_pmpi."))
    port().note("double wrap: the MPI adapter is loaded twice; " + next + " gets no calls, and " + mine + " measures");
  else
    port().note(
        "another tool that wraps MPI (" + next +
        ") sees no calls, because this library calls PMPI_ names: put that tool first, or use only one of the two");
}

/// The clock's ticks in a time.
std::uint64_t ticks_in(double seconds) { return static_cast<std::uint64_t>(seconds / port().seconds_per_tick()); }

void before_step() noexcept {
  Thread* thread = this_thread;
  measure::ThreadSlot* slot = measure::this_thread_slot();
  if (thread && !thread->driving) leave_steps_to_host();
  if (!armed || !thread || thread->nesting > 0 || !thread->ready(slot)) return;
  if (traffic_on) traffic_step(finalizing);
  if (arrivals_on) arrivals_step();
  if (!thread->driving) {
    port().claim(*slot, static_cast<std::uint32_t>(thread->pair(*step_end)));
    thread->pass(*step_end);
  }
}

/// The time that ending the step takes is not the host's computation.
void after_step() noexcept {
  Thread* thread = this_thread;
  measure::ThreadSlot* slot = measure::this_thread_slot();
  if (!armed || !thread || thread->nesting > 0 || !thread->ready(slot)) return;
  disown(*thread, *slot);
}

/// Whether this copy may communicate with the other ranks.  Under another MPI it cannot, and a second copy leaves it to
/// the first.
bool may_ask() {
  if (!adapters::other_mpi().empty()) {
    report_not_measured("it was built for another MPI");
    return false;
  }
  session::AdapterPort* const library = session::adapter_port();
  ours = ours || (library && library->claim_interception());
  if (library && !ours) report_not_measured_here("another copy of it is loaded already");
  return !library || ours;
}

/// Does whatever may fail on one rank alone.
bool get_ready(const void* return_address, const void* cfa) {
  session::AdapterPort* const library = session::adapter_port();
  if (!library || !library->begin()) {
    const std::string refusal =
        library ? effort_last_error() : "libeffort is of another build: install both from the same build";
    if (!refusal.empty()) report_not_measured(refusal);  // with DISABLE there is nothing to report
    return false;
  }
  Thread& thread = make_thread();
  thread.main = true;
  ns_per_tick = static_cast<std::int64_t>(port().seconds_per_tick() * 1e9 * 4294967296.0 + 0.5);
  poll_gap = ticks_in(poll_gap_seconds);
  longest_interruption = ticks_in(longest_interruption_seconds);
  least_gap = ticks_in(least_gap_seconds);
  long_computation = ticks_in(long_computation_seconds);
  new_session();
  Trail trail = unwind(return_address, static_cast<const std::byte*>(cfa), depth);
  thread.pass(path_of(Call::Init, return_address, trail));
  step_end = &landmark("step");
  prepare_steps(*port().settings());
  return true;
}

/// Returns the result of `question`, or `without` if memory runs out.
template <typename Question>
bool answer(const Question& question, bool without) {
  try {
    return question();
  } catch (const std::exception&) {
    report_not_measured_here("out of memory");
    return without;
  }
}

void begin(const void* return_address, const void* cfa) {
  // A rank that is out of memory still answers the others, which wait for it.
  if (!answer(may_ask, true)) return;
  const char* const alone = "other ranks do not have it: preload it in all ranks, or in none";
  if (!all_ranks_present(init_seconds)) return report_not_measured(alone);
  const bool ready = answer([&] { return get_ready(return_address, cfa); }, false);
  // From here on, all ranks take part or none.
  const Agreement agreed = all_ranks_ready(ready);
  if (agreed == Agreement::unanswered && ready) report_not_measured(alone);
  if (agreed == Agreement::refused && ready) report_not_measured_here("another rank is unable to measure");
  if (agreed != Agreement::all) return;
  port().on_step({before_step, after_step});
  armed = true;
  this_thread->prepare();  // without memory, at a later call
  answer([] { return look_for_other_tools(), true; }, true);
  begin_messages();
  begin_arrivals();
  begin_steps();
  after_step();
}

}  // namespace

int path_depth() { return depth; }
bool splits(Call call) {
  return call >= Call::count ? true : call >= Call::Init || split_calls[static_cast<std::size_t>(call)];
}

void new_session() {
  const config::Settings* settings = port().settings();
  if (!settings) return;
  depth = settings->path_depth;
  obey_pcontrol = settings->pcontrol;
  choose_splits(*settings);
}

void enter_init() {
  if (init_nesting++ == 0) init_began = measure::monotonic_ns();
}

void leave_init(const void* return_address, const void* cfa) {
  if (--init_nesting > 0 || armed) return;
  const LibraryScope scope;
  init_seconds = static_cast<double>(measure::monotonic_ns() - init_began) * 1e-9;
  int initialized = 0;
  PMPI_Initialized(&initialized);
  if (!initialized) return;
  try {
    begin(return_address, cfa);
  } catch (const std::exception&) {  // out of memory, so the reason cannot be reported either
  }
}

void before_finalize(const void* return_address, const void* cfa) {
  if (!armed || (this_thread && this_thread->nesting > 0)) return;
  if (has_thread()) Passage(Call::Finalize, return_address, cfa).done();
  finalizing = true;
  finish_steps();
  // A session that is off ends on all ranks as well.
  const bool joined = joined_here() || port().attached() || port().owner() == Owner::adapter;
  armed = false;
  if (joined) port().finalize();
}

void pcontrol(int level, const void* return_address, const void* cfa) {
  if (!armed || !obey_pcontrol || (this_thread && this_thread->nesting > 0) || !has_thread()) return;
  Passage passage(Call::Pcontrol, return_address, cfa);
  passage.done();
  if (!passage.seen()) return;
  if (level == 0)
    step_from_pcontrol();
  else
    port().phase(std::to_string(level).c_str());
}

}  // namespace effort::pmpi
