#include "runtime/engine/placement.hpp"

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>

#include <pthread.h>

namespace effort::engine {
namespace {

std::string bind_this_thread(const cpu_set_t& cpus, const std::string& done) {
  const int error = pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
  return error == 0 ? done : "the background thread could not be bound (" + std::string(std::strerror(error)) + ")";
}

/// A unit's number at the start of the text, which is then removed; -1: there is none.
int take_unit(std::string_view& text) {
  int unit = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), unit);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() && unit < CPU_SETSIZE ? unit : -1;
}

}  // namespace

std::optional<cpu_set_t> units_of(std::string_view list) {
  cpu_set_t units;
  CPU_ZERO(&units);
  for (bool more = true; more;) {
    const int first = take_unit(list);
    int last = first;
    if (list.starts_with('-')) {
      list.remove_prefix(1);
      last = take_unit(list);
    }
    if (first < 0 || last < first) return std::nullopt;
    for (int unit = first; unit <= last; ++unit) CPU_SET(unit, &units);
    more = list.starts_with(',');
    if (more) list.remove_prefix(1);
  }
  if (!list.empty()) return std::nullopt;
  return units;
}

std::string place_this_thread(const std::string& pin, Placement* placement, std::span<const cpu_set_t> ranks) {
  if (pin == "off") return "PIN=off: the background thread is not bound";
  if (pin != "auto") {
    const std::optional<cpu_set_t> units = units_of(pin);
    if (!units) return "PIN='" + pin + "' does not name processing units: the background thread is not bound";
    return bind_this_thread(*units, "PIN=" + pin + ": the background thread is bound to these units");
  }
  if (!placement) return "built without hwloc: the background thread is not bound";
  const Placement::Choice choice = placement->choose(ranks);
  return choice.bind ? bind_this_thread(choice.cpus, choice.why) : choice.why;
}

std::string crowded_units(std::span<const cpu_set_t> ranks) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const cpu_set_t& rank : ranks) {
    if (CPU_COUNT(&rank) == 0) return "";
    CPU_OR(&all, &all, &rank);
  }
  const auto units = static_cast<std::size_t>(CPU_COUNT(&all));
  if (ranks.size() <= units) return "";
  return std::to_string(ranks.size()) + " ranks share " + std::to_string(units) + " processing unit" +
         (units == 1 ? "" : "s") +
         ", so wall time includes waiting for a unit: set LOAD_METRIC=cpu_time to measure and balance the ranks' work";
}

}  // namespace effort::engine
