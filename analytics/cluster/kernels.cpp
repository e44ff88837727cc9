#include "analytics/cluster/kernels.hpp"

#include <bit>
#include <type_traits>

#if defined(__x86_64__) && defined(__GNUC__)
#define EFFORT_KERNELS_X86 1
#include <immintrin.h>
#endif

namespace effort::cluster::kernels {

namespace {

// One rounding also where the processor has no such instruction, or the compiler no name for it.
template <typename Vec>
inline Vec fused_lanes(Vec a, Vec b, Vec c) {
  if constexpr (std::is_same_v<std::remove_reference_t<decltype(c[0])>, float>)
    for (std::size_t l = 0; l < sizeof(Vec) / sizeof(float); ++l) c[l] = __builtin_fmaf(a[l], b[l], c[l]);
  else
    for (std::size_t l = 0; l < sizeof(Vec) / sizeof(double); ++l) c[l] = __builtin_fma(a[l], b[l], c[l]);
  return c;
}

}  // namespace

#define EFFORT_KERNEL_NAMESPACE base
#define EFFORT_KERNEL_TARGET
#define EFFORT_KERNEL_WIDTH 2
#define EFFORT_KERNEL_FUSED(a, b, c) fused_lanes(a, b, c)
#define EFFORT_KERNEL_FUSED_SINGLE(a, b, c) fused_lanes(a, b, c)
#include "analytics/cluster/kernels_body.inc"
#undef EFFORT_KERNEL_NAMESPACE
#undef EFFORT_KERNEL_TARGET
#undef EFFORT_KERNEL_WIDTH
#undef EFFORT_KERNEL_FUSED
#undef EFFORT_KERNEL_FUSED_SINGLE

// Chosen at run time by a table of our own: ifunc resolvers (target_clones) run before sanitizers are set up, and need
// the dynamic loader's help in a library with hidden symbols.
#ifdef EFFORT_KERNELS_X86
#define EFFORT_KERNEL_NAMESPACE avx2
#define EFFORT_KERNEL_TARGET __attribute__((target("avx2,fma")))
#define EFFORT_KERNEL_WIDTH 4
#define EFFORT_KERNEL_FUSED(a, b, c) _mm256_fmadd_pd(a, b, c)
#define EFFORT_KERNEL_FUSED_SINGLE(a, b, c) _mm256_fmadd_ps(a, b, c)
#include "analytics/cluster/kernels_body.inc"
#undef EFFORT_KERNEL_NAMESPACE
#undef EFFORT_KERNEL_TARGET
#undef EFFORT_KERNEL_WIDTH
#undef EFFORT_KERNEL_FUSED
#undef EFFORT_KERNEL_FUSED_SINGLE

#define EFFORT_KERNEL_NAMESPACE avx512
#ifdef __clang__  // ignores a target attribute of which it does not know every part
#define EFFORT_KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#else
#define EFFORT_KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
#define EFFORT_KERNEL_WIDTH 8
#define EFFORT_KERNEL_FUSED(a, b, c) _mm512_fmadd_pd(a, b, c)
#define EFFORT_KERNEL_FUSED_SINGLE(a, b, c) _mm512_fmadd_ps(a, b, c)
#include "analytics/cluster/kernels_body.inc"
#undef EFFORT_KERNEL_NAMESPACE
#undef EFFORT_KERNEL_TARGET
#undef EFFORT_KERNEL_WIDTH
#undef EFFORT_KERNEL_FUSED
#undef EFFORT_KERNEL_FUSED_SINGLE
#endif

std::size_t available(const Table* (&tables)[3]) {
  std::size_t count = 0;
  tables[count++] = &base::kernels;
#ifdef EFFORT_KERNELS_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) tables[count++] = &avx2::kernels;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    tables[count++] = &avx512::kernels;
#endif
  return count;
}

const Table& table() {
  static const Table& fastest = []() -> const Table& {
    const Table* tables[3];
    return *tables[available(tables) - 1];
  }();
  return fastest;
}

}  // namespace effort::cluster::kernels
