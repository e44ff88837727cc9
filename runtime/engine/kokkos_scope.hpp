// The private Kokkos, which is initialised as long as an engine exists.
#pragma once

namespace effort::engine {

/// Initialises Kokkos on the calling thread unless another engine of the process has, and finalises it with the last.
class KokkosScope {
 public:
  KokkosScope();
  ~KokkosScope();
  KokkosScope(const KokkosScope&) = delete;
  KokkosScope& operator=(const KokkosScope&) = delete;
};

}  // namespace effort::engine
