// Numbers side by side in one register: Kokkos's SIMD types as far as the kernels need them (Kokkos 3.4 has none).
//
// A pack is an ordinary vector type of the compiler, or a plain number where its width is 1 (on a device every member
// of a team works on one).  It is passed by reference: how such values are passed depends on the instruction set.
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
  // Spelled out, so that GCC makes one instruction of it; it leaves a loop over the lanes as it is.
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

/// `Width` numbers, a power of two.  Arithmetic, comparisons and `mask ? a : b` work on each lane.
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

/// sum += a b with one rounding, also on a processor that has no such instruction.
template <typename T, std::size_t Width>
KOKKOS_FORCEINLINE_FUNCTION void add_product(Pack<T, Width>& sum, const Pack<T, Width>& a, const Pack<T, Width>& b) {
  if constexpr (Width == 1)
    sum = std::fma(a, b, sum);
  else
    detail::fuse<Pack<T, Width>, T>(sum, a, b, std::make_index_sequence<Width>{});
}

/// values = sqrt(values), which must not be negative.
template <typename T, std::size_t Width>
KOKKOS_FORCEINLINE_FUNCTION void take_root(Pack<T, Width>& values) {
  if constexpr (Width == 1)
    values = std::sqrt(values);
  else
    detail::take_root<Pack<T, Width>, T>(values, std::make_index_sequence<Width>{});
}

}  // namespace effort::simd
