// The event adapter is a separate library that is loaded when an event is requested.  A host that requests none needs
// no PAPI (docs/adr/0013).
#include "runtime/measure/metric_source.hpp"

#include <string>

#include <dlfcn.h>

namespace effort::measure {
namespace {

constexpr const char* library_name = "libeffort_papi.so";

/// The directory of the library that contains this code; "" if it cannot be determined.
std::string beside_this_library() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&is_builtin_counter), &here) == 0 || !here.dli_fname) return "";
  const std::string path = here.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1) + library_name;
}

/// The adapter's function, or null and the reason.  The adapter is never unloaded, because PAPI leaves handlers behind.
EventSourceFn load(std::string& reason) {
  void* library = nullptr;
  if (const std::string path = beside_this_library(); !path.empty())
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    reason = std::string("the adapter for PAPI events could not be loaded: ") + (why ? why : library_name);
    return nullptr;
  }
  if (void* symbol = dlsym(library, "effort_event_source")) return reinterpret_cast<EventSourceFn>(symbol);
  reason = std::string(library_name) + " is not the adapter of this library: it lacks effort_event_source";
  return nullptr;
}

}  // namespace

EventAnswer event_source(const std::vector<std::string>& names, const EventOptions& options) {
  EventAnswer answer;
  if (names.empty()) return answer;
  std::string reason;
  const EventSourceFn make = load(reason);
  if (make && make(EFFORT_VERSION_STRING, &names, &options, &answer) == 0) return answer;
  if (make)
    reason = std::string(library_name) + " is of another version than this library (" + EFFORT_VERSION_STRING +
             "): install both from the same build";
  answer = {};
  for (const std::string& name : names) answer.refused.emplace_back(name, reason);
  return answer;
}

}  // namespace effort::measure
