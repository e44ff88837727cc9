#include "analytics/simd/widest.hpp"

namespace effort::simd {
namespace {

InstructionSet look() {
#ifdef EFFORT_SIMD_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return InstructionSet::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return InstructionSet::avx2;
#endif
  return InstructionSet::portable;
}

}  // namespace

InstructionSet best() {
  static const InstructionSet set = look();
  return set;
}

}  // namespace effort::simd
