#include "runtime/node/board.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace effort::node {

/// Zero-initialised shared memory; counts are kept so that zero means "none".
struct Board::Control {
  std::atomic<std::int64_t> hints;     ///< newest look + 1
  std::atomic<std::int64_t> off_from;  ///< look + 1; 0: on
  std::atomic<std::int64_t> snapshots;
  std::atomic<std::int32_t> snapshot_status;
  std::atomic<std::int32_t> finished;  ///< 1 once finished, else 0
  std::atomic<std::int32_t> finish_status;
  std::uint32_t names_used;
  std::uint32_t region_name[max_hint_regions];
  std::uint32_t unit_name[max_hint_units];
  char names[names_bytes];
};

/// Offsets of the arrays in a slot.
struct Board::SlotLayout {
  std::size_t numbers = 0, load, predicted, speed, stratum_region_load, region_load, unit_cost, unit_cost_error,
              stratum, medoid, delay, delay_region, sample, end;

  explicit SlotLayout(const BoardShape& s) {
    std::size_t at = sizeof(HintNumbers);
    auto take = [&](std::size_t bytes) {
      const std::size_t here = at;
      at = (at + bytes + 63) / 64 * 64;
      return here;
    };
    at = (at + 63) / 64 * 64;
    const auto ranks = static_cast<std::size_t>(s.n_ranks), local = static_cast<std::size_t>(s.n_local);
    load = take(ranks * 8);
    predicted = take(ranks * 8);
    speed = take(ranks * 8);
    stratum_region_load = take(static_cast<std::size_t>(max_strata) * max_hint_regions * 8);
    region_load = take(local * max_hint_regions * 8);
    unit_cost = take(max_hint_units * 8);
    unit_cost_error = take(max_hint_units * 8);
    stratum = take(ranks * 4);
    medoid = take(max_strata * 4);
    delay = take(ranks * 8);
    delay_region = take(ranks * 4);
    sample = take(local * 8);
    end = at;
  }
};

namespace {

template <typename T>
T* at(std::byte* base, std::size_t offset) {
  return reinterpret_cast<T*>(base + offset);
}

template <typename T>
void copy(std::byte* base, std::size_t offset, std::span<const T> values) {
  if (!values.empty()) std::memcpy(base + offset, values.data(), values.size_bytes());
}

}  // namespace

Board::Control& Board::control() const noexcept { return *reinterpret_cast<Control*>(base_); }

Board::Board(std::byte* base, const BoardShape& shape) : base_(base), shape_(shape) {}

std::size_t Board::bytes(const BoardShape& shape) {
  return (sizeof(Control) + 63) / 64 * 64 + 2 * SlotLayout(shape).end;
}

std::byte* Board::slot(std::int64_t look) const noexcept {
  return base_ + (sizeof(Control) + 63) / 64 * 64 + static_cast<std::size_t>(look % 2) * SlotLayout(shape_).end;
}

void Board::append_names(std::span<const std::string> names, std::uint32_t* offsets, int& have, int limit) {
  Control& c = control();
  for (; have < static_cast<int>(names.size()) && have < limit; ++have) {
    const std::string& name = names[static_cast<std::size_t>(have)];
    if (c.names_used + name.size() + 1 > names_bytes) return;
    std::memcpy(c.names + c.names_used, name.c_str(), name.size() + 1);
    offsets[have] = c.names_used;
    c.names_used += static_cast<std::uint32_t>(name.size() + 1);
  }
}

void Board::publish(const HintContent& content) {
  Control& c = control();
  append_names(content.region_names, c.region_name, names_written_, max_hint_regions);
  append_names(content.unit_names, c.unit_name, units_written_, max_hint_units);

  const SlotLayout layout(shape_);
  std::byte* base = slot(content.numbers.look);
  HintNumbers numbers = content.numbers;
  const std::int32_t full = numbers.n_regions;
  numbers.sample_from = content.sample.from;
  numbers.n_regions = std::min(full, names_written_);
  numbers.n_units = std::min(numbers.n_units, units_written_);
  window::Report& report = numbers.report;
  report.strata = std::min(report.strata, max_strata);
  if (numbers.n_regions < full) report.advice |= window::advice_truncated;
  if (report.worst_region >= numbers.n_regions) report.worst_region = -1;
  copy(base, layout.load, content.load);
  copy(base, layout.predicted, content.predicted);
  copy(base, layout.speed, content.speed);
  copy(base, layout.stratum, content.stratum);
  copy(base, layout.sample, content.sample.probability);
  numbers.has_delays = !content.delay.empty();
  copy(base, layout.delay, content.delay);
  std::vector<std::int32_t> delay_region(content.delay_region.begin(), content.delay_region.end());
  for (std::int32_t& g : delay_region) g = g < numbers.n_regions ? g : -1;
  copy(base, layout.delay_region, std::span<const std::int32_t>(delay_region));
  copy(base, layout.medoid, content.medoid_rank.first(static_cast<std::size_t>(report.strata)));
  const auto n = static_cast<std::size_t>(numbers.n_regions);
  for (std::size_t s = 0; s < static_cast<std::size_t>(report.strata); ++s)
    copy(base, layout.stratum_region_load + s * n * 8,
         content.stratum_region_load.subspan(s * content.stratum_stride, n));
  for (std::size_t r = 0; r < static_cast<std::size_t>(shape_.n_local); ++r)
    copy(base, layout.region_load + r * max_hint_regions * 8,
         content.region_load.subspan(r * static_cast<std::size_t>(full), n));
  const auto units = static_cast<std::size_t>(numbers.n_units);
  copy(base, layout.unit_cost, content.unit_cost.first(std::min(units, content.unit_cost.size())));
  copy(base, layout.unit_cost_error, content.unit_cost_error.first(std::min(units, content.unit_cost_error.size())));
  std::memcpy(base, &numbers, sizeof numbers);
  c.hints.store(numbers.look + 1, std::memory_order_release);
}

void Board::publish_switched_off(std::int64_t look) { control().off_from.store(look + 1, std::memory_order_release); }

void Board::publish_snapshot(std::int64_t number, int status) {
  control().snapshot_status.store(status, std::memory_order_relaxed);
  control().snapshots.store(number, std::memory_order_release);
}

void Board::publish_finished(int status) {
  control().finish_status.store(status, std::memory_order_relaxed);
  control().finished.store(1, std::memory_order_release);
}

std::int64_t Board::newest() const noexcept { return control().hints.load(std::memory_order_acquire) - 1; }

std::int64_t Board::off_from() const noexcept {
  const std::int64_t from = control().off_from.load(std::memory_order_acquire);
  return from == 0 ? std::numeric_limits<std::int64_t>::max() : from - 1;
}

std::int64_t Board::snapshots_done() const noexcept { return control().snapshots.load(std::memory_order_acquire); }
int Board::snapshot_status() const noexcept { return control().snapshot_status.load(std::memory_order_relaxed); }

bool Board::finished(int& status) const noexcept {
  if (control().finished.load(std::memory_order_acquire) == 0) return false;
  status = control().finish_status.load(std::memory_order_relaxed);
  return true;
}

HintView Board::view(std::int64_t look, int local) const noexcept {
  const SlotLayout layout(shape_);
  std::byte* base = slot(look);
  const bool has_delays = at<HintNumbers>(base, layout.numbers)->has_delays;
  return {at<HintNumbers>(base, layout.numbers),
          at<double>(base, layout.load),
          at<double>(base, layout.predicted),
          at<double>(base, layout.speed),
          at<double>(base, layout.stratum_region_load),
          at<double>(base, layout.region_load) + static_cast<std::size_t>(local) * max_hint_regions,
          at<double>(base, layout.unit_cost),
          at<double>(base, layout.unit_cost_error),
          at<std::int32_t>(base, layout.stratum),
          at<std::int32_t>(base, layout.medoid),
          has_delays ? at<double>(base, layout.delay) : nullptr,
          has_delays ? at<std::int32_t>(base, layout.delay_region) : nullptr,
          at<double>(base, layout.sample)[local]};
}

// A slot is overwritten only after the next look has been published.
bool Board::appointments(std::int64_t look, Appointment& now, Appointment& next) const noexcept {
  HintNumbers numbers;
  std::memcpy(&numbers, slot(look), sizeof numbers);
  std::atomic_thread_fence(std::memory_order_acquire);
  now = numbers.now;
  next = numbers.next;
  return newest() == look;
}

const char* Board::region_name(int i) const noexcept { return control().names + control().region_name[i]; }
const char* Board::unit_name(int i) const noexcept { return control().names + control().unit_name[i]; }

}  // namespace effort::node
