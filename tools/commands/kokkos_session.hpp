// Kokkos for as long as a command needs it.  Starting it costs milliseconds and threads.
#pragma once

namespace effort::tools {

/// Initialises Kokkos from the main thread (OpenMP if it was built in, with OMP_NUM_THREADS threads) without
/// output, and finalises it; if Kokkos is already initialised, it is used as it is.  One at a time.
class KokkosSession {
 public:
  KokkosSession();
  ~KokkosSession();
  KokkosSession(const KokkosSession&) = delete;
  KokkosSession& operator=(const KokkosSession&) = delete;

 private:
  bool owns_;
};

}  // namespace effort::tools
