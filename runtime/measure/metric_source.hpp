// The interface of counter sources, implemented by the built-in ones and by adapters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace effort::measure {

/// A quantity that a source counts.
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
  /// Called by the thread that opened it, or by any other after that one has ended.
  virtual ~CounterReader() = default;
  /// Current readings in the order of MetricSource::counters().  Does not allocate or lock.  A counter without a value
  /// reads `no_reading`.
  virtual void read(std::int64_t* values) noexcept = 0;
  /// Called when the thread that opened it ends: the last call before destruction.
  virtual void thread_ends() noexcept {}
};

inline constexpr std::int64_t no_reading = INT64_MIN;
inline constexpr std::size_t most_counters = 32;  ///< of a source

/// A set of counters.  Any thread may open it.
class MetricSource {
 public:
  virtual ~MetricSource() = default;
  virtual const std::vector<Counter>& counters() const = 0;
  /// Makes a reader for the calling thread; null if this thread cannot count.
  /// @param whole  this thread also reads counters of the whole process
  virtual std::unique_ptr<CounterReader> open(bool whole) = 0;
  /// Problems found while counting, for the run's notes; empty if there were none.
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

/// Counters of the kernel that need no library: "cpu_time", "page_faults", "context_switches", "rss".
bool is_builtin_counter(const std::string& name);
/// The source of one of those.
std::shared_ptr<MetricSource> builtin_source(const std::string& name);

/// Options for counting a library's events.
struct EventOptions {
  bool multiplex = false;  ///< let more events share the hardware's counters than fit, by taking turns
};

/// The answer of a counter library.
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

/// The growth of a counter between two readings, modulo 2^64.  Recognises counters of 32, 40 or 48 bits that wrapped
/// (from the last eighth of their range into the first).  A counter that fell otherwise was reset: the growth is 0 and
/// `fell` is set.
std::int64_t growth(std::int64_t before, std::int64_t now, bool& fell) noexcept;

}  // namespace effort::measure
