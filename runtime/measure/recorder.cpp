#include "runtime/measure/recorder.hpp"

#include "runtime/measure/boundary.hpp"
#include "runtime/measure/slot_reader.hpp"

#include <algorithm>
#include <tuple>

namespace effort::measure {
namespace {

std::atomic<std::uint64_t> sessions{0};

void add(std::atomic<double>& cell, double value) {
  cell.store(cell.load(std::memory_order_relaxed) + value, std::memory_order_release);
}

}  // namespace

namespace {

/// Made from the slots' own totals; everything else in METRICS is a counter.
bool is_derived(const std::string& name) {
  return name == "time" || name == "calls" || name == "thread_sum" || name == "thread_max" || name == "thread_imbalance";
}

}  // namespace

Recorder::Recorder(const std::vector<std::string>& metrics, const std::string& load_metric, LoadThreads threads, const Options& options)
    : session_(sessions.fetch_add(1, std::memory_order_relaxed) + 1), metrics_(metrics), load_metric_name_(load_metric),
      threads_(threads), options_(options), began_(std::this_thread::get_id()), guard_(options.max_overhead) {
  tick_rate();
  registry_.phase("main");
  registry_.metric("time", "s");
  choose_counters();
  // An application metric's unit is known when the application defines it; the name reserves its id now.
  load_metric_ = load_metric == "time" ? 0 : registry_.metric(load_metric.c_str(), "").id;
  load_is_cpu_time_ = load_metric == "cpu_time";
  const std::string load_unit = load_metric == "time" || load_is_cpu_time_ ? "s" : "";
  for (const auto& [name, id, unit] : {std::tuple{"calls", &calls_metric_, std::string("1")}, {"thread_sum", &thread_sum_metric_, load_unit},
                                       {"thread_max", &thread_max_metric_, load_unit}, {"thread_imbalance", &thread_imbalance_metric_, load_unit}})
    if (std::find(metrics_.begin(), metrics_.end(), name) != metrics_.end()) *id = registry_.metric(name, unit.c_str()).id;
  kinds_.push_back(Kind::compute);  // `outside`: takes application metrics that belong to no region
  last_stamp_ = look_stamp_ = ticks();
}

/// Sorts what METRICS and LOAD_METRIC name into what is read at boundaries and what is read once a step.
void Recorder::choose_counters() {
  std::vector<std::string> at_boundaries, at_steps;
  auto place = [&](const std::string& name, bool boundary) {
    auto& where = boundary ? at_boundaries : at_steps;
    if (std::find(at_boundaries.begin(), at_boundaries.end(), name) == at_boundaries.end() &&
        std::find(where.begin(), where.end(), name) == where.end())
      where.push_back(name);
  };
  if (is_counter(load_metric_name_)) place(load_metric_name_, true);
  for (const std::string& name : metrics_)
    if (!is_derived(name)) place(name, name == "cpu_time" || (options_.per_region && !is_value(name)));
  adopt_counters(at_boundaries, boundary_, boundary_metrics_);
  adopt_counters(at_steps, at_step_, step_metrics_);
}

bool Recorder::is_counter(const std::string& name) const {
  return is_builtin_counter(name) || name.starts_with("PAPI_") || name.find(':') != std::string::npos ||
         (!is_derived(name) && std::find(metrics_.begin(), metrics_.end(), name) != metrics_.end());
}

void Recorder::adopt_counters(const std::vector<std::string>& names, SourceSet& set, std::vector<CounterMetric>& metrics) {
  std::vector<std::string> events;
  for (const std::string& name : names)
    if (is_builtin_counter(name))
      set.add(builtin_source(name));
    else
      events.push_back(name);
  EventAnswer answer = event_source(events, {options_.multiplex});
  if (answer.source) set.add(std::move(answer.source));
  for (const auto& [name, reason] : answer.refused) {
    if (name == load_metric_name_) load_refusal_ = "LOAD_METRIC '" + name + "' cannot be counted: " + reason;
    registry_.note(("metric '" + name + "' cannot be counted: " + reason).substr(0, max_name).c_str());
  }
  for (const Counter& c : set.counters()) metrics.push_back({registry_.metric(c.name.c_str(), c.unit.c_str()).id, c.scale, c.value});
  for (std::size_t i = 0; i < set.counters().size(); ++i)
    if (set.counters()[i].name == "cpu_time" && &set == &boundary_) cpu_counter_ = static_cast<int>(i);
}

Recorder::~Recorder() = default;

bool Recorder::measures(const std::vector<std::string>& metrics, const std::string& load_metric, LoadThreads threads, const Options& options) const {
  return metrics == metrics_ && load_metric == load_metric_name_ && threads == threads_ && options == options_;
}

ThreadSlot& Recorder::slot() {
  ThreadSlot& s = SlotRegistry::instance().acquire();
  prepare_slot(s, session_, registry_.n_regions(), {&boundary_, &at_step_, std::this_thread::get_id() == began_, &registry_, boundary_.count() == 1 && cpu_counter_ == 0});
  return s;
}

void Recorder::add_seconds(std::uint32_t region, double seconds) {
  ThreadSlot& s = slot();
  add_own(s.cells.load(std::memory_order_relaxed)[region].ticks, static_cast<std::uint64_t>(seconds / tick_rate().seconds_per_tick + 0.5));
  if (load_is_cpu_time_ && s.n_counters > 0) {
    auto& cpu = s.counters.load(std::memory_order_relaxed)[region * static_cast<std::size_t>(s.n_counters) + static_cast<std::size_t>(cpu_counter_)];
    cpu.store(cpu.load(std::memory_order_relaxed) + static_cast<std::int64_t>(seconds * 1e9 + 0.5),
              std::memory_order_release);
  }
}

void Recorder::add_work(std::uint32_t unit, double amount) { add(slot().work[unit], amount); }

void Recorder::add_metric(std::uint32_t metric, double value) {
  ThreadSlot& s = slot();
  add(metric_cells(s, metric)[innermost(s)], value);
}

void Recorder::begin_price(Pricing& around) {
  priced_ = &slot();
  around = open_price(*priced_);
  load_before_price_ = load_since_step(*priced_);
}

double Recorder::load_since_step(const ThreadSlot& s) const {
  const auto at = std::find_if(readers_.begin(), readers_.end(), [&](const auto& reader) { return reader->slot == &s; });
  const SlotReader* reader = at == readers_.end() ? nullptr : at->get();
  const std::uint32_t n = std::min<std::uint32_t>(s.known.load(std::memory_order_acquire), static_cast<std::uint32_t>(kinds_.size()) - 1) + 1;
  const auto width = static_cast<std::size_t>(s.n_counters);
  std::uint64_t ticks = 0, count = 0;
  double amount = 0;
  for (std::uint32_t r = 1; r < n; ++r) {
    if (kinds_[r] != Kind::compute) continue;
    ticks += s.cells.load(std::memory_order_acquire)[r].ticks.load(std::memory_order_relaxed);
    for (std::size_t c = 0; c < width; ++c)
      if (boundary_metrics_[c].id == load_metric_)
        count += static_cast<std::uint64_t>(s.counters.load(std::memory_order_acquire)[r * width + c].load(std::memory_order_relaxed));
    const std::atomic<double>* cells = load_metric_ < n_series_ ? s.metric[load_metric_].load(std::memory_order_acquire) : nullptr;
    if (!cells) continue;
    const bool read = reader && reader->metric.size() > load_metric_ && reader->metric[load_metric_].size() > r;
    amount += cells[r].load(std::memory_order_relaxed) - (read ? reader->metric[load_metric_][r] : 0.0);
  }
  if (load_metric_ == 0) return static_cast<double>(static_cast<std::int64_t>(ticks - (reader ? reader->load_ticks : 0))) * tick_rate().seconds_per_tick + amount;
  for (const CounterMetric& m : boundary_metrics_)
    if (m.id == load_metric_) return static_cast<double>(static_cast<std::int64_t>(count - (reader ? reader->load_counts : 0))) * m.scale;
  return amount;
}

Price Recorder::end_price(const Pricing& around) {
  ThreadSlot& s = slot();
  if (&s != priced_) ask(*priced_, stop_pricing);
  const Pricing p = close_price(s, around);
  if (!p.open || !load_is_seconds()) return {};
  const auto seconds = [&](const Pricing::Spent& spent) {
    return load_is_cpu_time_ ? static_cast<double>(spent.cpu_ns) * 1e-9 : static_cast<double>(spent.ticks) * tick_rate().seconds_per_tick;
  };
  const double whole = seconds(p.whole), own = std::max(0.0, whole - seconds(p.waited));
  // On a crowded core, waiting in marked communication takes CPU time, too; elapsed time has the transfer in it.
  return {load_is_cpu_time_ ? own : whole, p.marked ? own : -1};
}

void Recorder::read_definitions(RecordStream& out) {
  if (registry_.n_defined() == published_definitions_) return;
  for (const Defined& d : registry_.since(published_definitions_)) {
    out.definition(d);
    ++published_definitions_;
    // Other threads may define more at any time: this step knows what it has published, no more.
    if (d.what == Definition::region) kinds_.push_back(d.kind);
    if (d.what == Definition::metric) ++n_series_;
    if (d.what == Definition::unit) work_.push_back(0);
  }
}

void Recorder::fold(std::uint32_t series, std::uint32_t region, double value, bool sum) {
  double& v = values_[series * stride_ + region];
  v = sum ? v + value : std::max(v, value);
  if (series == load_metric_ && !teams_.empty()) fold_threads(region, value);
}

/// What a slot's COMPUTE regions have run up in all.  Where sampling corrects one region downwards and another up, their sum is right at once.
void Recorder::add_load(SlotReader& reader, std::uint64_t& last, std::uint64_t total, double scale) {
  const auto delta = static_cast<std::int64_t>(total - last);
  if (delta <= 0) return;
  last = total;
  thread_load_ += static_cast<double>(delta) * scale;
}

/// Called once per slot, region and step.
void Recorder::fold_threads(std::uint32_t region, double value) {
  Team& team = teams_[region];
  team.sum += value;
  team.most = std::max(team.most, value);
  ++team.threads;
}

/// Sum, maximum, and by how much the busiest thread exceeds the mean of those that took part.  Amounts, not ratios: they
/// add up over steps.
void Recorder::write_threads() {
  for (std::size_t r = 0; r < teams_.size(); ++r) {
    const Team& team = teams_[r];
    if (team.threads == 0) continue;
    auto set = [&](std::uint32_t metric, double value) {
      if (metric != 0) values_[metric * stride_ + r] = value;
    };
    set(thread_sum_metric_, team.sum);
    set(thread_max_metric_, team.most);
    set(thread_imbalance_metric_, team.most - team.sum / team.threads);
  }
}

/// What the boundaries of a region that waits have left out since the last step.  Without the library it would have waited as long.
double Recorder::own_in_waits(const SlotReader& reader, std::uint32_t region) const {
  if (kinds_[region] == Kind::compute || !reader.told) return 0;
  const std::int64_t begins = reader.slot->cells.load(std::memory_order_acquire)[region].begins.load(std::memory_order_relaxed) & ~sampled_sign;
  const std::uint64_t each = reader.slot->own.before_end.load(std::memory_order_relaxed);
  return static_cast<double>(static_cast<std::uint64_t>(begins - reader.begins[region]) * each) * tick_rate().seconds_per_tick;
}

/// How often a slot's regions were begun since the last step; returns the seconds that it cost.
double Recorder::read_begins(SlotReader& reader, std::uint32_t n) {
  const Cell* cells = reader.slot->cells.load(std::memory_order_acquire);
  const std::int64_t skips = reader.slot->skips.load(std::memory_order_relaxed);
  const std::uint64_t readings = reader.slot->cpu_readings.load(std::memory_order_relaxed);
  double seconds = static_cast<double>(skips - reader.skips) * (cost_.skipped - cost_.timed) + static_cast<double>(readings - reader.cpu_readings) * reading_;
  reader.skips = skips;
  reader.cpu_readings = readings;
  for (std::uint32_t r = 1; r < n; ++r) {
    const std::int64_t total = cells[r].begins.load(std::memory_order_relaxed) & ~sampled_sign;
    const std::int64_t delta = total - reader.begins[r];
    if (delta <= 0) continue;
    reader.begins[r] = total;
    if (calls_metric_ != 0) values_[calls_metric_ * stride_ + r] += static_cast<double>(delta);
    seconds += static_cast<double>(delta) * cost_.timed;
  }
  return std::max(0.0, seconds);
}

/// The ticks of a slot's regions since the last step.
void Recorder::read_ticks(SlotReader& reader, std::uint32_t n, std::uint64_t now) {
  const ThreadSlot& s = *reader.slot;
  const Cell* cells = s.cells.load(std::memory_order_acquire);
  // What the current region has run up since its last boundary, in another thread perhaps (see ThreadSlot).  What
  // sampling has a hand in is known at its next boundary.
  const std::uint32_t word = s.current.load(std::memory_order_acquire);
  const std::uint32_t running = word & (skipped | weighted) ? n : region_of(word);
  std::uint64_t running_total = 0;
  if (running < n) {
    running_total = cells[running].ticks.load(std::memory_order_acquire);
    const std::uint64_t stamp = s.stamp.load(std::memory_order_acquire);
    if (now > stamp) running_total += now - stamp;
  }
  const bool sum = threads_ == LoadThreads::sum;
  const double seconds_per_tick = tick_rate().seconds_per_tick;
  std::uint64_t load = 0;
  for (std::uint32_t r = 0; r < n; ++r) {
    std::uint64_t total = cells[r].ticks.load(std::memory_order_acquire);
    if (r == running) total = running_total;
    if (r != outside && kinds_[r] == Kind::compute) load += total;
    const auto delta = static_cast<std::int64_t>(total - reader.ticks[r]);
    // A running total that was read a little too far, or an estimate that was corrected, is made up for at a later step.
    if (delta <= 0) continue;
    reader.ticks[r] = total;
    if (r == outside) continue;
    const double seconds = static_cast<double>(delta) * seconds_per_tick + own_in_waits(reader, r);
    fold(0, r, seconds, sum);
    if (reader.own && kinds_[r] != Kind::compute) step_wait_ += seconds;
  }
  if (load_metric_ == 0) add_load(reader, reader.load_ticks, load, seconds_per_tick);
}

/// Counters of a slot: by region where they are read at boundaries, for the whole step otherwise.
void Recorder::read_counters(SlotReader& reader, std::uint32_t n) {
  ThreadSlot& s = *reader.slot;
  const std::atomic<std::int64_t>* counters = s.counters.load(std::memory_order_acquire);
  const auto width = static_cast<std::size_t>(s.n_counters);
  for (std::size_t c = 0; c < width; ++c) {
    const CounterMetric& m = boundary_metrics_[c];
    // Counts of threads add up; seconds, and whatever is the load, as LOAD_THREADS says.
    const bool sum = threads_ == LoadThreads::sum || (m.id != load_metric_ && static_cast<int>(c) != cpu_counter_);
    std::uint64_t load = 0;
    for (std::uint32_t r = 0; r < n; ++r) {
      const std::int64_t total = counters[r * width + c].load(std::memory_order_acquire);
      if (r != outside && kinds_[r] == Kind::compute) load += static_cast<std::uint64_t>(total);
      const auto delta = static_cast<std::int64_t>(static_cast<std::uint64_t>(total) - static_cast<std::uint64_t>(reader.counters[r * width + c]));
      if (delta <= 0) continue;
      reader.counters[r * width + c] = total;
      if (r == outside) continue;
      const bool is_cpu_time = static_cast<int>(c) == cpu_counter_;
      const double value = static_cast<double>(delta) * m.scale + (is_cpu_time ? own_in_waits(reader, r) : 0);
      fold(m.id, r, value, sum);
      if (reader.own && is_cpu_time && kinds_[r] != Kind::compute) waited_ += value;
    }
    if (m.id == load_metric_) add_load(reader, reader.load_counts, load, m.scale);
  }
  reader.step_totals.resize(static_cast<std::size_t>(s.n_step_counters), 0);
  for (std::size_t c = 0; c < reader.step_totals.size(); ++c) {
    const std::int64_t total = s.step_totals[c].load(std::memory_order_acquire);
    const auto grown = static_cast<std::int64_t>(static_cast<std::uint64_t>(total) - static_cast<std::uint64_t>(reader.step_totals[c]));
    const auto read = static_cast<double>(step_metrics_[c].value ? total : grown);
    reader.step_totals[c] = total;
    step_values_[c] += read * step_metrics_[c].scale;
  }
  if (!reader.own && s.n_step_counters > 0) ask(s, read_step_counters);
}

/// Asks the thread of another slot for something at its next boundary.
void Recorder::ask(ThreadSlot& s, std::uint32_t what) {
  s.requests.fetch_or(what, std::memory_order_release);
  s.limit.store(0, std::memory_order_relaxed);
}

void Recorder::read_slot(SlotReader& reader, std::uint64_t now) {
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a reader is made with its slot
  ThreadSlot& s = *reader.slot;
  if (s.session.load(std::memory_order_acquire) != session_) return;
  const std::uint32_t n = std::min<std::uint32_t>(s.known.load(std::memory_order_acquire),
                                                  static_cast<std::uint32_t>(kinds_.size()) - 1) + 1;
  if (reader.ticks.size() < n) {
    reader.ticks.resize(n, 0);
    reader.begins.resize(n, 0);
    reader.counters.resize(static_cast<std::size_t>(n) * static_cast<std::size_t>(s.n_counters), 0);
  }
  const bool sum = threads_ == LoadThreads::sum;
  thread_load_ = 0;
  read_ticks(reader, n, now);
  read_counters(reader, n);
  const double measured = read_begins(reader, n);
  step_own_ = std::max(step_own_, measured);
  reader.measured += measured;
  if (!reader.told) tell_own(reader);
  for (std::uint32_t m = 0; m < n_series_; ++m) {
    const std::atomic<double>* cells = s.metric[m].load(std::memory_order_acquire);
    if (!cells) continue;
    reader.metric.resize(std::max<std::size_t>(reader.metric.size(), m + 1));
    if (reader.metric[m].size() < n) reader.metric[m].resize(n, 0);
    for (std::uint32_t r = 0; r < n; ++r) {
      const double total = cells[r].load(std::memory_order_acquire);
      const double delta = total - reader.metric[m][r];
      reader.metric[m][r] = total;
      if (delta <= 0) continue;
      fold(m, r, delta, sum || m != load_metric_);
      if (m == load_metric_ && kinds_[r] == Kind::compute) thread_load_ += delta;
    }
  }
  step_load_ = sum ? step_load_ + thread_load_ : std::max(step_load_, thread_load_);
  if (load_is_seconds()) reader.computed += thread_load_;

  for (std::uint32_t u = 0; u < work_.size(); ++u) {
    if (reader.work.size() <= u) reader.work.resize(u + 1, 0);
    const double total = s.work[u].load(std::memory_order_acquire);
    work_[u] += total - reader.work[u];
    reader.work[u] = total;
  }
}

void Recorder::end_step(std::int64_t first_step, std::int64_t last_step, RecordStream& out) {
  ThreadSlot* own = this_thread_slot();
  // A host that marks no region has steps all the same; its counts begin with the first one's end.
  if (at_step_.count() > 0 && (!own || own->session.load(std::memory_order_relaxed) != session_ || !own->counters_open)) own = &slot();
  if (own && own->session.load(std::memory_order_relaxed) == session_) {
    if (cost_.timed == 0) measure_cost(*own);
    settle_step(*own);
  }
  const std::uint64_t now = ticks();

  read_definitions(out);
  if (readers_.size() < SlotRegistry::instance().count()) {
    const auto all = SlotRegistry::instance().slots();
    for (std::size_t i = readers_.size(); i < all.size(); ++i) readers_.push_back(std::make_unique<SlotReader>(all[i]));
  }
  stride_ = kinds_.size();
  values_.assign(n_series_ * stride_, 0.0);
  std::fill(work_.begin(), work_.end(), 0.0);
  step_values_.assign(step_metrics_.size(), 0.0);
  step_load_ = step_wait_ = step_own_ = 0;
  if (thread_sum_metric_ + thread_max_metric_ + thread_imbalance_metric_ != 0) teams_.assign(stride_, Team());
  for (auto& reader : readers_) {
    reader->own = reader->slot == own;
    read_slot(*reader, now);
  }
  write_threads();

  FrameHeader h{};
  h.first_step = first_step;
  h.last_step = last_step;
  h.load = step_load_;
  h.wait = step_wait_;
  h.wall = static_cast<double>(now - last_stamp_) * tick_rate().seconds_per_tick;
  // The cost of a pair was measured at another moment: never more than the step, which the cost is part of.
  own_seconds_ += std::min(step_own_ + step_cost_, h.wall);
  h.phase = phase_.load(std::memory_order_relaxed);
  last_stamp_ = now;

  auto& bytes = out.bytes();
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof h);
  auto entry = [&](std::uint32_t region, std::uint16_t series, double value) {
    const Entry e{region, series, 0, value};
    const std::size_t end = bytes.size();
    bytes.resize(end + sizeof e);
    std::memcpy(bytes.data() + end, &e, sizeof e);
    ++h.n_entries;
  };
  for (std::size_t m = 0; m < n_series_; ++m)
    for (std::size_t r = 0; r < stride_; ++r)
      if (values_[m * stride_ + r] != 0)
        entry(static_cast<std::uint32_t>(r), static_cast<std::uint16_t>(m), values_[m * stride_ + r]);
  for (std::size_t c = 0; c < step_metrics_.size(); ++c) {
    // Equal shares of a frame of several steps would divide a state, too.
    const double value = step_metrics_[c].value ? step_values_[c] * static_cast<double>(last_step - first_step + 1) : step_values_[c];
    if (value != 0) entry(whole_step, static_cast<std::uint16_t>(step_metrics_[c].id), value);
  }
  for (std::size_t u = 0; u < work_.size(); ++u)
    if (work_[u] != 0) entry(0, static_cast<std::uint16_t>(work_series + u), work_[u]);
  h.record = {static_cast<std::uint32_t>(bytes.size() - at), Record::frame, 0};
  std::memcpy(bytes.data() + at, &h, sizeof h);

  if (options_.max_overhead > 0) guard_step(now);
  step_cost_ = static_cast<double>(ticks() - now) * tick_rate().seconds_per_tick;
  fixed_ += step_cost_;
}

void Recorder::resume() {
  ThreadSlot* own = this_thread_slot();
  if (own && own->session.load(std::memory_order_relaxed) == session_ && (own->depth > 0 || own->pricing.open)) disregard(*own);
}

void Recorder::last_words(RecordStream& out) {
  for (const SourceSet* set : {&boundary_, &at_step_})
    for (const std::string& text : set->remarks()) registry_.note(text.substr(0, max_name).c_str());
  std::uint32_t fallen = 0;
  for (const auto& reader : readers_)
    if (reader->slot->session.load(std::memory_order_acquire) == session_) fallen |= reader->slot->fallen.load(std::memory_order_relaxed);
  for (const auto& [set, first] : {std::pair<const SourceSet*, std::size_t>{&boundary_, 0}, {&at_step_, boundary_.counters().size()}})
    for (std::size_t c = 0; c < set->counters().size(); ++c) {
      const Counter& counter = set->counters()[c];
      if ((fallen >> (first + c) & 1) == 0 || counter.estimated) continue;
      registry_.note(("metric '" + counter.name + "' fell during the run, and what it fell by is not counted: if it is a state and not a count, write " +
                      counter.name + "@value").substr(0, max_name).c_str());
    }
  read_definitions(out);
}

}  // namespace effort::measure
