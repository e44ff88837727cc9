// Kokkos kernels whose teams work on rows: one source for Serial, OpenMP and devices.
//
//   simd::for_each_team(space, "effort::scale", matrix.extent(0), matrix.extent(1), KOKKOS_LAMBDA(const auto& team) {
//     simd::for_each(team, matrix.extent(1), [&](std::size_t j) { matrix(team.league_rank(), j) *= 2; });
//   });
//
// On a device the members of a team share the iterations of for_each().  On the host a team is one thread, which does
// them in vector registers: the kernel is compiled once for each instruction set (widest()).
#pragma once

#include "analytics/simd/widest.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>

namespace effort::simd {

/// Whether kernels of this space run on host threads.
template <typename Space>
inline constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

/// A team of one thread.  Not a member of Kokkos's team policy: the Serial space of Kokkos 3.4 keeps one state for all
/// such members, so that two threads of the host could not launch kernels at the same time.
template <typename Space>
struct SingleThread {
  using execution_space = Space;
  int rank;
  int league_rank() const { return rank; }
};

namespace detail {

template <typename Space, typename Kernel>
struct HostKernel {
  Kernel kernel;
  InstructionSet set;
  void operator()(int rank) const {
    run_with(set, [kernel = this->kernel, rank] { kernel(SingleThread<Space>{rank}); });
  }
};

}  // namespace detail

/// Launches kernel(team) for every league_rank() below `teams`; does not fence.  The kernel is copied.  Any number of
/// host threads may launch kernels at the same time.
/// @param width  values of the rows that the teams work on
template <typename Space, typename Kernel>
void for_each_team(const Space& space, const char* label, std::size_t teams, std::size_t width, const Kernel& kernel) {
  const auto n = static_cast<int>(teams);
  if constexpr (on_host<Space>) {
    const detail::HostKernel<Space, Kernel> functor{kernel, width < wide_from ? InstructionSet::narrow : best()};
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Space>(space, 0, n), functor);
  } else {
    Kokkos::parallel_for(label, Kokkos::TeamPolicy<Space>(space, n, Kokkos::AUTO), kernel);
  }
}

/// body(i) for 0 <= i < n, shared by the members of the team; no iteration may read what another one writes.  Call
/// barrier() before the team reads the results.
template <typename Member, typename Body>
KOKKOS_INLINE_FUNCTION void for_each(const Member& team, std::size_t n, const Body& body) {
  if constexpr (on_host<typename Member::execution_space>) {
    for_each(n, body);
  } else {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), body);
  }
}

/// Runs body() once per team.
template <typename Member, typename Body>
KOKKOS_INLINE_FUNCTION void once(const Member& team, const Body& body) {
  if constexpr (on_host<typename Member::execution_space>) {
    body();
  } else {
    Kokkos::single(Kokkos::PerTeam(team), body);
  }
}

template <typename Member>
KOKKOS_INLINE_FUNCTION void barrier(const Member& team) {
  if constexpr (!on_host<typename Member::execution_space>) team.team_barrier();
}

}  // namespace effort::simd
