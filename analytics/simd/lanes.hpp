// Eight doubles side by side.  Sums over them have the same order, hence the same bits, on every machine.
#pragma once

#include <cstddef>
#include <cstring>

namespace effort::simd {

/// The compiler maps it to as many registers as the instruction set needs.  Pass it by reference, because the calling
/// convention for such values depends on the instruction set.
using Lanes = double __attribute__((vector_size(64)));
inline constexpr std::size_t lanes = 8;

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

}  // namespace effort::simd
