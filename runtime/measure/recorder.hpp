// Turns the running totals of all host threads into one frame per step.
#pragma once

#include "runtime/measure/frame.hpp"
#include "runtime/measure/guard.hpp"
#include "runtime/measure/registry.hpp"
#include "runtime/measure/thread_slot.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace effort::measure {

/// How the threads of a rank make up its load.
enum class LoadThreads { max, sum };

/// How it is measured.
struct Options {
  bool per_region = false;   ///< counters beside the clock are read at every region boundary instead of once a step
  bool multiplex = false;    ///< see EventOptions
  double max_overhead = 0;   ///< share of the computing time that measuring may take; 0: no guard
  bool operator==(const Options&) const = default;
};

/// What a rebalance cost a rank, in seconds; negative: unknown.  How ranks' prices become one: docs/adr/0018.
struct Price {
  double elapsed = -1;    ///< with whatever waiting cannot be told apart
  double computing = -1;  ///< without any: where communication is marked
};

/// One rank's measurement.  Measuring calls come from any host thread; end_step from one thread at a time.
class Recorder {
 public:
  /// @param metrics   built-in metrics beside `time`, and events (metric_source.hpp)
  /// @param load_metric  name of a built-in or application metric, or of an event
  /// What cannot be counted becomes a note; for the load metric see load_refusal().
  Recorder(const std::vector<std::string>& metrics, const std::string& load_metric, LoadThreads threads, const Options& options = {});
  ~Recorder();

  Registry& registry() noexcept { return registry_; }
  /// Number of the session in this process, from 1.
  std::uint64_t session() const noexcept { return session_; }
  /// Whether it was made with these choices.
  bool measures(const std::vector<std::string>& metrics, const std::string& load_metric, LoadThreads threads, const Options& options = {}) const;
  /// Why the load cannot be measured as asked for; empty when it can.
  const std::string& load_refusal() const noexcept { return load_refusal_; }

  // ---- the slow paths of the host's calls; each makes the calling thread's slot ready first
  /// The calling thread's slot, prepared for this session and for all regions known now.
  ThreadSlot& slot();
  void add_seconds(std::uint32_t region, double seconds);
  void add_work(std::uint32_t unit, double amount);
  void add_metric(std::uint32_t metric, double value);

  // ---- progress
  /// Appends definitions that are new to `out`.
  void publish_definitions(RecordStream& out) { read_definitions(out); }
  /// Appends definitions that are new, then the frame of steps first..last, to `out`.
  void end_step(std::int64_t first_step, std::int64_t last_step, RecordStream& out);
  /// Around a rebalance, in one thread: what it costs this rank, on the clock that loads are measured with.
  void begin_price(Pricing& around);
  Price end_price(const Pricing& around);
  /// What the thread of the rebalance under way had added to the load since the last step when it began, in the load's unit.
  double load_before_price() const noexcept { return load_before_price_; }
  /// Seconds that measuring has cost the busiest thread so far, as far as it is known: boundaries by their number, ends of
  /// steps by the clock.
  double own_seconds() const noexcept { return own_seconds_; }
  /// What has passed since the last boundary of the calling thread was the library's: in no region, and in no price.
  void resume();
  /// Appends what is left to say at the end of the run: notes about counters.
  void last_words(RecordStream& out);
  std::int64_t conflicts() const noexcept { return conflicts_.load(std::memory_order_relaxed); }
  void count_conflict() noexcept { conflicts_.fetch_add(1, std::memory_order_relaxed); }
  void set_phase(std::uint32_t phase) noexcept { phase_.store(phase, std::memory_order_relaxed); }
  /// Whether the load is time, wall or CPU, so that it can be weighed against a price.
  bool load_is_seconds() const noexcept { return load_metric_ == 0 || load_is_cpu_time_; }

 private:
  struct SlotReader;  // what was seen of one slot at the last step

  /// A counter's place among the series.
  struct CounterMetric {
    std::uint32_t id;
    double scale;
    bool value;
  };

  void choose_counters();
  void adopt_counters(const std::vector<std::string>& names, SourceSet& set, std::vector<CounterMetric>& metrics);
  bool is_counter(const std::string& name) const;
  static bool is_value(const std::string& name) { return name == "rss" || name.ends_with("@value"); }
  void read_slot(SlotReader& reader, std::uint64_t now);
  void read_ticks(SlotReader& reader, std::uint32_t n, std::uint64_t now);
  void read_counters(SlotReader& reader, std::uint32_t n);
  void ask(ThreadSlot& slot, std::uint32_t what);
  void add_load(SlotReader& reader, std::uint64_t& last, std::uint64_t total, double scale);
  double read_begins(SlotReader& reader, std::uint32_t n);
  void tell_own(SlotReader& reader);
  double load_since_step(const ThreadSlot& slot) const;
  double own_in_waits(const SlotReader& reader, std::uint32_t region) const;
  double computing(double wall);
  void fold_threads(std::uint32_t region, double value);
  void write_threads();
  void measure_cost(ThreadSlot& own);
  void guard_step(std::uint64_t now);
  void offer_periods(SlotReader& reader);
  void note_sampling();
  void read_definitions(RecordStream& out);
  void fold(std::uint32_t series, std::uint32_t region, double value, bool sum);

  Registry registry_;
  const std::uint64_t session_;
  const std::vector<std::string> metrics_;
  const std::string load_metric_name_;
  const LoadThreads threads_;
  const Options options_;
  // What METRICS asks for beside clocks and counters; 0: not.
  std::uint32_t calls_metric_ = 0, thread_sum_metric_ = 0, thread_max_metric_ = 0, thread_imbalance_metric_ = 0;
  const std::thread::id began_;            ///< reads what counts for the whole process
  bool load_is_cpu_time_ = false;
  SourceSet boundary_, at_step_;
  std::vector<CounterMetric> boundary_metrics_, step_metrics_;
  std::string load_refusal_;
  std::uint32_t load_metric_;
  int cpu_counter_ = -1;                   ///< place of cpu_time among the boundary counters; -1: not read
  std::atomic<std::uint32_t> phase_{0};
  std::atomic<std::int64_t> conflicts_{0};

  ThreadSlot* priced_ = nullptr;           ///< of the rebalance under way
  double load_before_price_ = 0;

  // Owned by the thread that ends steps.
  std::vector<std::unique_ptr<SlotReader>> readers_;
  std::vector<Kind> kinds_;                ///< by region id
  std::size_t published_definitions_ = 0;
  std::uint64_t last_stamp_ = 0;
  double step_wait_ = 0;
  double step_load_ = 0;
  double own_seconds_ = 0;
  double step_own_ = 0;                    ///< seconds that boundaries cost the busiest thread
  double thread_load_ = 0;
  std::vector<double> values_;             ///< [series][region] of the step, zero where untouched
  std::size_t stride_ = 0;                 ///< regions per series in values_
  std::size_t n_series_ = 0;
  std::vector<double> work_;               ///< [unit]
  std::vector<double> step_values_;        ///< [step counter]
  /// The load of a region's threads in the step.
  struct Team {
    double sum = 0, most = 0;
    int threads = 0;
  };
  std::vector<Team> teams_;                ///< [region]; empty where nobody asked

  Guard guard_;
  PairCost cost_{0, 0};                    ///< measured at the first step
  double own_begin_ = 0, own_end_ = 0;     ///< ticks of that before begins and before ends
  double reading_ = 0;                     ///< seconds that a reading of the CPU clock costs, where not every boundary has one
  std::uint32_t sampling_version_ = 0;     ///< of the guard's periods
  std::vector<bool> noted_;                ///< [region] its sampling is in the notes
  int notes_left_ = 16;
  std::uint64_t look_stamp_ = 0;           ///< when the guard looked last
  int looked_steps_ = 0;                   ///< since then
  int exhausted_looks_ = 0;                ///< in a row
  std::vector<std::int64_t> per_step_;     ///< [region] calls of a step in the last interval
  std::thread::id stepping_;               ///< ended the last step
  std::int64_t looked_cpu_ = 0;            ///< CPU time of that thread when the guard looked last
  double waited_ = 0;                      ///< seconds that it has waited since, on the load's clock if that is CPU time
  double step_cost_ = 0;                   ///< seconds that ending the last step took
  double fixed_ = 0;                       ///< the same, since the guard looked last
};

}  // namespace effort::measure
