// Compiles a piece of work once for each instruction set and runs the widest one that the processor supports.
//
//   simd::widest([=] { for (std::size_t i = 0; i < n; ++i) out[i] = c * in[i]; });
//
// Every variant does the same operations on every element in the same order, so all give the same bits: products are
// not contracted (-ffp-contract=off), and sums are written lane by lane.  The choice is an explicit branch, because the
// resolvers of target_clones would run before the sanitizers are set up, and need the dynamic loader in a library with
// hidden symbols.
#pragma once

#include <cstddef>
#include <type_traits>

#if defined(__x86_64__) && defined(__GNUC__)
#define EFFORT_SIMD_X86 1
#endif

namespace effort::simd {

/// `narrow`: compiled without loop optimisations, for rows too short to profit from vector registers.
enum class InstructionSet { narrow, portable, avx2, avx512 };

/// The number of bytes of a vector register, passed to work that takes it.
template <std::size_t Bytes>
struct Registers {
  static constexpr std::size_t bytes = Bytes;
};

/// Rows shorter than this are faster with `narrow`.
inline constexpr std::size_t wide_from = 24;

/// The widest supported set of this processor.
InstructionSet best();

namespace detail {
template <std::size_t Bytes, typename Work>
inline auto run_in(const Work& work) {
  if constexpr (std::is_invocable_v<Work, Registers<Bytes>>)
    return work(Registers<Bytes>{});
  else
    return work();
}
}  // namespace detail

#ifdef EFFORT_SIMD_X86
#ifdef __clang__  // ignores the whole attribute if it does not know a part of it
#define EFFORT_SIMD_AVX512 "avx512f,avx512dq,avx512vl"
#define EFFORT_SIMD_OPTIMIZE
#else
#define EFFORT_SIMD_AVX512 "avx512f,avx512dq,avx512vl,prefer-vector-width=512"
#define EFFORT_SIMD_OPTIMIZE __attribute__((optimize("O3")))
#endif
#ifdef EFFORT_SANITIZED  // inlining instrumented code takes minutes per file; the widths of the variants stay
#define EFFORT_SIMD_FLATTEN
#define EFFORT_SIMD_TARGET(set)
#undef EFFORT_SIMD_OPTIMIZE
#define EFFORT_SIMD_OPTIMIZE
#else
#define EFFORT_SIMD_FLATTEN __attribute__((flatten))
#define EFFORT_SIMD_TARGET(set) __attribute__((target(set), flatten))
#endif

namespace detail {
// Flattened, because functions that the work calls must be compiled for the same registers.  By value: see widest().
template <typename Work>
EFFORT_SIMD_TARGET(EFFORT_SIMD_AVX512)
EFFORT_SIMD_OPTIMIZE auto run_avx512(Work work) {
  return run_in<64>(work);
}
template <typename Work>
EFFORT_SIMD_TARGET("avx2,fma")
EFFORT_SIMD_OPTIMIZE auto run_avx2(Work work) {
  return run_in<32>(work);
}
template <typename Work>
EFFORT_SIMD_FLATTEN EFFORT_SIMD_OPTIMIZE auto run_portable(Work work) {
  return run_in<16>(work);
}
template <typename Work>
EFFORT_SIMD_FLATTEN auto run_narrow(Work work) {
  return run_in<16>(work);
}
}  // namespace detail

/// Runs `work` compiled for `set`, which the processor must support, and returns its result.
template <typename Work>
inline auto run_with(InstructionSet set, const Work& work) {
  if (set == InstructionSet::avx512) return detail::run_avx512(work);
  if (set == InstructionSet::avx2) return detail::run_avx2(work);
  if (set == InstructionSet::narrow) return detail::run_narrow(work);
  return detail::run_portable(work);
}
#else
template <typename Work>
inline auto run_with(InstructionSet, const Work& work) {
  return detail::run_in<16>(work);
}
#endif

/// Runs `work()` compiled for best() and returns its result.  Capture by value: the compiler must assume that a store
/// changes variables captured by reference.  Only called functions whose definition is visible are compiled for the
/// same registers.  Cost: a load and a branch.
template <typename Work>
inline auto widest(const Work& work) {
  return run_with(best(), work);
}

/// Runs body(i) for 0 <= i < n, vectorised.  No iteration may read what another one writes.
template <typename Body>
inline void for_each(std::size_t n, const Body& body) {
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < n; ++i) body(i);
}

}  // namespace effort::simd
