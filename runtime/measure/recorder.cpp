#include "runtime/measure/recorder.hpp"

#include <algorithm>

namespace effort::measure {
namespace {

std::atomic<std::uint64_t> sessions{0};

void read_thread_cpu(void*, std::int64_t* values) { values[0] = thread_cpu_ns(); }

void add(std::atomic<double>& cell, double value) {
  cell.store(cell.load(std::memory_order_relaxed) + value, std::memory_order_release);
}

}  // namespace

struct Recorder::SlotReader {
  explicit SlotReader(ThreadSlot* s) : slot(s) {}

  ThreadSlot* slot;
  bool own = false;  ///< the stepping thread's
  std::vector<std::uint64_t> ticks;
  std::vector<std::int64_t> counters;
  std::vector<double> work;
  std::vector<std::vector<double>> metric;
};

Recorder::Recorder(const std::vector<std::string>& metrics, const std::string& load_metric, LoadThreads threads)
    : session_(sessions.fetch_add(1, std::memory_order_relaxed) + 1), metrics_(metrics), load_metric_name_(load_metric),
      threads_(threads) {
  tick_rate();
  registry_.phase("main");
  registry_.metric("time", "s");
  for (const std::string& name : metrics)
    if (name == "cpu_time") cpu_metric_ = registry_.metric("cpu_time", "s").id;
  if (load_metric == "cpu_time") {
    cpu_metric_ = registry_.metric("cpu_time", "s").id;
    load_is_cpu_time_ = true;
  }
  if (cpu_metric_ != 0) boundary_ = {1, read_thread_cpu, nullptr};
  // An application metric's unit is known when the application defines it; the name reserves its id now.
  load_metric_ = load_metric == "time" ? 0 : registry_.metric(load_metric.c_str(), "").id;
  kinds_.push_back(Kind::compute);  // `outside`: takes application metrics that belong to no region
  last_stamp_ = ticks();
}

Recorder::~Recorder() = default;

bool Recorder::measures(const std::vector<std::string>& metrics, const std::string& load_metric, LoadThreads threads) const {
  return metrics == metrics_ && load_metric == load_metric_name_ && threads == threads_;
}

ThreadSlot& Recorder::slot() {
  ThreadSlot& s = SlotRegistry::instance().acquire();
  prepare_slot(s, session_, registry_.n_regions(), boundary_);
  return s;
}

void Recorder::add_seconds(std::uint32_t region, double seconds) {
  ThreadSlot& s = slot();
  auto& cell = s.ticks.load(std::memory_order_relaxed)[region];
  cell.store(cell.load(std::memory_order_relaxed) +
                 static_cast<std::uint64_t>(seconds / tick_rate().seconds_per_tick + 0.5),
             std::memory_order_release);
  if (load_is_cpu_time_) {
    auto& cpu = s.counters.load(std::memory_order_relaxed)[region * static_cast<std::size_t>(s.n_counters)];
    cpu.store(cpu.load(std::memory_order_relaxed) + static_cast<std::int64_t>(seconds * 1e9 + 0.5),
              std::memory_order_release);
  }
}

void Recorder::add_work(std::uint32_t unit, double amount) { add(slot().work[unit], amount); }

void Recorder::add_metric(std::uint32_t metric, double value) {
  ThreadSlot& s = slot();
  add(metric_cells(s, metric)[s.current.load(std::memory_order_relaxed)], value);
}

double Recorder::price_clock() {
  if (!load_is_cpu_time_) return static_cast<double>(monotonic_ns()) * 1e-9;
  // CPU time spent spinning inside marked communication is waiting, not the price of anything.
  ThreadSlot& s = slot();
  switch_region(s, s.current.load(std::memory_order_relaxed));
  std::int64_t waited = 0;
  const auto* counters = s.counters.load(std::memory_order_relaxed);
  for (std::uint32_t r = 1; r < std::min<std::size_t>(kinds_.size(), s.capacity); ++r)
    if (kinds_[r] != Kind::compute) waited += counters[r].load(std::memory_order_relaxed);
  return static_cast<double>(thread_cpu_ns() - waited) * 1e-9;
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
  if (series == load_metric_ && kinds_[region] == Kind::compute) thread_load_ += value;
}

void Recorder::read_slot(SlotReader& reader, std::uint64_t now) {
  ThreadSlot& s = *reader.slot;
  if (s.session.load(std::memory_order_acquire) != session_) return;
  const std::uint32_t n = std::min<std::uint32_t>(s.limit.load(std::memory_order_acquire),
                                                  static_cast<std::uint32_t>(kinds_.size()) - 1) + 1;
  const std::atomic<std::uint64_t>* ticks_of = s.ticks.load(std::memory_order_acquire);
  if (reader.ticks.size() < n) {
    reader.ticks.resize(n, 0);
    reader.counters.resize(static_cast<std::size_t>(n) * static_cast<std::size_t>(s.n_counters), 0);
  }

  // What the current region has run up since its last boundary, in another thread perhaps (see ThreadSlot).
  const std::uint32_t running = s.current.load(std::memory_order_acquire);
  std::uint64_t running_total = 0;
  if (running < n) {
    running_total = ticks_of[running].load(std::memory_order_acquire);
    const std::uint64_t stamp = s.stamp.load(std::memory_order_acquire);
    if (now > stamp) running_total += now - stamp;
  }

  const bool sum = threads_ == LoadThreads::sum;
  const double seconds_per_tick = tick_rate().seconds_per_tick;
  thread_load_ = 0;
  for (std::uint32_t r = 0; r < n; ++r) {
    std::uint64_t total = ticks_of[r].load(std::memory_order_acquire);
    if (r == running) total = running_total;
    const std::uint64_t delta = total - reader.ticks[r];
    // A running total that was read a little too far is made up for at the next step.
    if (delta == 0 || delta > (std::uint64_t{1} << 62)) continue;
    reader.ticks[r] = total;
    if (r == outside) continue;
    const double seconds = static_cast<double>(delta) * seconds_per_tick;
    fold(0, r, seconds, sum);
    if (reader.own && kinds_[r] != Kind::compute) step_wait_ += seconds;
  }
  if (s.n_counters > 0) {
    const std::atomic<std::int64_t>* counters = s.counters.load(std::memory_order_acquire);
    for (std::uint32_t r = 0; r < n; ++r) {
      const std::int64_t total = counters[r].load(std::memory_order_acquire);
      const std::int64_t delta = total - reader.counters[r];
      reader.counters[r] = total;
      if (delta > 0 && r != outside) fold(cpu_metric_, r, static_cast<double>(delta) * 1e-9, sum);
    }
  }
  for (std::uint32_t m = 0; m < n_series_; ++m) {
    const std::atomic<double>* cells = s.metric[m].load(std::memory_order_acquire);
    if (!cells) continue;
    reader.metric.resize(std::max<std::size_t>(reader.metric.size(), m + 1));
    if (reader.metric[m].size() < n) reader.metric[m].resize(n, 0);
    for (std::uint32_t r = 0; r < n; ++r) {
      const double total = cells[r].load(std::memory_order_acquire);
      const double delta = total - reader.metric[m][r];
      reader.metric[m][r] = total;
      if (delta > 0) fold(m, r, delta, sum || m != load_metric_);
    }
  }
  step_load_ = sum ? step_load_ + thread_load_ : std::max(step_load_, thread_load_);

  for (std::uint32_t u = 0; u < work_.size(); ++u) {
    if (reader.work.size() <= u) reader.work.resize(u + 1, 0);
    const double total = s.work[u].load(std::memory_order_acquire);
    work_[u] += total - reader.work[u];
    reader.work[u] = total;
  }
}

void Recorder::end_step(std::int64_t first_step, std::int64_t last_step, RecordStream& out) {
  ThreadSlot* own = this_thread_slot();
  if (own && own->session.load(std::memory_order_relaxed) == session_)
    switch_region(*own, own->current.load(std::memory_order_relaxed));
  const std::uint64_t now = ticks();

  read_definitions(out);
  if (readers_.size() < SlotRegistry::instance().count()) {
    const auto all = SlotRegistry::instance().slots();
    for (std::size_t i = readers_.size(); i < all.size(); ++i) readers_.push_back(std::make_unique<SlotReader>(all[i]));
  }
  stride_ = kinds_.size();
  values_.assign(n_series_ * stride_, 0.0);
  std::fill(work_.begin(), work_.end(), 0.0);
  step_load_ = step_wait_ = 0;
  for (auto& reader : readers_) {
    reader->own = reader->slot == own;
    read_slot(*reader, now);
  }

  FrameHeader h{};
  h.first_step = first_step;
  h.last_step = last_step;
  h.load = step_load_;
  h.wait = step_wait_;
  h.wall = static_cast<double>(now - last_stamp_) * tick_rate().seconds_per_tick;
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
  for (std::size_t u = 0; u < work_.size(); ++u)
    if (work_[u] != 0) entry(0, static_cast<std::uint16_t>(work_series + u), work_[u]);
  h.record = {static_cast<std::uint32_t>(bytes.size() - at), Record::frame, 0};
  std::memcpy(bytes.data() + at, &h, sizeof h);
}

}  // namespace effort::measure
