// How the algorithms of this folder run their kernels: on a Kokkos space, behind one virtual call per kernel, so that
// only this layer is instantiated per space.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace effort::cluster {

/// Runs independent pieces of work.
class Workers {
 public:
  virtual ~Workers() = default;

  /// Pieces that can run at the same time.
  virtual std::size_t concurrency() const = 0;

  /// Calls body(0) ... body(pieces - 1), in any order, and returns when all have finished.  The body must not throw.
  virtual void run(const char* label, std::size_t pieces, const std::function<void(std::size_t)>& body) const = 0;
};

/// Workers of a Kokkos execution space instance whose memory the host can reach.
template <typename ExecutionSpace>
class KokkosWorkers final : public Workers {
 public:
  explicit KokkosWorkers(const ExecutionSpace& space) : space_(space) {}

  std::size_t concurrency() const override { return static_cast<std::size_t>(space_.concurrency()); }

  void run(const char* label, std::size_t pieces, const std::function<void(std::size_t)>& body) const override {
    if (pieces <= 1) {  // nothing to share: a kernel launch would cost more than a small window's work
      if (pieces == 1) body(0);
      return;
    }
    const std::function<void(std::size_t)>* call = &body;
    Kokkos::parallel_for(label, Kokkos::RangePolicy<ExecutionSpace>(space_, 0, pieces),
                         [=](const std::size_t i) { (*call)(i); });
    space_.fence();
  }

 private:
  static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible,
                "the data must be in memory that the host can read");
  ExecutionSpace space_;
};

}  // namespace effort::cluster

/// Instantiates MACRO(space) for every space the analytics are built for.
#ifdef KOKKOS_ENABLE_OPENMP
#define EFFORT_FOR_EACH_SPACE(MACRO) MACRO(Kokkos::Serial) MACRO(Kokkos::OpenMP)
#else
#define EFFORT_FOR_EACH_SPACE(MACRO) MACRO(Kokkos::Serial)
#endif
