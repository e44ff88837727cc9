#include "analytics/cluster/kernels.hpp"

#include <bit>

namespace effort::cluster::kernels {

#define EFFORT_KERNEL_NAMESPACE base
#define EFFORT_KERNEL_TARGET
#define EFFORT_KERNEL_WIDTH 2
#include "analytics/cluster/kernels_body.inc"
#undef EFFORT_KERNEL_NAMESPACE
#undef EFFORT_KERNEL_TARGET
#undef EFFORT_KERNEL_WIDTH

// Chosen at run time by a table of our own: ifunc resolvers (target_clones) run before sanitizers are set up, and need
// the dynamic loader's help in a library with hidden symbols.
#if defined(__x86_64__) && defined(__GNUC__)
#define EFFORT_KERNELS_X86 1

#define EFFORT_KERNEL_NAMESPACE avx2
#define EFFORT_KERNEL_TARGET __attribute__((target("avx2")))
#define EFFORT_KERNEL_WIDTH 4
#include "analytics/cluster/kernels_body.inc"
#undef EFFORT_KERNEL_NAMESPACE
#undef EFFORT_KERNEL_TARGET
#undef EFFORT_KERNEL_WIDTH

#define EFFORT_KERNEL_NAMESPACE avx512
#define EFFORT_KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")))
#define EFFORT_KERNEL_WIDTH 8
#include "analytics/cluster/kernels_body.inc"
#undef EFFORT_KERNEL_NAMESPACE
#undef EFFORT_KERNEL_TARGET
#undef EFFORT_KERNEL_WIDTH
#endif

std::size_t available(const Table* (&tables)[3]) {
  std::size_t count = 0;
  tables[count++] = &base::kernels;
#ifdef EFFORT_KERNELS_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) tables[count++] = &avx2::kernels;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    tables[count++] = &avx512::kernels;
#endif
  return count;
}

const Table& table() {
  static const Table& fastest = [] () -> const Table& {
    const Table* tables[3];
    return *tables[available(tables) - 1];
  }();
  return fastest;
}

}  // namespace effort::cluster::kernels
