#include "runtime/engine/placement.hpp"

#include <cerrno>
#include <cstring>
#include <sstream>

#include <pthread.h>

namespace effort::engine {
namespace {

bool parse_list(const std::string& text, cpu_set_t& cpus) {
  CPU_ZERO(&cpus);
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    int first = -1, last = -1;
    const int n = std::sscanf(part.c_str(), "%d-%d", &first, &last);
    if (n < 1 || first < 0 || first >= CPU_SETSIZE) return false;
    if (n == 1) last = first;
    if (last < first || last >= CPU_SETSIZE) return false;
    for (int c = first; c <= last; ++c) CPU_SET(c, &cpus);
  }
  return CPU_COUNT(&cpus) > 0;
}

std::string bind(const cpu_set_t& cpus, const std::string& done) {
  const int error = pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
  return error == 0 ? done : "the background thread could not be bound (" + std::string(std::strerror(error)) + ")";
}

}  // namespace

std::string place_this_thread(const std::string& pin, Placement* placement, std::span<const cpu_set_t> ranks) {
  if (pin == "off") return "PIN=off: the background thread is not bound";
  if (pin != "auto") {
    cpu_set_t cpus;
    if (!parse_list(pin, cpus))
      return "PIN='" + pin + "' names no processing units: the background thread is not bound";
    return bind(cpus, "PIN=" + pin + ": the background thread is bound there");
  }
  if (!placement) return "built without hwloc: the background thread is not bound";
  const Placement::Choice choice = placement->choose(ranks);
  return choice.bind ? bind(choice.cpus, choice.why) : choice.why;
}

}  // namespace effort::engine
