#include "adapters/papi/papi_source.hpp"

#include "adapters/papi/sde_tool.hpp"
#include "runtime/environment.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include <papi.h>
#include <pthread.h>
#include <unistd.h>

namespace effort::adapters {

using measure::Counter;
using measure::no_reading;

struct PapiSource::State {
  std::vector<Counter> counters;
  std::vector<EventGroup> groups;
  std::unique_ptr<std::atomic<bool>[]> seen;  ///< [counters] whether it has returned a value
  std::mutex mutex;
  std::vector<std::string> troubles;  ///< problems at opening, each listed once

  void trouble(const std::string& text) {
    const std::lock_guard lock(mutex);
    if (std::find(troubles.begin(), troubles.end(), text) == troubles.end()) troubles.push_back(text);
  }
};

namespace {

unsigned long this_thread() { return static_cast<unsigned long>(pthread_self()); }

/// Initialises PAPI for this process if the host has not; returns "" or the reason of failure.  PAPI is never shut
/// down, because the host may use it too.
const std::string& papi_failure() {
  static const std::string failure = [] {
    if (PAPI_is_initialized() == PAPI_NOT_INITED) {
      // Its components load libraries from folders that the user's environment names.
      if (privileged())
        return std::string("PAPI is not started in a process that has more rights than its user (setuid, for example)");
      const int version = PAPI_library_init(PAPI_VER_CURRENT);
      if (version > 0 && version != PAPI_VER_CURRENT)
        return std::string(
            "the loaded PAPI has another version than the one that this adapter was built with: load that one");
      if (version != PAPI_VER_CURRENT) return std::string("PAPI could not be initialized: ") + PAPI_strerror(version);
    }
    const int threads = PAPI_thread_init(this_thread);
    return threads == PAPI_OK ? std::string()
                              : std::string("PAPI could not be prepared for threads: ") + PAPI_strerror(threads);
  }();
  return failure;
}

std::string because(int code) {
  return PAPI_strerror(code) ? PAPI_strerror(code) : "PAPI error " + std::to_string(code);
}

void discard(int set) {
  PAPI_cleanup_eventset(set);
  PAPI_destroy_eventset(&set);
}

/// An event set of a group's component with the group's events so far; PAPI_NULL, with PAPI's code in `error`, if it
/// fails.
int set_of(const EventGroup& group, int& error) {
  int set = PAPI_NULL;
  error = PAPI_create_eventset(&set);
  if (error != PAPI_OK) return PAPI_NULL;
  error = PAPI_assign_eventset_component(set, group.component);
  if (error == PAPI_OK && group.multiplexed) error = PAPI_set_multiplex(set);
  for (std::size_t i = 0; i < group.codes.size() && error == PAPI_OK; ++i) error = PAPI_add_event(set, group.codes[i]);
  if (error == PAPI_OK) return set;
  discard(set);
  return PAPI_NULL;
}

/// The running event sets of one thread.
class Reader final : public measure::CounterReader {
 public:
  Reader(std::shared_ptr<PapiSource::State> state, bool whole) : state_(std::move(state)) {
    PAPI_register_thread();
    for (const EventGroup& group : state_->groups) {
      if (!group.per_thread && !whole) continue;
      int error = PAPI_OK;
      const int set = set_of(group, error);
      if (error == PAPI_OK) error = PAPI_start(set);
      if (error == PAPI_OK) {
        running_.push_back({set, &group});
        continue;
      }
      if (set != PAPI_NULL) discard(set);
      std::string names;
      for (const std::size_t place : group.places)
        names += (names.empty() ? "'" : ", '") + state_->counters[place].name + "'";
      state_->trouble("metric " + names + " is not counted in some threads: " + because(error) +
                      (error == PAPI_EISRUN ? " (another event set of component " + group.component_name +
                                                  " is running, perhaps the application's own)"
                                            : ""));
    }
    // A single set with all counters returns the values in the right order.
    count_ = state_->counters.size();
    direct_ = running_.size() == 1 && running_[0].group->places.size() == count_;
    if (direct_) direct_set_ = running_[0].set;
    some_absent_ = direct_ && running_[0].group->may_be_absent[0];
    if (!some_absent_) return;
    std::vector<std::string> names;
    for (const Counter& c : state_->counters) names.push_back(c.name);
    sde_.open(names);
  }
  ~Reader() override {
    long long last[measure::most_counters];
    for (const Running& r : running_) {
      PAPI_stop(r.set, last);
      discard(r.set);
    }
    if (unregister_) PAPI_unregister_thread();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Not earlier, because the application may also count in this thread.  The main thread's registration belongs to
  /// PAPI.
  void thread_ends() noexcept override { unregister_ = gettid() != getpid(); }

  void read(std::int64_t* values) noexcept override {
    static_assert(sizeof(long long) == sizeof(std::int64_t));
    auto* const direct = reinterpret_cast<long long*>(values);
    if (!sde_.is_open()) return read_by_papi(values);
    // The usual case is the shortest: this is called at every region boundary.
    if (__builtin_expect(!sde_.read(direct) || !all_seen_, 0)) take_out_absent(values);
  }

 private:
  [[gnu::noinline]] void read_by_papi(std::int64_t* values) noexcept {
    if (direct_ && PAPI_read(direct_set_, reinterpret_cast<long long*>(values)) == PAPI_OK) {
      if (some_absent_) take_out_absent(values);
      return;
    }
    std::fill(values, values + state_->counters.size(), no_reading);
    for (const Running& r : running_) sort(r, values);
  }

  struct Running {
    int set;
    const EventGroup* group;
  };

  /// Either all events of a component are software-defined or none is.
  [[gnu::noinline]] void take_out_absent(std::int64_t* values) noexcept {
    bool all = true;
    for (std::size_t i = 0; i < count_; ++i)
      if (values[i] == -1) {
        values[i] = no_reading;
        all = false;
      }
    if (__builtin_expect(all && all_seen_, 1)) return;
    all_seen_ = all;
    for (std::size_t i = 0; i < count_; ++i)
      if (values[i] != no_reading) state_->seen[i].store(true, std::memory_order_relaxed);
  }

  void sort(const Running& r, std::int64_t* values) noexcept {
    long long fresh[measure::most_counters];
    if (PAPI_read(r.set, fresh) != PAPI_OK) return;
    for (std::size_t i = 0; i < r.group->places.size(); ++i) {
      const std::size_t place = r.group->places[i];
      if (r.group->may_be_absent[i] && fresh[i] == -1) continue;
      values[place] = fresh[i];
      if (r.group->may_be_absent[i]) state_->seen[place].store(true, std::memory_order_relaxed);
    }
  }

  std::shared_ptr<PapiSource::State> state_;
  std::vector<Running> running_;
  SdeTool sde_;
  std::size_t count_ = 0;
  int direct_set_ = PAPI_NULL;
  bool direct_ = false, some_absent_ = false, all_seen_ = false, unregister_ = false;
};

/// Finds groups for events, one after the other.
class Prober {
 public:
  explicit Prober(bool multiplex) : multiplex_(multiplex) {}

  /// Empty, or PAPI's reason why `event` cannot be counted.
  std::string add(const std::string& event, std::size_t place) {
    int code = 0;
    if (const int error = PAPI_event_name_to_code(event.c_str(), &code); error != PAPI_OK) return because(error);
    const int component = PAPI_get_event_component(code);
    const PAPI_component_info_t* info = component >= 0 ? PAPI_get_component_info(component) : nullptr;
    if (!info) return "PAPI knows no component that counts it";
    EventGroup& group = group_of(component, *info);
    group.codes.push_back(code);
    group.places.push_back(place);
    group.may_be_absent.push_back(group.component_name == "sde");
    std::string reason = attempt(group, info->kernel_multiplex);
    if (!reason.empty()) {
      group.codes.pop_back();
      group.places.pop_back();
      group.may_be_absent.pop_back();
    }
    return reason;
  }

  /// The groups that are not empty.
  std::vector<EventGroup> groups() {
    std::erase_if(groups_, [](const EventGroup& g) { return g.codes.empty(); });
    return std::move(groups_);
  }

 private:
  EventGroup& group_of(int component, const PAPI_component_info_t& info) {
    for (EventGroup& g : groups_)
      if (g.component == component) return g;
    EventGroup g;
    g.component = component;
    g.component_name = info.name;
    // PAPI reports thread granularity for software-defined events too, but they count for the process.
    g.per_thread = g.component_name == "perf_event";
    groups_.push_back(std::move(g));
    return groups_.back();
  }

  /// Adds the group's events and starts them: some components report problems only then.
  std::string attempt(EventGroup& group, bool kernel_multiplex) {
    int error = PAPI_OK;
    int set = set_of(group, error);
    if (error == PAPI_ECNFLCT || error == PAPI_ECOUNT) {
      if (!multiplex_)
        return because(error) + " (there are more events than counters: set MULTIPLEX=1 to let them take turns)";
      // PAPI's own multiplexing uses timer signals, which belong to the host.
      if (!kernel_multiplex)
        return because(error) + " (component " + group.component_name +
               " cannot be multiplexed by the kernel: request fewer of its events)";
      if (!group.multiplexed) {
        PAPI_multiplex_init();
        group.multiplexed = true;
        set = set_of(group, error);
        // PAPI refuses if the machine has no hardware counters.  The events so far fit, so they are counted all the
        // time.
        if (error != PAPI_OK) group.multiplexed = false;
      }
    }
    if (error != PAPI_OK) return because(error);
    error = PAPI_start(set);
    long long last[measure::most_counters];
    if (error == PAPI_OK) PAPI_stop(set, last);
    discard(set);
    // Another set may be running only now; each thread checks again when it opens its reader.
    return error == PAPI_OK || error == PAPI_EISRUN ? std::string() : because(error);
  }

  const bool multiplex_;
  std::vector<EventGroup> groups_;
};

}  // namespace

PapiSource::PapiSource(std::vector<Counter> counters, std::vector<EventGroup> groups)
    : state_(std::make_shared<State>()) {
  state_->seen = std::make_unique<std::atomic<bool>[]>(counters.size());
  state_->counters = std::move(counters);
  state_->groups = std::move(groups);
}

const std::vector<Counter>& PapiSource::counters() const { return state_->counters; }

std::unique_ptr<measure::CounterReader> PapiSource::open(bool whole) {
  const bool any = std::any_of(state_->groups.begin(), state_->groups.end(),
                               [&](const EventGroup& g) { return g.per_thread || whole; });
  return any ? std::make_unique<Reader>(state_, whole) : nullptr;
}

std::vector<std::string> PapiSource::remarks() const {
  std::vector<std::string> all;
  for (const EventGroup& group : state_->groups)
    for (std::size_t i = 0; i < group.places.size(); ++i)
      if (group.may_be_absent[i] && !state_->seen[group.places[i]].load(std::memory_order_relaxed))
        all.push_back("metric '" + state_->counters[group.places[i]].name +
                      "' was never registered as a software-defined event by the application: PAPI accepts any such "
                      "name, so check its spelling");
  const std::lock_guard lock(state_->mutex);
  all.insert(all.end(), state_->troubles.begin(), state_->troubles.end());
  return all;
}

measure::EventAnswer papi_events(const std::vector<std::string>& names, const measure::EventOptions& options) {
  measure::EventAnswer answer;
  if (const std::string& failure = papi_failure(); !failure.empty()) {
    for (const std::string& name : names) answer.refused.emplace_back(name, failure);
    return answer;
  }
  constexpr std::string_view suffix = "@value";
  std::vector<Counter> counters;
  Prober prober(options.multiplex);
  for (const std::string& name : names) {
    if (counters.size() == measure::most_counters) {
      answer.refused.emplace_back(
          name, "at most " + std::to_string(measure::most_counters) + " events can be counted at once");
      continue;
    }
    Counter c{name, "1"};
    if (name.ends_with(suffix)) {
      c.name.resize(name.size() - suffix.size());
      c.value = true;
    }
    if (std::string reason = prober.add(c.name, counters.size()); reason.empty())
      counters.push_back(std::move(c));
    else
      answer.refused.emplace_back(name, std::move(reason));
  }
  std::vector<EventGroup> groups = prober.groups();
  for (const EventGroup& group : groups)
    for (const std::size_t place : group.places) {
      counters[place].whole = !group.per_thread;
      counters[place].estimated = group.multiplexed;
    }
  if (!counters.empty()) answer.source = std::make_shared<PapiSource>(std::move(counters), std::move(groups));
  return answer;
}

}  // namespace effort::adapters

extern "C" __attribute__((visibility("default"))) int effort_event_source(const char* version,
                                                                          const std::vector<std::string>* names,
                                                                          const effort::measure::EventOptions* options,
                                                                          effort::measure::EventAnswer* answer) {
  if (std::string(version) != EFFORT_VERSION_STRING) return -1;
  try {
    *answer = effort::adapters::papi_events(*names, *options);
    return 0;
  } catch (const std::exception&) {
    return -2;  // out of memory: the caller reports all names as refused
  }
}
