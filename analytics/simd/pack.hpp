// The part of Kokkos's SIMD types that the kernels need (Kokkos 3.4 has none).
//
// A pack is a vector type of the compiler, or a plain number if its width is 1 (on a device, where each member of a
// team works on one number).  Pass packs by reference: how values are passed depends on the instruction set.
#pragma once

#include <Kokkos_Macros.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace effort::simd {

namespace detail {
template <typename T, std::size_t Width>
struct PackType {
  typedef T type __attribute__((vector_size(sizeof(T) * Width)));
};
template <typename T>
struct PackType<T, 1> {
  using type = T;
};

template <typename P, typename T, std::size_t... I>
KOKKOS_FORCEINLINE_FUNCTION void fuse(P& sum, const P& a, const P& b, std::index_sequence<I...>) {
  // GCC turns the list into one instruction, but does not vectorise a loop over the lanes.
  if constexpr (sizeof(T) == sizeof(float))
    sum = P{__builtin_fmaf(a[I], b[I], sum[I])...};
  else
    sum = P{__builtin_fma(a[I], b[I], sum[I])...};
}
template <typename P, typename T, std::size_t... I>
KOKKOS_FORCEINLINE_FUNCTION void take_root(P& values, std::index_sequence<I...>) {
  if constexpr (sizeof(T) == sizeof(float))
    values = P{__builtin_sqrtf(values[I])...};
  else
    values = P{__builtin_sqrt(values[I])...};
}
}  // namespace detail

/// `Width` numbers (a power of two).  Arithmetic, comparisons and `mask ? a : b` apply to each lane.
template <typename T, std::size_t Width>
using Pack = typename detail::PackType<T, Width>::type;

template <typename P, typename T>
KOKKOS_FORCEINLINE_FUNCTION void load(P& to, const T* from) {
  std::memcpy(&to, from, sizeof(P));
}
template <typename P, typename T>
KOKKOS_FORCEINLINE_FUNCTION void store(T* to, const P& from) {
  std::memcpy(to, &from, sizeof(P));
}

/// sum += a b with one rounding, even on processors without a fused instruction.
template <typename T, std::size_t Width>
KOKKOS_FORCEINLINE_FUNCTION void add_product(Pack<T, Width>& sum, const Pack<T, Width>& a, const Pack<T, Width>& b) {
  if constexpr (Width == 1)
    sum = std::fma(a, b, sum);
  else
    detail::fuse<Pack<T, Width>, T>(sum, a, b, std::make_index_sequence<Width>{});
}

/// Takes the square root of non-negative values, in place.
template <typename T, std::size_t Width>
KOKKOS_FORCEINLINE_FUNCTION void take_root(Pack<T, Width>& values) {
  if constexpr (Width == 1)
    values = std::sqrt(values);
  else
    detail::take_root<Pack<T, Width>, T>(values, std::make_index_sequence<Width>{});
}

}  // namespace effort::simd
