// Where counts beside the clock come from: the interface that the built-in sources and adapters implement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace effort::measure {

/// One thing that a source counts.
struct Counter {
  std::string name, unit;
  double scale = 1;    ///< a value times this is in `unit`
  bool value = false;  ///< a state (memory in use), not something that only grows: read at the end of a step, as it is
  bool whole = false;  ///< counts for the whole process: read by the thread that began the session, 0 in all others
  bool estimated = false;  ///< may fall a little now and then (multiplexed events): a fall is no news
};

/// Reads counters on behalf of the thread that opened it.
class CounterReader {
 public:
  /// By the thread that opened it; or by any other once that one has ended.
  virtual ~CounterReader() = default;
  /// Current readings in the order of MetricSource::counters().  Neither allocates nor locks; a counter that gives
  /// nothing now reads `no_reading`.
  virtual void read(std::int64_t* values) noexcept = 0;
  /// The thread that opened it is ending: the last call before destruction.
  virtual void thread_ends() noexcept {}
};

inline constexpr std::int64_t no_reading = INT64_MIN;
inline constexpr std::size_t most_counters = 32;  ///< of a source

/// A set of counters.  Any thread may open it.
class MetricSource {
 public:
  virtual ~MetricSource() = default;
  virtual const std::vector<Counter>& counters() const = 0;
  /// A reader for the calling thread; null where this thread cannot count.
  /// @param whole  this thread reads what counts for the whole process
  virtual std::unique_ptr<CounterReader> open(bool whole) = 0;
  /// What turned out while counting and belongs into the run's notes; empty when all is well.
  virtual std::vector<std::string> remarks() const { return {}; }
};

/// Several sources as one.
class SourceSet {
 public:
  void add(std::shared_ptr<MetricSource> source);
  int count() const noexcept { return static_cast<int>(counters_.size()); }
  const std::vector<Counter>& counters() const noexcept { return counters_; }
  /// Null when the set is empty; a source that this thread cannot open reads `no_reading`.
  std::unique_ptr<CounterReader> open(bool whole) const;
  std::vector<std::string> remarks() const;

 private:
  std::vector<std::shared_ptr<MetricSource>> sources_;
  std::vector<Counter> counters_;
};

/// "cpu_time", "page_faults", "context_switches", "rss": what the kernel counts, without a library.
bool is_builtin_counter(const std::string& name);
/// The source of one of those.
std::shared_ptr<MetricSource> builtin_source(const std::string& name);

/// How events of a counter library are to be counted.
struct EventOptions {
  bool multiplex = false;  ///< let more events share the hardware's counters than fit, by taking turns
};

/// What a library of events answered.
struct EventAnswer {
  std::shared_ptr<MetricSource> source;                      ///< of those that can be counted; null for none
  std::vector<std::pair<std::string, std::string>> refused;  ///< name, reason
};

/// Asks the adapter for hardware and software events (libeffort_papi.so, loaded at the first call).  A name may end in
/// "@value": a state, not a count.  Never throws for what cannot be counted.
EventAnswer event_source(const std::vector<std::string>& names, const EventOptions& options);

/// The adapter's only symbol, `effort_event_source`.  `version` is this build's; another is refused.
using EventSourceFn = int (*)(const char* version, const std::vector<std::string>* names, const EventOptions* options,
                              EventAnswer* answer);

/// What a counter has grown by between two readings, modulo 2^64; a counter of 32, 40 or 48 bits that wrapped is
/// recognised (from the last eighth of its range into the first).  A counter that fell otherwise has been reset:
/// nothing is counted and `fell` is set.
std::int64_t growth(std::int64_t before, std::int64_t now, bool& fell) noexcept;

}  // namespace effort::measure
