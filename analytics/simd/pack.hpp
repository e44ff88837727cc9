// Some numbers side by side: what a vector register holds, or several.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace effort::simd {

template <typename T, int n>
struct PackOf {
  typedef T type __attribute__((vector_size(n * sizeof(T)), aligned(alignof(T)), may_alias));
};

/// `n` numbers (a power of two) with element-wise operators.  The compiler makes as many registers of it as the
/// processor needs.  Pass it by reference: how such values are passed depends on the instruction set.
template <typename T, int n>
using Pack = typename PackOf<T, n>::type;

/// Eight doubles: sums over them are the same, in the same order, on every machine.
using Lanes = Pack<double, 8>;
inline constexpr std::size_t lanes = 8;

/// Rows shorter than this are done before a loop over registers has begun.
inline constexpr std::size_t wide_from = 24;

[[gnu::always_inline]] inline void load(Lanes& to, const double* from) { std::memcpy(&to, from, sizeof(to)); }
/// The first `n` < 8 values, then zeros.
[[gnu::always_inline]] inline void load_some(Lanes& to, const double* from, std::size_t n) {
  to = Lanes{};
  std::memcpy(&to, from, n * sizeof(double));
}

[[gnu::always_inline]] inline void raise_to(Lanes& largest, const Lanes& values) {
  largest = values > largest ? values : largest;
}
[[gnu::always_inline]] inline void raise_to_magnitudes(Lanes& largest, const Lanes& values) {
  raise_to(largest, values);
  raise_to(largest, -values);
}

[[gnu::always_inline]] inline double sum_of(const Lanes& a) {
  return ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]));
}
[[gnu::always_inline]] inline double largest_of(const Lanes& a) {
  double largest = a[0];
  for (std::size_t l = 1; l < lanes; ++l) largest = a[l] > largest ? a[l] : largest;
  return largest;
}

/// c += a * b with one rounding, also where the processor has no such instruction.
template <typename T, int n>
[[gnu::always_inline]] inline void add_product(const Pack<T, n>& a, const Pack<T, n>& b, Pack<T, n>& c) {
  // Compilers recognise a vector built of such terms, but not a loop over its elements.
  [&]<std::size_t... l>(std::index_sequence<l...>) __attribute__((always_inline)) {
    if constexpr (std::is_same_v<T, float>) {
      c = Pack<T, n>{__builtin_fmaf(a[l], b[l], c[l])...};
    } else {
      c = Pack<T, n>{__builtin_fma(a[l], b[l], c[l])...};
    }
  }(std::make_index_sequence<n>{});
}

}  // namespace effort::simd
