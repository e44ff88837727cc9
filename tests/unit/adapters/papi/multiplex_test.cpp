// Multiplexed events, on a machine that is simulated to have two counters. The events are the kernel's own, which every
// Linux has.
#include "frames.hpp"

#include "runtime/measure/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>

#include <dlfcn.h>
#include <linux/perf_event.h>
#include <papi.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace effort::measure;

/// Replaces PAPI's function for the adapter: a set of more than two events fits only if it is multiplexed.
extern "C" int PAPI_add_event(int set, int code) {
  static const auto real = reinterpret_cast<int (*)(int, int)>(dlsym(RTLD_NEXT, "PAPI_add_event"));
  if (PAPI_num_events(set) >= 2 && PAPI_get_multiplex(set) == 0) return PAPI_ECNFLCT;
  return real(set, code);
}

/// Before PAPI multiplexes any events, it counts a hardware event. On a machine without such counters it gets the
/// kernel's clock instead.
extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
  static const auto real = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& a : arguments) a = va_arg(list, long);
  va_end(list);
  const auto call = [&](const void* first) {
    return real(number, first, arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  };
  const auto* const asked = reinterpret_cast<const perf_event_attr*>(arguments[0]);
  const long got = call(asked);
  if (got >= 0 || errno != ENOENT || number != SYS_perf_event_open || asked->type != PERF_TYPE_HARDWARE) return got;
  perf_event_attr instead = *asked;
  instead.type = PERF_TYPE_SOFTWARE;
  instead.config = PERF_COUNT_SW_TASK_CLOCK;
  return call(&instead);
}

namespace {

const std::vector<std::string> events = {"perf::TASK-CLOCK", "perf::PAGE-FAULTS", "perf::CONTEXT-SWITCHES",
                                         "perf::CPU-MIGRATIONS"};

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
  for (const std::string& event : events)
    run.counted.push_back(frame.at(whole_step, rec.registry().metric(event.c_str(), "1").id));
  SlotRegistry::instance().retire_all();
  return run;
}

bool refused(const Run& run, const std::string& event, const std::string& why) {
  return std::any_of(run.notes.begin(), run.notes.end(), [&](const std::string& n) {
    return n.find("'" + event + "' cannot be counted") != std::string::npos && n.find(why) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("events that do not fit are named, and fit if they are multiplexed") {
  const Run without = burn(false);
  if (refused(without, events[0], ""))
    SKIP("the kernel does not allow its events to be counted here (perf_event_paranoid):  " + without.notes[0]);
  CHECK_FALSE(refused(without, events[1], ""));
  CHECK(refused(without, events[2], "MULTIPLEX=1"));
  CHECK(refused(without, events[3], "MULTIPLEX=1"));
  CHECK(without.counted[0] > 0.95 * without.cpu_ns);

  const Run with = burn(true);
  CHECK_FALSE(refused(with, events[0], ""));
  CHECK_FALSE(refused(with, events[1], ""));
  for (const std::string& event : events) CHECK_FALSE(refused(with, event, ""));
  // An estimate, scaled by the share of the time in which the event was counted.
  CHECK(with.counted[0] > 0.8 * with.cpu_ns);
  CHECK(with.counted[0] < 1.25 * with.cpu_ns);
}
