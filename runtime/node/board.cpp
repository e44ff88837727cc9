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

/// The position of an array in a slot, in bytes.
template <typename T>
struct Place {
  std::size_t offset = 0;
};

/// An array as rows of equal length.
struct Rows {
  std::size_t count, length;
};

/// The numbers of which the sizes of a hint's arrays are made.
struct Sizes {
  std::size_t ranks, local, strata, units, regions;

  Rows of(window::Extent extent) const {
    switch (extent) {
      case window::Extent::ranks: return {1, ranks};
      case window::Extent::strata: return {1, strata};
      case window::Extent::units: return {1, units};
      case window::Extent::strata_regions: return {strata, regions};
      case window::Extent::local_regions: return {local, regions};
    }
    return {0, 0};
  }
};

namespace {

constexpr std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

template <typename T>
T* at(std::byte* base, Place<T> place) {
  return reinterpret_cast<T*>(base + place.offset);
}

Sizes most_of(const BoardShape& shape) {
  return {static_cast<std::size_t>(shape.n_ranks), static_cast<std::size_t>(shape.n_local), max_strata, max_hint_units,
          max_hint_regions};
}

Sizes sizes_of(const HintNumbers& numbers, const BoardShape& shape) {
  return {static_cast<std::size_t>(shape.n_ranks), static_cast<std::size_t>(shape.n_local),
          static_cast<std::size_t>(numbers.report.strata), static_cast<std::size_t>(numbers.n_units),
          static_cast<std::size_t>(numbers.n_regions)};
}

/// Copies the first values of the first rows.  Copies nothing and returns false if the array is not known.
template <typename T>
bool copy(std::span<const T> values, Rows given, Rows used, T* to) {
  if (values.size() < given.count * given.length) return false;
  for (std::size_t row = 0; row < used.count; ++row)
    std::copy_n(values.data() + row * given.length, used.length, to + row * used.length);
  return true;
}

}  // namespace

/// The places of the numbers, which come first, and of the arrays in a slot.
struct Board::SlotLayout : window::HintArrays<Place> {
  Place<double> sample;
  std::size_t end = whole_lines(sizeof(HintNumbers));

  explicit SlotLayout(const BoardShape& shape) {
    const Sizes most = most_of(shape);
    const auto take = [&]<typename T>(Place<T>& place, std::size_t n) {
      place.offset = end;
      end = whole_lines(end + n * sizeof(T));
    };
    window::each_hint_array(
        [&](window::Extent extent, auto& place) {
          const Rows rows = most.of(extent);
          take(place, rows.count * rows.length);
        },
        *this);
    take(sample, most.local);
  }
};

Board::Control& Board::control() const noexcept { return *reinterpret_cast<Control*>(base_); }

Board::Board(std::byte* base, const BoardShape& shape) : base_(base), shape_(shape) {}

std::size_t Board::bytes(const BoardShape& shape) { return whole_lines(sizeof(Control)) + 2 * SlotLayout(shape).end; }

std::byte* Board::slot(std::int64_t look) const noexcept {
  return base_ + whole_lines(sizeof(Control)) + static_cast<std::size_t>(look % 2) * SlotLayout(shape_).end;
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
  numbers.sample_from = content.sample.from;
  numbers.n_regions = std::min(numbers.n_regions, names_written_);
  numbers.n_units = std::min(numbers.n_units, units_written_);
  window::Report& report = numbers.report;
  report.strata = std::min(report.strata, max_strata);
  const Sizes given = sizes_of(content.numbers, shape_), used = sizes_of(numbers, shape_);
  window::each_hint_array(
      [&](window::Extent extent, auto values, auto place, bool& known) {
        known = copy(values, given.of(extent), used.of(extent), at(base, place));
      },
      content, layout, numbers.known);
  std::copy(content.sample.probability.begin(), content.sample.probability.end(), at(base, layout.sample));
  if (used.regions < given.regions) {
    report.advice |= window::advice_truncated;
    const auto leave_out = [&](std::int32_t& region) { region = region < numbers.n_regions ? region : -1; };
    leave_out(report.worst_region);
    if (numbers.known.delay_region) std::for_each_n(at(base, layout.delay_region), given.ranks, leave_out);
  }
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
  HintView view;
  view.numbers = reinterpret_cast<const HintNumbers*>(base);
  const auto own = static_cast<std::size_t>(local) * static_cast<std::size_t>(view.numbers->n_regions);
  window::each_hint_array(
      [&](window::Extent extent, auto& array, auto place, bool known) {
        if (known) array = at(base, place) + (extent == window::Extent::local_regions ? own : 0);
      },
      view, layout, view.numbers->known);
  view.probability = at(base, layout.sample)[local];
  return view;
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
