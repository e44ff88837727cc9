#include "adapters/hwloc/hwloc_placement.hpp"

#include "runtime/environment.hpp"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>

#include <cstddef>
#include <memory>
#include <new>

#include <sys/mman.h>

namespace effort::adapters {
namespace {

struct FreeTopology {
  void operator()(hwloc_topology* t) const { hwloc_topology_destroy(t); }
};
using Topology = std::unique_ptr<hwloc_topology, FreeTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* b) const { hwloc_bitmap_free(b); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Bitmap owned(hwloc_bitmap_t bitmap) {
  if (!bitmap) throw std::bad_alloc();
  return Bitmap(bitmap);
}

Bitmap bitmap_of(hwloc_topology_t topology, const cpu_set_t& cpus) {
  Bitmap b = owned(hwloc_bitmap_alloc());
  hwloc_cpuset_from_glibc_sched_affinity(topology, b.get(), &cpus, sizeof cpus);
  return b;
}

/// hwloc crashes when it is refused memory.  Asked of the system, because malloc would raise its threshold for mapping
/// memory in the whole process when the block is freed.
bool enough_memory() {
  constexpr std::size_t plenty = std::size_t{8} << 20;  // a machine with hundreds of cores takes a part of this
  void* const block = mmap(nullptr, plenty, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return block != MAP_FAILED && munmap(block, plenty) == 0;
}

Topology load() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  // Only cores and hardware threads are needed: no caches, no devices.
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

}  // namespace

engine::Placement::Choice HwlocPlacement::choose(std::span<const cpu_set_t> ranks) {
  Choice choice;
  CPU_ZERO(&choice.cpus);
  // hwloc loads the plug-ins and reads the files that the user's environment names.
  if (privileged()) {
    choice.why =
        "this process has more rights than its user (setuid, for example), so hwloc is not called: the background "
        "thread is not bound";
    return choice;
  }
  if (!enough_memory()) {
    choice.why = "there is too little memory to call hwloc: the background thread is not bound";
    return choice;
  }
  Topology topology = load();
  if (!topology) {
    choice.why = "hwloc could not read the topology: the background thread is not bound";
    return choice;
  }
  // The processing units that the job may use, regardless of this process's binding.
  Bitmap all = owned(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology.get())));
  Bitmap taken = owned(hwloc_bitmap_alloc());
  for (const cpu_set_t& rank : ranks) {
    Bitmap of_rank = bitmap_of(topology.get(), rank);
    // A rank that may run everywhere is not bound and occupies no unit.
    if (!hwloc_bitmap_isincluded(all.get(), of_rank.get())) hwloc_bitmap_or(taken.get(), taken.get(), of_rank.get());
  }
  if (hwloc_bitmap_iszero(taken.get())) {
    choice.why = "no rank is bound, so the background thread is not bound either";
    return choice;
  }
  Bitmap free = owned(hwloc_bitmap_alloc());
  hwloc_bitmap_andnot(free.get(), all.get(), taken.get());
  if (hwloc_bitmap_iszero(free.get())) {
    // Do not leave it on the core where it was created: that is the leader's core, and only the leader would pay.
    hwloc_cpuset_to_glibc_sched_affinity(topology.get(), taken.get(), &choice.cpus, sizeof choice.cpus);
    choice.bind = true;
    choice.why = "every unit belongs to a rank, so the background thread may run on all of them";
    return choice;
  }
  // Prefer free cores to sibling threads of busy cores.
  Bitmap whole = owned(hwloc_bitmap_alloc());
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr;)
    if (hwloc_bitmap_isincluded(core->cpuset, free.get())) hwloc_bitmap_or(whole.get(), whole.get(), core->cpuset);
  const bool core_free = !hwloc_bitmap_iszero(whole.get());
  hwloc_cpuset_to_glibc_sched_affinity(topology.get(), core_free ? whole.get() : free.get(), &choice.cpus,
                                       sizeof choice.cpus);
  choice.bind = true;
  choice.why = core_free ? "the background thread runs on cores without a rank"
                         : "the background thread runs on sibling threads of the ranks' cores";
  return choice;
}

}  // namespace effort::adapters
