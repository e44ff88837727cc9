// Kokkos kernels, regions and fences as regions of effort: KOKKOS_TOOLS_LIBS=libeffort_kokkos.so (docs/adapters.md).
//
// Kokkos finds these functions by name.  Kernels and profiling regions are COMPUTE, fences WAIT.  On a device, kernels
// continue after their launch has returned: the remaining time shows in the fence.
#include "runtime/environment.hpp"
#include "runtime/measure/registry.hpp"
#include "runtime/quiet_write.hpp"
#include "runtime/session/adapter_port.hpp"
#include "runtime/thread_end.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <cxxabi.h>

using namespace effort;
using measure::Kind;

namespace {

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};
using Ids = std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>>;

/// A thread's state in one session: the ids of names, and its open profiling regions.
struct ThreadNames {
  std::uint64_t session = 0;
  Ids kernels, fences;
  std::vector<std::int32_t> pushed;
};
EFFORT_IN_EVERY_THREAD thread_local ThreadNames* own_names = nullptr;
/// Profiling regions that are open and could not be remembered, for lack of memory.  They are the innermost ones.
EFFORT_IN_EVERY_THREAD thread_local int forgotten = 0;

void free_names(void*) {
  delete own_names;
  own_names = nullptr;
}

/// @throws std::bad_alloc
ThreadNames& names_of_thread() {
  static const effort::ThreadEnd end(free_names);
  if (!own_names) {
    if (!end.ask()) throw std::bad_alloc();
    own_names = new ThreadNames;
  }
  return *own_names;
}

/// Unlabelled kernels are named by the mangled type of their functor.
std::string readable(std::string_view name) {
  std::string text(name);
  int status = -1;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), std::free);
  if (status == 0 && demangled) text = demangled.get();
  if (text.empty()) text = "(unnamed)";
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  if (text.size() <= measure::max_name) return text;
  // Long template names may differ anywhere, so the hash covers the whole name.
  const std::string tail = "...#" + std::to_string(std::hash<std::string>{}(text));
  return text.substr(0, measure::max_name - tail.size()) + tail;
}

/// Looks up or creates the region of this name.  Returns 0 without a session.
std::int32_t id_of(const char* name, Kind kind) {
  session::AdapterPort* const port = session::adapter_port();
  if (!port) return 0;
  const measure::ThreadSlot* const slot = session::slot_in_session(*port);
  if (!slot) return 0;
  ThreadNames& names = names_of_thread();
  const std::uint64_t session = slot->session();
  if (names.session != session) {
    names = {};
    names.session = session;
  }
  const std::string_view text = name ? name : "";
  Ids& ids = kind == Kind::wait ? names.fences : names.kernels;
  if (const auto known = ids.find(text); known != ids.end()) return known->second;
  const auto id = static_cast<std::int32_t>(port->region(readable(text), kind));
  if (id > 0) ids.emplace(text, id);
  return id;
}

/// Begins a region and returns its id; 0 if there is none, which end() ignores.  No exception may reach Kokkos.
std::int32_t begin(const char* name, Kind kind) {
  try {
    const std::int32_t id = id_of(name, kind);
    return id > 0 && session::adapter_port()->begin_region(static_cast<std::uint32_t>(id)) ? id : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

void end(std::int32_t id) noexcept {
  if (id > 0) session::adapter_port()->end_region(static_cast<std::uint32_t>(id));
}

}  // namespace

#define EFFORT_KOKKOS_HOOK extern "C" __attribute__((visibility("default")))

/// Begins a session if the host has none yet; a session that the host begins later adopts it.
EFFORT_KOKKOS_HOOK void kokkosp_init_library(int, std::uint64_t, std::uint32_t, void*) {
  if (session::AdapterPort* const port = session::adapter_port())
    port->begin();
  else if (const char* verbose = effort::environment("EFFORT_VERBOSE"); verbose && std::string_view(verbose) == "1")
    effort::print_error(
        "effort: libeffort_kokkos measures nothing: libeffort is of another build: install both from the same build\n");
}

/// Kokkos asks for a tool's requirements.  The first word of the answer says whether all devices must be idle whenever
/// a kernel or a region begins or ends.  Kokkos assumes so by default, which serializes kernels and puts two fences
/// around each.
EFFORT_KOKKOS_HOOK void kokkosp_request_tool_settings(std::uint32_t, bool* requires_global_fencing) {
  *requires_global_fencing = false;
}

/// Ends a session that no host has adopted and that has no ranks; it counts as one step.
EFFORT_KOKKOS_HOOK void kokkosp_finalize_library() {
  session::AdapterPort* const port = session::adapter_port();
  if (!port || port->owner() != session::Owner::adapter || port->attached()) return;
  port->progress_step();
  port->finalize();
}

EFFORT_KOKKOS_HOOK void kokkosp_begin_parallel_for(const char* name, std::uint32_t, std::uint64_t* kernel) {
  *kernel = static_cast<std::uint64_t>(begin(name, Kind::compute));
}
EFFORT_KOKKOS_HOOK void kokkosp_begin_parallel_reduce(const char* name, std::uint32_t, std::uint64_t* kernel) {
  *kernel = static_cast<std::uint64_t>(begin(name, Kind::compute));
}
EFFORT_KOKKOS_HOOK void kokkosp_begin_parallel_scan(const char* name, std::uint32_t, std::uint64_t* kernel) {
  *kernel = static_cast<std::uint64_t>(begin(name, Kind::compute));
}
EFFORT_KOKKOS_HOOK void kokkosp_begin_fence(const char* name, std::uint32_t, std::uint64_t* fence) {
  *fence = static_cast<std::uint64_t>(begin(name && *name ? name : "Kokkos::fence", Kind::wait));
}
EFFORT_KOKKOS_HOOK void kokkosp_end_parallel_for(std::uint64_t kernel) { end(static_cast<std::int32_t>(kernel)); }
EFFORT_KOKKOS_HOOK void kokkosp_end_parallel_reduce(std::uint64_t kernel) { end(static_cast<std::int32_t>(kernel)); }
EFFORT_KOKKOS_HOOK void kokkosp_end_parallel_scan(std::uint64_t kernel) { end(static_cast<std::int32_t>(kernel)); }
EFFORT_KOKKOS_HOOK void kokkosp_end_fence(std::uint64_t fence) { end(static_cast<std::int32_t>(fence)); }

EFFORT_KOKKOS_HOOK void kokkosp_push_profile_region(const char* name) {
  if (forgotten > 0) {
    ++forgotten;
    return;
  }
  const std::int32_t id = begin(name, Kind::compute);
  try {
    names_of_thread().pushed.push_back(id);
  } catch (const std::exception&) {
    end(id);
    forgotten = 1;
  }
}
EFFORT_KOKKOS_HOOK void kokkosp_pop_profile_region() {
  if (forgotten > 0) {
    --forgotten;
    return;
  }
  if (!own_names || own_names->pushed.empty()) return;
  const std::int32_t id = own_names->pushed.back();
  own_names->pushed.pop_back();
  end(id);
}
