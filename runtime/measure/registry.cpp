#include "runtime/measure/registry.hpp"

#include "runtime/measure/metric_source.hpp"
#include "runtime/measure/thread_slot.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace effort::measure {
namespace {

/// Beside the built-in counters.
constexpr std::string_view own_metrics[] = {"time",
                                            "calls",
                                            "thread_sum",
                                            "thread_max",
                                            "thread_imbalance",
                                            "collective_delay",
                                            "collective_wait",
                                            "collective_transfer",
                                            "late_sender_wait",
                                            "message_transfer",
                                            "caused_wait"};

/// For one more element.
template <typename T>
void make_room(std::vector<T>& all) {
  if (all.size() == all.capacity()) all.reserve(std::max<std::size_t>(2 * all.size(), 16));
}

}  // namespace

void check_name(const char* name, const char* of_what) {
  const std::string what = of_what;
  if (!name) throw Error(Status::invalid_argument, what + " name is a null pointer: pass a string");
  const std::size_t length = strnlen(name, max_name + 1);
  if (length == 0) throw Error(Status::invalid_argument, what + " name is empty: give it at least one character");
  if (length > max_name)
    throw Error(Status::invalid_argument,
                what + " name is longer than " + std::to_string(max_name) + " bytes: shorten it");
  for (std::size_t i = 0; i < length; ++i)
    if (static_cast<unsigned char>(name[i]) < 0x20 || name[i] == 0x7f)
      throw Error(Status::invalid_argument, what + " name holds a control character at byte " + std::to_string(i) +
                                                " (a newline, perhaps): use printable text");
}

Registry::Found Registry::region(const char* name, Kind kind) {
  check_name(name, "region");
  return define(Definition::region, name, kind, "");
}

std::uint32_t Registry::find_region(const char* name) const {
  check_name(name, "region");
  std::lock_guard lock(mutex_);
  const auto known = index_.find({Definition::region, name});
  return known == index_.end() ? 0 : defined_[known->second].id;
}

std::uint32_t Registry::phase(const char* name) {
  check_name(name, "phase");
  return define(Definition::phase, name, Kind::compute, "").id;
}

std::uint32_t Registry::unit(const char* name) {
  check_name(name, "work unit");
  return define(Definition::unit, name, Kind::compute, "").id;
}

Registry::Found Registry::metric(const char* name, const char* unit) {
  check_name(name, "metric");
  if (unit && *unit) check_name(unit, "metric unit");
  return define(Definition::metric, name, Kind::compute, unit ? unit : "");
}

Registry::Found Registry::metric_of_application(const char* name, const char* unit) {
  check_name(name, "metric");
  const bool own = is_builtin_counter(name) || std::find(std::begin(own_metrics), std::end(own_metrics),
                                                         std::string_view(name)) != std::end(own_metrics);
  if (own)
    throw Error(Status::conflict,
                std::string("the library itself measures a metric '") + name + "': choose another name");
  const Found found = metric(name, unit);
  static_assert(max_metrics <= 32);
  applications_metrics_.fetch_or(1u << found.id, std::memory_order_acq_rel);
  return found;
}

void Registry::module(const char* base_name, const char* identity) {
  check_name(base_name, "module");
  define(Definition::module, base_name, Kind::compute, identity);
}

std::uint32_t Registry::communicator(const char* name, const char* members) {
  check_name(name, "communicator");
  return define(Definition::communicator, name, Kind::compute, members).id;
}

void Registry::note(const char* text) {
  check_name(text, "note");
  define(Definition::note, text, Kind::compute, "");
}

void Registry::take_over(const Registry& other) {
  for (const Defined& d : other.since(0)) {
    if (d.what == Definition::metric) continue;
    const std::uint32_t id = define(d.what, d.name.c_str(), d.kind, d.unit.c_str()).id;
    if (d.what == Definition::region && other.host_has(static_cast<std::int32_t>(d.id))) give_to_host(id);
  }
}

Registry::Found Registry::define(Definition what, const char* name, Kind kind, const char* unit) {
  std::lock_guard lock(mutex_);
  if (auto known = index_.find({what, name}); known != index_.end()) {
    Defined& d = defined_[known->second];
    // LOAD_METRIC may name a metric before the application defines its unit.
    if (what == Definition::metric && d.unit.empty()) d.unit = unit;
    return {d.id, (what == Definition::region && d.kind != kind) || (what == Definition::metric && d.unit != unit)};
  }
  auto limited = [&](std::atomic<std::uint32_t>& n, std::uint32_t limit, const char* plural) -> std::uint32_t {
    const std::uint32_t have = n.load(std::memory_order_relaxed);
    if (have >= limit)
      throw Error(Status::limit, std::string("a process can have at most ") + std::to_string(limit) + " " + plural +
                                     "; '" + name + "' would exceed that: use fewer names");
    return have;
  };
  std::uint32_t id = 0;
  std::atomic<std::uint32_t>* counter = nullptr;
  switch (what) {
    case Definition::region: id = limited(*(counter = &n_regions_), max_regions, "regions") + 1; break;
    case Definition::phase: id = limited(*(counter = &n_phases_), max_regions, "phases"); break;
    case Definition::unit: id = limited(*(counter = &n_units_), max_units, "work units"); break;
    case Definition::metric: id = limited(*(counter = &n_metrics_), max_metrics, "metrics"); break;
    case Definition::module: id = limited(*(counter = &n_modules_), max_regions, "modules"); break;
    case Definition::note: id = limited(*(counter = &n_notes_), max_regions, "notes"); break;
    case Definition::communicator: id = limited(*(counter = &n_communicators_), max_regions, "communicators"); break;
  }
  // All that may fail for lack of memory comes first, so that nothing is half defined.
  Defined fresh{what, id, kind, name, unit};
  make_room(defined_);
  if (what == Definition::region) make_room(regions_);
  index_.emplace(Key{what, name}, defined_.size());
  defined_.push_back(std::move(fresh));
  if (what == Definition::region) {
    regions_.push_back(defined_.size() - 1);
    kinds_[id].store(kind, std::memory_order_relaxed);  // before any slot knows the id
  }
  counter->fetch_add(1, std::memory_order_release);
  n_defined_.store(defined_.size(), std::memory_order_release);
  return {id, false};
}

std::vector<Defined> Registry::since(std::size_t first) const {
  std::lock_guard lock(mutex_);
  return {defined_.begin() + static_cast<std::ptrdiff_t>(std::min(first, defined_.size())), defined_.end()};
}

std::string Registry::region_name(std::uint32_t id) const {
  std::lock_guard lock(mutex_);
  return id >= 1 && id <= regions_.size() ? defined_[regions_[id - 1]].name : "?";
}

}  // namespace effort::measure
