#include "analytics/wavelet/lifting.hpp"

#include <cstdlib>  // brings the C library's feature macros for clones.hpp

#include "analytics/wavelet/clones.hpp"
#include "analytics/wavelet/lanes.hpp"

namespace effort::wavelet {
namespace {

/// The loops over a row, compiled where they are called.
struct Narrow {
  /// out[i] += c (in[i] + in[i+1]) for i < n
  [[gnu::always_inline]] static void lift(double* __restrict out, const double* __restrict in, std::size_t n,
                                          double c) {
    for (std::size_t i = 0; i < n; ++i) out[i] += c * (in[i] + in[i + 1]);
  }
  [[gnu::always_inline]] static void deinterleave(const double* __restrict in, std::size_t pairs,
                                                  double* __restrict even, double* __restrict odd) {
    for (std::size_t i = 0; i < pairs; ++i) {
      even[i] = in[2 * i];
      odd[i] = in[2 * i + 1];
    }
  }
  [[gnu::always_inline]] static void interleave(const double* __restrict even, const double* __restrict odd,
                                                std::size_t pairs, double* __restrict out) {
    for (std::size_t i = 0; i < pairs; ++i) {
      out[2 * i] = even[i];
      out[2 * i + 1] = odd[i];
    }
  }
  [[gnu::always_inline]] static void scale(double* values, std::size_t n, double c) {
    for (std::size_t i = 0; i < n; ++i) values[i] *= c;
  }
  [[gnu::always_inline]] static void scaled_copy(const double* __restrict in, std::size_t n, double c,
                                                 double* __restrict out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = c * in[i];
  }
};

/// The same for wide registers.
struct Wide {
  EFFORT_VECTOR_CLONES static void lift(double* __restrict out, const double* __restrict in, std::size_t n, double c) {
    Narrow::lift(out, in, n, c);
  }
  EFFORT_VECTOR_CLONES static void deinterleave(const double* __restrict in, std::size_t pairs, double* __restrict even,
                                                double* __restrict odd) {
    Narrow::deinterleave(in, pairs, even, odd);
  }
  EFFORT_VECTOR_CLONES static void interleave(const double* __restrict even, const double* __restrict odd,
                                              std::size_t pairs, double* __restrict out) {
    Narrow::interleave(even, odd, pairs, out);
  }
  EFFORT_VECTOR_CLONES static void scale(double* values, std::size_t n, double c) { Narrow::scale(values, n, c); }
  EFFORT_VECTOR_CLONES static void scaled_copy(const double* __restrict in, std::size_t n, double c,
                                               double* __restrict out) {
    Narrow::scaled_copy(in, n, c, out);
  }
};

/// d[i] += c (s[i] + s[i+1]), the sample beyond the end mirrored
template <typename Loops>
inline void predict(double* d, std::size_t nd, const double* s, std::size_t ns, double c) {
  if (ns > nd) {
    Loops::lift(d, s, nd, c);
  } else {
    Loops::lift(d, s, nd - 1, c);
    d[nd - 1] += c * (s[nd - 1] + s[nd - 1]);
  }
}

/// s[i] += c (d[i-1] + d[i]), the samples beyond both ends mirrored
template <typename Loops>
inline void update(double* s, std::size_t ns, const double* d, std::size_t nd, double c) {
  s[0] += c * (d[0] + d[0]);
  if (ns > nd) {
    Loops::lift(s + 1, d, nd - 1, c);
    s[ns - 1] += c * (d[nd - 1] + d[nd - 1]);
  } else {
    Loops::lift(s + 1, d, ns - 1, c);
  }
}

template <typename Loops>
inline void split_row_by(const double* in, std::size_t n, double* out) {
  const std::size_t nd = n / 2, ns = n - nd;
  double* s = out;
  double* d = out + ns;
  Loops::deinterleave(in, nd, s, d);
  if (ns > nd) s[ns - 1] = in[n - 1];
  predict<Loops>(d, nd, s, ns, alpha);
  update<Loops>(s, ns, d, nd, beta);
  predict<Loops>(d, nd, s, ns, gamma);
  update<Loops>(s, ns, d, nd, delta);
  Loops::scale(s, ns, low_gain);
  Loops::scale(d, nd, 1 / low_gain);
}

template <typename Loops>
inline void join_row_by(const double* in, std::size_t n, double* out, double* scratch) {
  const std::size_t nd = n / 2, ns = n - nd;
  double* s = scratch;
  double* d = scratch + ns;
  Loops::scaled_copy(in, ns, 1 / low_gain, s);
  Loops::scaled_copy(in + ns, nd, low_gain, d);
  update<Loops>(s, ns, d, nd, -delta);
  predict<Loops>(d, nd, s, ns, -gamma);
  update<Loops>(s, ns, d, nd, -beta);
  predict<Loops>(d, nd, s, ns, -alpha);
  Loops::interleave(s, d, nd, out);
  if (ns > nd) out[n - 1] = s[ns - 1];
}

}  // namespace

void split_row(const double* in, std::size_t n, double* out) {
  n < wide_from ? split_row_by<Narrow>(in, n, out) : split_row_by<Wide>(in, n, out);
}

void join_row(const double* in, std::size_t n, double* out, double* scratch) {
  n < wide_from ? join_row_by<Narrow>(in, n, out, scratch) : join_row_by<Wide>(in, n, out, scratch);
}

EFFORT_VECTOR_CLONES void split_columns(const SplitRows& rows, std::size_t n, double* __restrict low_out,
                                        double* __restrict high_out) {
  const double* even = rows.even;
  const double* odd = rows.odd;
  const double* even_next = rows.even_next;
  const double* d1_before = rows.d1_before;
  const double* s1_before = rows.s1_before;
  const double* high_before = rows.high_before;
  double* __restrict d1_out = rows.d1;
  double* __restrict s1_out = rows.s1;
  double* __restrict high_kept = rows.high;
  for (std::size_t j = 0; j < n; ++j) {
    const double d1 = odd[j] + alpha * (even[j] + even_next[j]);
    const double s1 = even[j] + beta * (d1_before[j] + d1);
    const double high = d1_before[j] + gamma * (s1_before[j] + s1);
    const double low = s1_before[j] + delta * (high_before[j] + high);
    d1_out[j] = d1;
    s1_out[j] = s1;
    high_kept[j] = high;
    high_out[j] = high * (1 / low_gain);
    low_out[j] = low * low_gain;
  }
}

EFFORT_VECTOR_CLONES void join_columns(const JoinRows& rows, std::size_t n) {
  const double* low_in = rows.low;
  const double* high_in = rows.high;
  const double* high_before = rows.high_before;
  const double* s1_before = rows.s1_before;
  const double* d1_before = rows.d1_before;
  const double* even_before = rows.even_before;
  double* __restrict high_kept = rows.high_kept;
  double* __restrict s1_out = rows.s1;
  double* __restrict d1_out = rows.d1;
  double* __restrict even_out = rows.even;
  double* __restrict odd_out = rows.odd;
  for (std::size_t j = 0; j < n; ++j) {
    const double high = high_in[j] * low_gain;
    const double s1 = low_in[j] * (1 / low_gain) - delta * (high_before[j] + high);
    const double d1 = high_before[j] - gamma * (s1_before[j] + s1);
    const double even = s1_before[j] - beta * (d1_before[j] + d1);
    high_kept[j] = high;
    s1_out[j] = s1;
    d1_out[j] = d1;
    even_out[j] = even;
    odd_out[j] = d1_before[j] - alpha * (even_before[j] + even);
  }
}

}  // namespace effort::wavelet
