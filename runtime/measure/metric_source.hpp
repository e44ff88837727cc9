// The interface of counter sources, which the built-in sources and the adapters implement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace effort::measure {

/// One counter of a source.
struct Counter {
  std::string name, unit;
  double scale = 1;    ///< a value times this is in `unit`
  bool value = false;  ///< a state (such as memory in use), not a growing count: its value at the end of a step is kept
  bool whole = false;  ///< covers the whole process: read by the thread that began the session, 0 in all others
  bool estimated = false;  ///< may occasionally fall slightly (multiplexed events); such a fall is not reported
};

/// Reads counters on behalf of the thread that opened it.
class CounterReader {
 public:
  /// Called by the thread that opened the reader, or by any thread after that one has ended.
  virtual ~CounterReader() = default;
  /// Current readings in the order of MetricSource::counters().  Neither allocates nor locks.  A counter that is
  /// currently unavailable reads `no_reading`.
  virtual void read(std::int64_t* values) noexcept = 0;
  /// Called when the thread that opened the reader ends; the last call before destruction.
  virtual void thread_ends() noexcept {}
};

inline constexpr std::int64_t no_reading = INT64_MIN;
inline constexpr std::size_t most_counters = 32;  ///< per source

/// A set of counters.  Any thread may open it.
class MetricSource {
 public:
  virtual ~MetricSource() = default;
  virtual const std::vector<Counter>& counters() const = 0;
  /// Opens a reader for the calling thread; null if this thread cannot count.
  /// @param whole  this thread reads the counters that cover the whole process
  virtual std::unique_ptr<CounterReader> open(bool whole) = 0;
  /// Problems that appeared while counting, for the run's notes; empty if there were none.
  virtual std::vector<std::string> remarks() const { return {}; }
};

/// Several sources as one.
class SourceSet {
 public:
  void add(std::shared_ptr<MetricSource> source);
  int count() const noexcept { return static_cast<int>(counters_.size()); }
  const std::vector<Counter>& counters() const noexcept { return counters_; }
  /// Opens a reader for all sources; null if the set is empty.  A source that this thread cannot open reads
  /// `no_reading`.
  std::unique_ptr<CounterReader> open(bool whole) const;
  std::vector<std::string> remarks() const;

 private:
  std::vector<std::shared_ptr<MetricSource>> sources_;
  std::vector<Counter> counters_;
};

/// Whether the name is "cpu_time", "page_faults", "context_switches" or "rss", which the kernel counts: no library is
/// needed.
bool is_builtin_counter(const std::string& name);
/// The source of a built-in counter.
std::shared_ptr<MetricSource> builtin_source(const std::string& name);

/// Options for counting a library's events.
struct EventOptions {
  bool multiplex = false;  ///< let more events share the hardware's counters than fit, by taking turns
};

/// The answer of a counter library.
struct EventAnswer {
  std::shared_ptr<MetricSource> source;                      ///< counts the available events; null if there are none
  std::vector<std::pair<std::string, std::string>> refused;  ///< name, reason
};

/// Asks the adapter for hardware and software events (libeffort_papi.so, loaded at the first call).  A name that ends
/// in "@value" denotes a state, not a count.  Events that cannot be counted are returned as refused; they never throw.
EventAnswer event_source(const std::vector<std::string>& names, const EventOptions& options);

/// The adapter's only symbol, `effort_event_source`.  It refuses a `version` other than its own build's.
using EventSourceFn = int (*)(const char* version, const std::vector<std::string>* names, const EventOptions* options,
                              EventAnswer* answer);

/// The growth of a counter between two readings, modulo 2^64.  A counter of 32, 40 or 48 bits is taken to have wrapped
/// if it went from the last eighth of its range into the first.  A counter that fell otherwise has been reset: nothing
/// is counted and `fell` is set.
std::int64_t growth(std::int64_t before, std::int64_t now, bool& fell) noexcept;

}  // namespace effort::measure
