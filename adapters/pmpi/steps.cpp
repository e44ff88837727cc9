#include "adapters/pmpi/steps.hpp"

#include "adapters/mpi/mpi_transport.hpp"
#include "adapters/pmpi/calls/functions.hpp"
#include "adapters/pmpi/calls/port.hpp"
#include "adapters/pmpi/step_finder.hpp"
#include "runtime/host_scope.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace effort::pmpi {

bool steps_watch = false, steps_want_cpu_time = false;
Call step_call = Call::count;

namespace {

using session::Owner;

constexpr std::size_t most_events = 4096;
constexpr double least_step = 50e3;  // ns of computation
constexpr std::int64_t first_look = 32, last_look = 100000, first_check = 64, longest_apart = 64;
constexpr std::int64_t least_doubt = 4096,
                       times_doubt = 8;  // number of collectives after which a detected step counts as certain

enum class Source { off, looking, found, setting, pcontrol };

/// All of this belongs to the thread that called MPI_Init.
struct State {
  Source source = Source::off;
  int size = 1, rank = 0;
  bool joined = false;                          ///< by join()
  MPI_Comm agreeing = MPI_COMM_NULL;            ///< for the agreements of this file
  std::vector<std::pair<MPI_Comm, bool>> full;  ///< communicators seen so far, and whether they contain all ranks

  std::int64_t clock = 0;     ///< collectives of all ranks so far: the same number everywhere
  std::int64_t together = 0;  ///< the clock at the last one that no rank leaves before all have entered
  std::int64_t next_look = first_look, next_check = 0, check_every = first_check, certain_at = 0;
  std::vector<Event> events;
  StepRule rule;
  std::uint32_t seen = 0;  ///< calls of the rule since a step
  std::int64_t steps = 0, checked_steps = 0;
  bool announced = false;  ///< the rule in force

  std::uint32_t every = 1;  ///< of the setting STEP
  std::string where;
  struct Met {
    const Path* path;
    bool fits;  ///< it holds `where`
    std::string functions;
  };
  std::vector<Met> met;  ///< paths of that call
};
State state;

/// Attaches all ranks of MPI_COMM_WORLD.  Collective, and therefore done once: ranks switch off at different moments,
/// and one whose session is off must not call the others again.
bool join() {
  if (state.joined || port().attached()) return true;
  try {
    state.joined = port().attach(adapters::MpiTransport::over(MPI_COMM_WORLD));
  } catch (const std::exception&) {  // on all ranks
  }
  return state.joined;
}

void give_up() {
  state.source = Source::off;
  steps_watch = steps_want_cpu_time = false;
  step_call = Call::count;
}

void step() {
  if (!join()) return give_up();
  Thread* const thread = this_thread;
  if (thread) thread->driving = true;
  port().progress_step();
  if (thread) thread->driving = false;
  ++state.steps;
}

bool all_ranks_in(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) return true;
  for (const auto& [known, full] : state.full)
    if (known == comm) return full;
  int inter = 1, size = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (!inter) PMPI_Comm_size(comm, &size);
  const bool full = !inter && size == state.size;
  try {
    state.full.emplace_back(comm, full);
  } catch (const std::exception&) {  // the question is repeated the next time
  }
  return full;
}

MPI_Comm agreeing() {
  if (state.agreeing == MPI_COMM_NULL) {
    PMPI_Comm_dup(MPI_COMM_WORLD, &state.agreeing);
    PMPI_Comm_set_errhandler(state.agreeing, MPI_ERRORS_RETURN);
  }
  return state.agreeing;
}

/// A rank's evidence for a rule: a mask of the collectives that were calls of its path.
std::uint64_t places_of(std::uint64_t path) {
  std::uint64_t h = 0;
  for (std::size_t i = 0; i < state.events.size(); ++i)
    if (state.events[i].path == path) h = (h ^ i) * 0x9e3779b97f4a7c15u + 1;
  return h;
}

/// Finds none if memory runs out during the search.
StepRule proposed() {
  try {
    return find_step(state.events, least_step);
  } catch (const std::exception&) {
    return {};
  }
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

/// The rank that computed most so far proposes a rule, and all compare it with their own events.  The rule stays
/// provisional for a while: a longer step replaces it if it turns out to be an inner loop (the first solver's
/// iterations).  The ranks join here.  Otherwise each would have to join when it recognises the end of a step, which
/// might never happen.  Collective, within a collective of the host's (ranks_meet).
void look() {
  const LibraryScope scope;
  state.next_look = state.clock + std::max<std::int64_t>(16, state.clock / 4);
  struct {
    double computed;
    int rank;
  } busiest{state.events.back().computed, state.rank};
  if (PMPI_Allreduce(MPI_IN_PLACE, &busiest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, agreeing()) != MPI_SUCCESS)
    return give_up();
  struct Proposal {
    StepRule rule;
    std::uint64_t places;
    std::int64_t n;
  } proposal{};
  if (state.rank == busiest.rank) {
    proposal.rule = proposed();
    const bool known = proposal.rule.path == state.rule.path && proposal.rule.every == state.rule.every;
    if (state.source == Source::found && (known || proposal.rule.usual < 2 * state.rule.usual)) proposal.rule.path = 0;
    proposal.places = places_of(proposal.rule.path);
    proposal.n = static_cast<std::int64_t>(state.events.size());
  }
  if (PMPI_Bcast(&proposal, sizeof proposal, MPI_BYTE, busiest.rank, agreeing()) != MPI_SUCCESS) return give_up();
  // bits: this rank proposes the rule; it saw the same
  int agreed[2] = {port().owner() == Owner::adapter, proposal.rule.path != 0 &&
                                                         proposal.places == places_of(proposal.rule.path) &&
                                                         proposal.n == static_cast<std::int64_t>(state.events.size())};
  if (PMPI_Allreduce(MPI_IN_PLACE, agreed, 2, MPI_INT, MPI_MIN, agreeing()) != MPI_SUCCESS || agreed[0] == 0)
    return give_up();
  if (agreed[1] == 0) {
    if (state.source == Source::found)
      steps_want_cpu_time = state.clock < state.certain_at;
    else if (state.clock > last_look)
      give_up();
    return;
  }
  if (!join()) return give_up();
  state.rule = proposal.rule;
  state.source = Source::found;
  state.certain_at = std::max(least_doubt, times_doubt * state.clock);
  state.announced = false;
  // Everything up to the first end of a step is the first step.
  state.seen = state.rule.every > 1 ? state.rule.every - state.rule.skip : 0;
  state.check_every = std::max<std::int64_t>(first_check, 8 * state.rule.events);
  state.next_check = state.clock + state.check_every;
}

/// Whether all ranks have ended the same number of steps, and at least one since the last call.
void check() {
  state.check_every *= 2;
  state.next_check = state.clock + state.check_every;
  long long most[2] = {state.steps, -state.steps};
  if (PMPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_LONG_LONG, MPI_MAX, agreeing()) != MPI_SUCCESS) return give_up();
  if (most[0] != -most[1]) {
    note([&] {
      return "the ranks have counted different numbers of steps (" + std::to_string(-most[1]) + " to " +
             std::to_string(most[0]) + "), so later steps were not counted: name the step with EFFORT_STEP";
    });
    return give_up();
  }
  if (state.steps == state.checked_steps) {
    note([] {
      return "after step " + std::to_string(state.steps) +
             " the calls that ended steps stopped recurring, so the step was searched for again";
    });
    state.source = Source::looking;
    steps_want_cpu_time = true;
    state.next_look = state.clock + 16;
    state.events.clear();
  }
  state.checked_steps = state.steps;
}

/// Whether ranks may wait for each other inside the present collective: yes if no rank leaves it before all have
/// arrived.  In a program without such collectives (one that only broadcasts and reduces), ranks wait in any collective
/// after some time.  MPI allows every collective to synchronise, so correct programs do not rely on the contrary.
bool ranks_meet(Role role) {
  if (role == Role::sync) state.together = state.clock;
  return state.together == state.clock || state.clock - state.together > longest_apart;
}

/// Drops the time since the last call, if the thread measures at all.
void disown_since_call(Thread& thread) {
  measure::ThreadSlot* const slot = measure::this_thread_slot();
  if (thread.ready(slot)) disown(thread, *slot);
}

/// Runs `what`, in which ranks may wait for each other; that time is not charged to the host.
void meet(Thread& thread, void (*what)()) {
  what();
  disown_since_call(thread);
}

/// Describes what ends steps from now on.
void announce(const Path& path) {
  state.announced = true;
  if (state.rank != 0) return;
  const LibraryScope scope;
  note([&] {
    std::string text = state.steps == 0 ? "steps were detected: they end with "
                                        : "from step " + std::to_string(state.steps) + " on, they end with ";
    if (state.rule.every > 1) text += "every " + std::to_string(state.rule.every) + ". ";
    return text + path.text + " (confidence " + percent(state.rule.confidence) + ", " +
           std::to_string(state.rule.recurrences) + " recurrences)";
  });
}

void found_step(const Path& path) {
  if (port().owner() != Owner::adapter || !join()) return give_up();
  if (!state.announced) announce(path);
  if (state.steps > 0) return step();
  // The part of the run before the first recognised step is kept separate, so that steps are alike.
  port().phase("startup");
  step();
  port().phase("main");
}

}  // namespace

void prepare_steps(const config::Settings& settings) {
  state = {};
  PMPI_Comm_size(MPI_COMM_WORLD, &state.size);
  PMPI_Comm_rank(MPI_COMM_WORLD, &state.rank);
  step_call = Call::count;
  if (settings.pcontrol) {
    state.source = Source::pcontrol;
  } else if (settings.step == "auto") {
    state.source = Source::looking;
    state.events.reserve(most_events);
  } else if (settings.step != "off") {
    const std::size_t at = settings.step.find('@');
    const std::string call = settings.step.substr(0, at);
    const std::size_t colon = call.find(':');
    if (at != std::string::npos) state.where = settings.step.substr(at + 1);
    if (colon != std::string::npos) state.every = static_cast<std::uint32_t>(std::stoul(call.substr(colon + 1)));
    for (std::size_t i = 0; i < static_cast<std::size_t>(Call::count); ++i)
      if (call_table[i].name == call.substr(0, colon)) step_call = static_cast<Call>(i);
    if (step_call == Call::count || !can_split(info(step_call).role)) {
      step_call = Call::count;
      port().note(
          "EFFORT_STEP names " + call.substr(0, colon) +
          ", which is not an MPI call that can block, so steps are not counted: name one, such as MPI_Allreduce");
    } else {
      state.source = Source::setting;
    }
  }
}

void begin_steps() {
  // Ranks reach a call that is not collective at different times, and one that waited there for the others might keep
  // them from coming.  A rank without memory may not recognise WHERE.
  const bool early = state.source == Source::setting && (info(step_call).role != Role::sync || !state.where.empty());
  if (early && port().owner() == Owner::adapter && !join()) return give_up();
  steps_want_cpu_time = state.source == Source::looking;
  steps_watch = steps_want_cpu_time || state.source == Source::setting;
}

void saw_collective(Thread& thread, const Site* site, Role role, MPI_Comm comm) {
  if (!thread.main || !all_ranks_in(comm)) return;
  ++state.clock;
  const Path* const path = site ? site->path : nullptr;
  const bool together = ranks_meet(role);
  if (steps_want_cpu_time) {
    if (state.events.size() == most_events)
      state.events.erase(state.events.begin(), state.events.begin() + most_events / 2);
    const auto computed = static_cast<double>(ns_of_ticks(thread.computed));  // exact
    state.events.push_back({path ? path->hash : 0, computed, thread.calls});  // prepare_steps() made room
  }
  if (state.source == Source::found) {
    if (path && path->hash == state.rule.path && ++state.seen >= state.rule.every) {
      state.seen = 0;
      found_step(*path);
    }
    if (together && state.clock >= state.next_check && state.source == Source::found) meet(thread, check);
  }
  if (steps_want_cpu_time && together && state.clock >= state.next_look) meet(thread, look);
}

/// Facts about a call path of the setting STEP.
static const State::Met& met(Thread& thread, const Site& site) {
  const auto known =
      std::find_if(state.met.begin(), state.met.end(), [&](const auto& m) { return m.path == site.path; });
  if (known != state.met.end()) return *known;
  State::Met met{site.path, false, functions_of(site.return_address, site.trail)};
  met.fits = (met.functions + " " + site.path->text).find(state.where) != std::string::npos;
  disown_since_call(thread);
  return state.met.emplace_back(std::move(met));
}

/// Whether a call matches the setting STEP.
static bool fits(Thread& thread, const Site* site, MPI_Comm comm) {
  if (state.where.empty()) return true;
  try {
    if (site && met(thread, *site).fits) return true;
  } catch (const std::exception&) {  // out of memory
  }
  if (comm == MPI_COMM_NULL) return false;
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Comm_get_name(comm, name, &length);
  return std::string_view(name).find(state.where) != std::string_view::npos;
}

/// Explains why the setting STEP has ended no step.
static std::string why_no_step() {
  std::string text = "EFFORT_STEP has ended no step, so the whole run is one step: ";
  const std::string name(info(step_call).name);
  if (state.seen > 0) return text + "only " + std::to_string(state.seen) + " calls matched; lower N";
  if (state.met.empty()) return text + name + " was never called; name a call that the program makes";
  text += "'" + state.where + "' is in no call path of " + name +
          " and in no communicator's name; its calls were made from";
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(most, state.met.size()); ++i)
    text += (i > 0 ? "; " : " ") + state.met[i].functions;
  return text + (state.met.size() > most ? "; ..." : "");
}

void saw_step_call(Thread& thread, const Site* site, MPI_Comm comm) {
  if (state.source != Source::setting || !thread.main) return;
  if (!fits(thread, site, comm)) return;
  if (++state.seen < state.every) return;
  state.seen = 0;
  step();
}

void step_from_pcontrol() {
  if (state.source == Source::pcontrol) step();
}

void leave_steps_to_host() { give_up(); }

bool joined_here() { return state.joined; }

void forget_communicators() { state.full.clear(); }

void finish_steps() {
  if (port().owner() != Owner::adapter) return;
  const bool stepped = state.steps > 0;
  if (!join()) return;
  if (state.source == Source::looking && !stepped && state.rank == 0)
    note([] {
      return "no step was found: no collective of all ranks recurs regularly, with 50 microseconds of computation or "
             "more each time; the whole run is one step (name one with EFFORT_STEP)";
    });
  if (state.source == Source::setting && !stepped && state.rank == 0) note(why_no_step);
  if (stepped) port().phase("shutdown");
  step();
  if (state.agreeing != MPI_COMM_NULL) PMPI_Comm_free(&state.agreeing);
  give_up();
}

}  // namespace effort::pmpi
