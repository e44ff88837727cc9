// Events that take turns: the kernel's own ones, which every Linux has, on a machine that is made to have two counters.
#include "frames.hpp"

#include "runtime/measure/clock.hpp"

#include <algorithm>

#include <dlfcn.h>
#include <papi.h>

using namespace effort::measure;

/// PAPI's function as the adapter sees it: more than two events of a set fit only where they take turns.
extern "C" int PAPI_add_event(int set, int code) {
  static const auto real = reinterpret_cast<int (*)(int, int)>(dlsym(RTLD_NEXT, "PAPI_add_event"));
  if (PAPI_num_events(set) >= 2 && PAPI_get_multiplex(set) == 0) return PAPI_ECNFLCT;
  return real(set, code);
}

namespace {

const std::vector<std::string> events = {"perf::TASK-CLOCK", "perf::PAGE-FAULTS", "perf::CONTEXT-SWITCHES", "perf::CPU-MIGRATIONS"};

struct Run {
  std::vector<double> counted;  ///< as events
  std::vector<std::string> notes;
  double cpu_ns;
};

Run burn(bool multiplex) {
  Options options;
  options.multiplex = multiplex;
  std::vector<std::string> metrics = events;
  metrics.insert(metrics.begin(), "time");
  Recorder rec(metrics, "time", LoadThreads::max, options);
  RecordStream stream;
  rec.slot();
  const std::int64_t start = thread_cpu_ns();
  while (thread_cpu_ns() - start < 100'000'000) continue;
  Run run;
  run.cpu_ns = static_cast<double>(thread_cpu_ns() - start);
  rec.end_step(0, 0, stream);
  run.notes = notes_in(stream);
  const Frame frame = read(stream);
  for (const std::string& event : events) run.counted.push_back(frame.at(whole_step, rec.registry().metric(event.c_str(), "1").id));
  SlotRegistry::instance().retire_all();
  return run;
}

/// PAPI wants a hardware counter for it, whatever the events are.
bool can_take_turns() {
  int set = PAPI_NULL, code = 0;
  if (PAPI_create_eventset(&set) != PAPI_OK || PAPI_event_name_to_code(events[0].c_str(), &code) != PAPI_OK) return false;
  const bool can = PAPI_assign_eventset_component(set, PAPI_get_event_component(code)) == PAPI_OK && PAPI_set_multiplex(set) == PAPI_OK;
  PAPI_destroy_eventset(&set);
  return can;
}

bool refused(const Run& run, const std::string& event, const std::string& why) {
  return std::any_of(run.notes.begin(), run.notes.end(), [&](const std::string& n) { return n.find("'" + event + "' cannot be counted") != std::string::npos && n.find(why) != std::string::npos; });
}

}  // namespace

TEST_CASE("events that do not fit are named, and fit where they take turns") {
  const Run without = burn(false);
  if (refused(without, events[0], "")) SKIP("the kernel lets nobody count its events here (perf_event_paranoid): " + without.notes[0]);
  CHECK_FALSE(refused(without, events[1], ""));
  CHECK(refused(without, events[2], "MULTIPLEX=1"));
  CHECK(refused(without, events[3], "MULTIPLEX=1"));
  CHECK(without.counted[0] > 0.95 * without.cpu_ns);

  const Run with = burn(true);
  CHECK_FALSE(refused(with, events[0], ""));
  CHECK_FALSE(refused(with, events[1], ""));
  if (!can_take_turns()) {
    // Those that do not fit are named; the others must not be lost with them.
    CHECK(refused(with, events[2], ""));
    CHECK(refused(with, events[3], ""));
    CHECK(with.counted[0] > 0.95 * with.cpu_ns);
    SKIP("PAPI lets no events take turns on this machine, which has no hardware counters");
  }
  for (const std::string& event : events) CHECK_FALSE(refused(with, event, ""));
  // An estimate, scaled by the share of the time that the event had its turn.
  CHECK(with.counted[0] > 0.8 * with.cpu_ns);
  CHECK(with.counted[0] < 1.25 * with.cpu_ns);
}
